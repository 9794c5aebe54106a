"""PyTorch's old name for a tensor."""

from gradwright.face.methods.variable import Variable

__all__ = ["Variable"]
