"""PyTorch's old name for a tensor."""

from gradwright.methods.variable import Variable

__all__ = ["Variable"]
