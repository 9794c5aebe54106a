"""Forward mode by hand, under PyTorch's names: levels, and tensors made of a value and its tangent.

with dual_level():
    y = f(make_dual(x, v))
    value, tangent = unpack_dual(y)

Here forward mode is no function of functions. Tensors of a level have the history that they would have without it, so
that what is made of them, ``tangent`` too, can be run backward to what the duals were made of.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import ContextDecorator
from contextvars import ContextVar
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from gradwright.base import dtypes
from gradwright.base.errors import kind, size
from gradwright.engine.apply import apply_one
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.levels import settle
from gradwright.engine.mode import now, switch
from gradwright.engine.view import refresh
from gradwright.ops.shape import alias
from gradwright.transform.moved import halted
from gradwright.transform.tangent import Dual, Tangents

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor


class Duals(Tangents):
    """A level that is open until it is closed, wherever that is."""

    encloses = False

    def __init__(self) -> None:
        super().__init__(stops=False)
        self._made: weakref.WeakSet[Dual] = weakref.WeakSet()
        switch(now().but(watches=(), level=self))

    def close(self) -> None:
        """End the level: its tensors are plain ones from now on, wherever they are."""
        mode = now()
        if mode.level is not self:
            raise RuntimeError("exit_dual_level: a transform that was entered inside of the level still runs")
        self.alive = False
        for dual in self._made:
            dual.tangent = None
        switch(mode.but(watches=self._outside.watches, level=self._outside.level))

    def outside(self, f: Callable[..., Any], *args: Any) -> Any:
        """The result of ``f`` outside of the level, where operations are recorded if they are inside."""
        mode = now()
        try:
            switch(mode.but(watches=self._outside.watches, level=self._outside.level))
            return f(*args)
        finally:
            switch(mode)

    def joined(self, x: Any, tangent: Any) -> Dual:
        """An array of this level, without history of its own."""
        made = super().joined(wrap(x.array, None, x._counter), tangent)
        self._made.add(made)
        return made

    def unpack(self, t: Any) -> tuple[Any, Any]:
        """The value of a tensor, with the tensor's history, and its tangent of this level, or None."""
        value, tangent = super().unpack(t)
        return (t, None) if value is t else (wrap(value.array, t._node, t._counter), tangent)


_open: ContextVar[tuple[Duals, ...]] = ContextVar("the levels that are open", default=())


