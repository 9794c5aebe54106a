"""What runs a backward pass."""

from gradwright.engine.calls import backward, grad
from gradwright.face.methods.variable import Variable

__all__ = ["Variable", "backward", "grad"]
