"""PyTorch's files (``.pt``), read and written without running what is in them.

`opcodes` is the closed subset of pickle that they use, `rebuild` what stands for each name that it may have,
`safe_globals` what a program adds to these, `reading` the zip and legacy formats, `writing` the zip format.
"""
