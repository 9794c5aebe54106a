"""``Variable``, the old name of a tensor that is recorded."""

from __future__ import annotations

from typing import Any

from gradwright.engine.base import TensorBase


class _AnyTensor(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, TensorBase)


class Variable(metaclass=_AnyTensor):
    """What PyTorch's old ``Variable(t)`` is today: a tensor over the same memory. Every tensor is an instance of it."""

    def __new__(cls, data: Any, requires_grad: bool = False) -> Any:
        out = data.detach()
        return out.requires_grad_() if requires_grad else out