def enter_dual_level() -> int:
    """Open a level, and return its number: 0, or one more than that of the level in which it is opened.

    >>> gw.autograd.forward_ad.enter_dual_level()
    0
    >>> gw.autograd.forward_ad.exit_dual_level()
    """
    levels = _open.get()
    _open.set((*levels, Duals()))
    return len(levels)


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the innermost level: its tangents are gone, and its tensors are plain ones.

    Raises RuntimeError if ``level`` is another one, or none is open.

    >>> level = gw.autograd.forward_ad.enter_dual_level()
    >>> gw.autograd.forward_ad.exit_dual_level(level=level)
    """
    levels = _open.get()
    innermost = len(levels) - 1
    if not levels or (level is not None and level != innermost):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported. "
            + (f"(That is level {innermost}, not {level}.)" if levels else "(No level is open.)")
        )
    levels[-1].close()
    _open.set(levels[:-1])


class dual_level(ContextDecorator):
    """A level that is open in a ``with`` block, or while the decorated function runs.

    >>> with dual_level():
    ...     x = make_dual(gw.tensor([1.0, 2.0]), gw.tensor([1.0, 0.0]))
    ...     print(unpack_dual(x * x).tangent)
    tensor([2., 0.])
    """

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exc: object) -> None:
        exit_dual_level()


def make_dual(tensor: TensorBase, tangent: TensorBase, *, level: int | None = None) -> Tensor:
    """A tensor that shows ``tensor``'s memory and moves by ``tangent`` at a level, by default the innermost.

    The tangent is of the tensor's shape and dtype. If it lies in memory as the tensor does, it is taken as it is, so
    that writes in place go to it, too; else a copy of it that does.

    Raises RuntimeError where no level is open, or not that one, or for a tangent of another shape or dtype, or a tensor
    that has a tangent already; ValueError for whole numbers and booleans.

    >>> with dual_level():
    ...     y = make_dual(gw.tensor(3.0), gw.tensor(1.0)) ** 2
    ...     print(unpack_dual(y).tangent)
    tensor(6.)
    """
    duals = _level("make_dual", level)
    if duals is None:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    for name, t in (("primal", tensor), ("tangent", tangent)):
        if not isinstance(t, TensorBase):
            raise TypeError(f"make_dual: expected a Tensor as {name}, but got {kind(t)}")
        if dtypes.of(t.array.dtype).category < dtypes.FLOAT:
            found = dtypes.of(t.array.dtype)
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {found}")
        _settle(t)
    if tensor.array.shape != tangent.array.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {size(tensor.array.shape)} while the given forward gradient is of size "
            f"{size(tangent.array.shape)}."
        )
    if tensor.array.dtype != tangent.array.dtype:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different dtype than that of the original Tensor, this is not "
            f"supported. Tensor is of {dtypes.of(tensor.array.dtype)} while the given forward gradient is of "
            f"{dtypes.of(tangent.array.dtype)}."
        )
    if duals.unpack(tensor)[1] is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level "
            f"{_open.get().index(duals)} is not supported."
        )
    seen = tensor if tensor._node is None else apply_one(alias, tensor, {})
    out = wrap(duals.joined(seen, tangent), seen._node, tensor._counter)
    out._view = seen._view if seen is not tensor else None
    return out


class UnpackedDualTensor(NamedTuple):
    """The result of `unpack_dual`.

    ``primal``: the value; ``tangent``: None if it has none.

    >>> with dual_level():
    ...     primal, tangent = unpack_dual(make_dual(gw.tensor(3.0), gw.tensor(1.0)))
    >>> primal, tangent
    (tensor(3.), tensor(1.))
    """

    primal: Any
    tangent: Any


def unpack_dual(tensor: TensorBase, *, level: int | None = None) -> UnpackedDualTensor:
    """The value of a tensor, in the same memory and with its history, and its tangent at a level; None if it has none.

    Raises RuntimeError for a level that is not open.

    >>> with dual_level():
    ...     unpack_dual(gw.tensor(3.0)).tangent is None
    True
    """
    duals = _level("unpack_dual", level)
    if duals is None:
        return UnpackedDualTensor(tensor, None)
    if not isinstance(tensor, TensorBase):
        raise TypeError(f"unpack_dual: expected a Tensor, but got {kind(tensor)}")
    _settle(tensor)
    value, tangent = duals.unpack(tensor)
    return UnpackedDualTensor(duals.outside(apply_one, alias, value, {}), tangent)


def _settle(t: Any) -> None:
    """Let a tensor hold what it is now: as a view, and after the end of levels."""
    if t._view is not None:
        refresh(t)
    settle(t)


def _level(function: str, number: int | None) -> Duals | None:
    """The open level of this number, by default the innermost; None if none is open and none was named."""
    levels = _open.get()
    if number is None or number < 0:
        return levels[-1] if levels and number is None else None
    if number >= len(levels):
        raise RuntimeError(f"{function}: forward AD level {number} is not open: "
                           f"{f'the innermost is {len(levels) - 1}' if levels else 'there is none'}")  # fmt: skip
    return levels[number]


def _is_fwd_grad_enabled() -> bool:
    """Whether results get tangents."""
    return halted.get() < inf


class _set_fwd_grad_enabled(ContextDecorator):
    """Switch tangents of results on or off: from the call on, or for a ``with`` block."""

    def __init__(self, mode: bool) -> None:
        self.prev = halted.get() < inf
        self._token = halted.set(-1 if mode else inf)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        halted.reset(self._token)
