"""The torch-style face: PyTorch's function names and arguments, translated to the operations.

Each function takes its tensor as ``input``, so that `gradwright.Tensor` has the same functions as methods.
"""
