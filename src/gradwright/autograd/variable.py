"""PyTorch's old name for a tensor."""

from gradwright.engine.calls import Variable

__all__ = ["Variable"]
