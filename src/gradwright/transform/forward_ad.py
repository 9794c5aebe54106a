"""Forward mode by hand, under PyTorch's names: levels, and tensors made of a value and its tangent."""

from __future__ import annotations
