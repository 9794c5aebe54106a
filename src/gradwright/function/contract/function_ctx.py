"""`FunctionCtx`: what the ctx of every Function is an instance of; by hand, one that keeps what it is told."""

from __future__ import annotations

import warnings
from abc import ABCMeta
from typing import TYPE_CHECKING, Any

from gradwright.engine.base import TensorBase

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor


class FunctionCtx(metaclass=ABCMeta):  # noqa: B024 - one of them is made by hand
    """The class of every Function's ctx; instantiated, a ctx to call forward with by hand.

    The ``ctx`` that `Function.apply` makes is a node of the graph, and more than this. One made by hand only keeps what
    it is told: ``to_save``, ``dirty_tensors``, ``non_differentiable``, ``materialize_grads``, ``saved_for_forward``.
    """

    if TYPE_CHECKING:  # what the ctx of a Function has besides, and whatever one keeps there
        saved_tensors: tuple[Tensor, ...]
        needs_input_grad: tuple[bool, ...]

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors for backward, as ``to_save``."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for jvp, as ``saved_for_forward``."""
        self.saved_for_forward = tensors_alone(tensors)

    def mark_dirty(self, *tensors: Any) -> None:
        """Declare inputs that forward changes in place."""
        self.dirty_tensors = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Declare outputs that have no derivative."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether undefined gradients are zeros."""
        self.materialize_grads = value

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Do nothing: deprecated."""
        deprecated()


def tensors_alone(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The tensors given to `save_for_forward`; AssertionError if one of them is none."""
    if not all(v is None or isinstance(v, TensorBase) for v in values):
        raise AssertionError("save_for_forward expects all arguments to be tensors; you should save non-tensors as "
                             "attributes on ctx.")  # fmt: skip
    return values


def deprecated() -> None:
    """Warn of `mark_shared_storage`."""
    warnings.warn("`mark_shared_storage` is deprecated. Tensors with shared storages are automatically tracked. Note "
                  "that calls to `set_()` are not tracked", FutureWarning, stacklevel=3)  # fmt: skip
