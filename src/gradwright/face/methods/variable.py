"""``Variable``, the old name of a tensor that is recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from gradwright.backends.quiet import after_pass, in_pass
from gradwright.engine.base import TensorBase
from gradwright.engine.calls import backward, grad
from gradwright.engine.node import Node

_numbers: WeakKeyDictionary[Node, int] = WeakKeyDictionary()


def _sequence_nr(self: Node) -> int:
    """A number that is larger than those of the nodes made before, or the one it was given."""
    return _numbers.get(self, self._seq)


def _set_sequence_nr(self: Node, number: int) -> None:
    """Give it another number for `_sequence_nr`. The order that nodes run in is that of the graph, and stays."""
    _numbers[self] = int(number)


for _method in (_sequence_nr, _set_sequence_nr):
    setattr(Node, _method.__name__, _method)


class _AnyTensor(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, TensorBase)


class _Engine:
    """What programs ask of PyTorch's engine by itself."""

    def queue_callback(self, callback: Callable[[], Any]) -> None:
        """Call ``callback()`` after the backward pass that runs; RuntimeError if none does."""
        if not in_pass():
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        after_pass(callback)

    def run_backward(self, tensors: Any, grad_tensors: Any, keep_graph: bool, create_graph: bool, inputs: Any = (), *,
                     allow_unreachable: bool = True, accumulate_grad: bool = True) -> Any:  # fmt: skip
        """`autograd.backward`; if not to ``accumulate_grad``, `autograd.grad`, None where ``allow_unreachable``."""
        if not accumulate_grad:
            return grad(tensors, inputs, grad_tensors, keep_graph, create_graph, allow_unused=allow_unreachable)
        return backward(tensors, grad_tensors, keep_graph, create_graph, inputs=inputs or None)


class Variable(metaclass=_AnyTensor):
    """What PyTorch's old ``Variable(t)`` is today: a tensor over the same memory. Every tensor is an instance of it."""

    _execution_engine = _Engine()

    def __new__(cls, data: Any, requires_grad: bool = False) -> Any:
        out = data.detach()
        return out.requires_grad_() if requires_grad else out
