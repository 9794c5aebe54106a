"""Parameter: the kind of tensor that a module notices and an optimiser changes."""

from __future__ import annotations

from typing import Any, Self

from gradwright import creation
from gradwright.errors import kind
from gradwright.tensor import Tensor


class Parameter(Tensor):
    """A leaf tensor that becomes a parameter of the `Module` it is assigned to.

    Args:
        data: a tensor, whose memory the parameter shares and whose history it leaves behind; None for an empty one.
        requires_grad: whether it is to be trained. `no_grad` makes no difference to it.

    Operations on a parameter give plain tensors. A deep copy has memory of its own and no ``.grad``.

    Raises TypeError if ``data`` is no tensor, RuntimeError if it requires grad but is not of a floating-point or
    complex dtype.

    >>> import gradwright as gw
    >>> w = Parameter(gw.tensor([1.0, 2.0]))
    >>> w
    Parameter containing:
    tensor([1., 2.], requires_grad=True)
    >>> 2 * w
    tensor([2., 4.], grad_fn=<MulBackward0>)
    """

    __slots__ = ()

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        if data is None:
            data = creation.empty(0)
        elif not isinstance(data, Tensor):
            raise TypeError(f"Parameter(): argument 'data' must be Tensor or None, not {kind(data)}")
        shared = data.detach()
        self.array, self._counter = shared.array, shared._counter
        self._node = self._view = self._grad = None
        self.requires_grad = requires_grad

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"

    def __copy__(self) -> Self:
        return type(self)(self, self.requires_grad)

    def __deepcopy__(self, memo: Any) -> Self:
        return type(self)(self.data.clone(), self.requires_grad)
