"""What runs a backward pass."""

from gradwright.engine.calls import Variable, backward, grad

__all__ = ["Variable", "backward", "grad"]
