"""Functions by PyTorch's names and arguments, translated to operations or composed of one another: one family a file.

Each takes its tensor as ``input``, so that `gradwright.Tensor` has the same functions as methods.
"""
