"""Forward mode: each tensor of a `Tangents` level is a value and its tangent, and so is what is made of them.

The tangent of a result follows from what the operation declares:

- elementwise: its derivative, applied to the tangent in place of a cotangent (the Jacobian is diagonal);
- linear operations and views: its formula, applied to the tangent; multilinear ones: to each tangent beside the others;
- ``op.jvp(...)``, where it is declared;
- else the rule of the rule: a vjp is linear in its cotangent w, and the derivative of <vjp(w), v> by w is the jvp of v.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import index
from typing import Any

import numpy as np

from gradwright import backends
from gradwright.base import dtypes
from gradwright.base.cpython.at_once import having
from gradwright.engine.apply import apply
from gradwright.engine.base import TensorBase, ticket, wrap
from gradwright.engine.levels import Level, LevelArray, promote
from gradwright.engine.memory import is_immutable, layout, overlaps
from gradwright.engine.mode import now
from gradwright.engine.node import Bundle
from gradwright.engine.nodes_of_ops import recorder
from gradwright.engine.view import View, severed
from gradwright.function import of_containers
from gradwright.function.contract.containers import TENSORLESS, Tree, flatten, holds_tensors, unflatten
from gradwright.function.watched.in_backward import is_guarded, is_in_backward
from gradwright.ops.declare import Op
from gradwright.transform import level_space  # noqa: F401 - it makes the arrays of transforms known
from gradwright.transform.arguments import differentiable
from gradwright.transform.functions import at_level
from gradwright.transform.moved import halted, moved, values_alone
from gradwright.transform.overwritten import write
from gradwright.transform.plan import planned
from gradwright.transform.transpose import transposed, zeros


class Moving(LevelArray):
    """A value, ``tensor``, and what says how it moves, tensors of the levels outside: left alone, it is that value."""

    __slots__ = ()
    followed = True

    def __init__(self, level: Movement, tensor: Any) -> None:
        self.level, self.began, self.tensor = level, level.began, tensor
        array = tensor.array
        self.shape, self.dtype, self.ndim, self.size = array.shape, array.dtype, array.ndim, array.size

    def settled(self) -> Any:
        """The value alone."""
        return self.tensor.array

    def values(self) -> Any:
        """The value alone."""
        array = self.tensor.array
        return array.values() if isinstance(array, LevelArray) else array

    def detached(self) -> Any:
        """The value alone, without history, in the same memory."""
        return self.tensor.detach().array

    def copy(self) -> Any:
        """The same in memory of its own, moving as it does: in a Function's forward, too."""
        return having(halted, -1, super().copy)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        if self.level.alive and not self.level.halted() and not is_guarded():
            raise self._refuses("numpy()")
        array = self.tensor.array
        return array.__array__() if isinstance(array, LevelArray) else backends.to_host(array)

    def __bool__(self) -> bool:
        return bool(self.tensor)


class Dual(Moving):
    """A value and its tangent."""

    __slots__ = ("tangent",)

    def __init__(self, level: Tangents, tensor: Any, tangent: Any) -> None:
        super().__init__(level, tensor)
        self.tangent = tangent

    @property
    def parts(self) -> tuple[Any, ...]:
        """The value and the tangent."""
        return self.tensor, self.tangent

    def beside(self) -> str:
        """Its tangent."""
        return f"tangent={self.tangent!r}"

    def _refuses(self, what: str) -> Exception:
        return RuntimeError(
            f"{what} of a tensor that carries a tangent: what is made of the numbers would have none. Call detach() "
            "first, if that is meant; else compute with tensors, or in a Function with a jvp."
        )

    def item(self) -> Any:
        """The one number in it, which does not move, as it has no history either."""
        return self.tensor.item()

    def tolist(self) -> Any:
        """Its numbers in lists."""
        return self.tensor.tolist()

    def __int__(self) -> int:
        return int(self.tensor)

    def __index__(self) -> int:
        return index(self.tensor)

    def __float__(self) -> float:
        return float(self.tensor)

    def __complex__(self) -> complex:
        return complex(self.tensor)

    def __repr__(self) -> str:
        return f"Dual({self.tensor!r}, tangent={self.tangent!r})"


class Movement(Level):
    """A level at which values move.

    ``stops``: whether nothing moves that is computed where the user has switched recording off, so that both modes
    differentiate the same function.
    """

    def __init__(self, stops: bool = True) -> None:
        super().__init__()
        self._stops = stops

    def halted(self) -> bool:
        """Whether values alone are computed, in the forward of a Function."""
        return halted.get() >= self.number

    def moves(self, op: Op | None = None) -> bool:
        """Whether results move; in a user's backward views always do, as they are written with what they show."""
        if not self._stops or now().stopped < self.number:
            return not self.halted()
        return op is not None and op.kind == "view" and is_in_backward() and not self.halted()

    def unpack(self, t: Any) -> tuple[Any, Any]:
        """The value of a tensor, and how it moves at this level, or None."""
        raise NotImplementedError

    def joined(self, x: Any, motion: Any) -> Any:
        """The array of ``x``, moving so."""
        raise NotImplementedError

    def moved(self, function: Any, values: Sequence[Any], motions: Sequence[Any]) -> tuple[Any, list[Any]]:
        """What a Function returns for values, and how the tensors in that move, if they move so."""
        raise NotImplementedError

    def write(self, array: Any, value: Any) -> None:
        """Put a value, and how it moves, into the memory of those there; where nothing moves, the value alone."""
        mine = isinstance(value, Moving) and value.level is self
        new = value.parts if mine else (wrap(value), *[None] * (len(array.parts) - 1))
        if not self.moves():  # in a user's backward, what was there is gone with its tangent
            new = (new[0], *[None] * (len(new) - 1)) if is_in_backward() else new[:1]
        self.outside(write, array, new, value.began if mine else 0)

    def call(self, function: Any, inputs: Sequence[Any]) -> Any:
        """What a Function returns for values that move."""
        if any(a.__class__ not in TENSORLESS and type(a) is not Tree and holds_tensors(a) for a in inputs):
            return of_containers.apply(function, tuple(inputs))
        return at_level(function, inputs, partial(self._through, function), self._take, values_alone())

    def _through(self, function: Any, inputs: Sequence[Any]) -> Any:
        pairs = [self.unpack(x) if differentiable(x) else (x, None) for x in inputs]
        values, motions = [x for x, _ in pairs], [m for _, m in pairs]
        moves = self.moves() and any(m is not None for m in motions)
        result, found = self.outside(self.moved if moves else _still, function, values, motions)
        outs: list[Any] = []
        rest = flatten(result, outs)
        found = found or [None] * len(outs)
        return unflatten(rest, iter([self._output(o, m, values, inputs) for o, m in zip(outs, found, strict=True)]))

    def _output(self, o: Any, motion: Any, values: Sequence[Any], inputs: Sequence[Any]) -> Any:
        """An output of a Function; an input that was written in place is itself, moving otherwise."""
        for value, x in zip(values, inputs, strict=True):
            if o is value:
                self._move(x, motion)
                return x
        if motion is None or not differentiable(o):
            return o
        out = wrap(self.joined(o, motion), None, o._counter)
        for x in inputs:
            if isinstance(x, TensorBase) and x._counter is o._counter:
                out._view = View(x if x._view is None else x._view.base, (), "function")
        return out

    def _move(self, x: Any, motion: Any) -> None:
        """Let ``x`` move so from now on, and what shows its memory."""
        if motion is None:
            return
        if self.unpack(x)[1] is None:
            promote(x, self)
        for there, new in zip(x.array.parts[1:], motion if isinstance(motion, tuple) else (motion,), strict=True):
            if there is not new:
                self.outside(there.copy_, new)

    def _take(self, own: Any, other: Any, args: Sequence[Any]) -> None:
        """The value as it is, in its memory, with the history and the motion that ``other`` has outside."""
        value, motion = self.unpack(other)
        if any(own is a for a in args):
            self._move(own, motion)
        elif motion is not None and not isinstance(value.array, LevelArray):
            own.array = self.joined(wrap(self.unpack(own)[0].array, value._node, own._counter), motion)
        elif own._view is None:
            own.array = other.array


def _still(function: Any, values: Sequence[Any], motions: Sequence[Any]) -> tuple[Any, list[Any]]:
    return function.apply(*values), []


class Tangents(Movement):
    """Forward mode while it is on."""

    def dual(self, x: Any, tangent: Any) -> Any:
        """A tensor of this level: ``x`` with a tangent."""
        return wrap(self.joined(x, tangent), None, x._counter)

    def joined(self, x: Any, tangent: Any) -> Dual:
        """The array of such a tensor; the tangent lies in memory as the value does, so that views of both are views."""
        return Dual(self, x, laid_as(x, tangent))

    def unpack(self, t: Any) -> tuple[Any, Any]:
        """The value of a tensor, and its tangent of this level, or None."""
        array = t.array
        if array.__class__ is Dual and array.level is self:
            return array.tensor, array.tangent
        return self.without(t), None

    def read(self, op: Op, inputs: Sequence[Any], static: dict[str, Any]) -> Any:
        """What ``op`` makes of values and tangents."""
        self.began = ticket()
        pairs = [self.unpack(x) for x in inputs]
        values, tangents = [p[0] for p in pairs], [p[1] for p in pairs]
        return self.outside(self._read, op, values, tangents, static, self.moves(op))

    def _read(self, op: Op, values: list[Any], tangents: list[Any], static: dict[str, Any], moves: bool) -> Any:
        out = apply(op, values, static)
        moved = [t if n in op.rules else None for n, t in zip(op.names_of(len(values)), tangents, strict=True)]
        if not moves or all(t is None for t in moved):
            return [o.array for o in out] if op.several else out.array
        found = pushed(op, values, moved, out, static)
        if not op.several:
            return self._result(op, out, found, moved)
        return [self._result(op, o, t, moved) for o, t in zip(out, found, strict=True)]

    def _result(self, op: Op, out: Any, tangent: Any, given: Sequence[Any]) -> Any:
        if tangent is None or dtypes.of(out.array.dtype).category < dtypes.FLOAT:
            return out.array
        view = op.kind == "view" and out._view is not None
        if not view and (tangent._view is not None or any(tangent is t for t in given)):
            tangent = tangent.clone()  # the result may be written to
        return self.joined(out, tangent)

    def held(self, t: Any) -> Dual:
        """``t`` with a tangent of zeros, over the same memory."""
        return self.joined(wrap(t.array, t._node, t._counter), self.outside(zeros, t))

    def moved(self, function: Any, values: Sequence[Any], motions: Sequence[Any]) -> tuple[Any, list[Any]]:
        """What a Function returns for values, and what its jvp, or else its backward, makes of their tangents."""
        return moved(function, values, motions)


def laid_as(x: Any, t: Any) -> Any:
    """``t`` itself if it lies in memory as ``x`` does, or ``x`` overlaps itself; else a copy that does."""
    a, b = layout(x), layout(t)
    if a.strides == b.strides or a.size < 2 or a.dtype != b.dtype or is_immutable(x.array) or overlaps(x):
        return t
    ends = [(n - 1) * s for n, s in zip(a.shape, a.strides, strict=True)]
    low, high = sum(e for e in ends if e < 0), sum(e for e in ends if e > 0)
    memory = np.zeros(high - low + a.itemsize, np.uint8)
    return wrap(np.ndarray(a.shape, a.dtype, memory, -low, a.strides)).copy_(t)


def pushed(op: Op, values: Sequence[Any], tangents: Sequence[Any], out: Any, static: dict[str, Any]) -> Any:
    """The tangent of what ``op`` makes of values that move so (None: not), or the list of those of several results."""
    plan = planned(op, tuple([t is not None for t in tangents]))
    if plan is not None and (op.kind != "elementwise" or op.complex != "general" or not _complex(values, [out])):
        return plan(values, tangents, out, static)
    if op.kind in ("linear", "view"):
        names = op.names_of(len(values))
        moved = [t if t is not None else zeros(x) if n in op.rules else x
                 for n, x, t in zip(names, values, tangents, strict=True)]  # fmt: skip
        return apply(op, moved, static)
    return transposed(partial(_pulled, op, values, tangents, out, static), out, [t for t in tangents if t is not None])


def _complex(values: Sequence[Any], outs: Sequence[Any]) -> bool:
    return any(dtypes.of(t.array.dtype).is_complex for t in (*values, *outs))


def _pulled(op: Op, values: Sequence[Any], tangents: Sequence[Any], out: Any, static: dict[str, Any], w: Any) -> Any:
    """What cotangents ``w`` of the results give at the inputs that move: the node that would record it, run by hand."""
    mask = tuple([t is not None for t in tangents])
    xs = [x if x._node is not None or not m else wrap(x.array, severed(), x._counter)
          for x, m in zip(values, mask, strict=True)]  # fmt: skip
    outs = out if op.several else [out]
    broadcast = op.kind == "elementwise" and any(x.array.shape != out.array.shape for x in values)
    conjugate = op.complex == "holomorphic" and _complex(values, outs)
    level = any(isinstance(t.array, LevelArray) for t in (*values, *outs))
    record = recorder(op, mask, broadcast, conjugate, level)
    node = record(xs, out, op.defaults | static) if op.variadic else record(*xs, out, op.defaults | static)
    if not op.several:
        return node._run(backends.namespace(w), w)
    node._metas = [(o.array.shape, o.array.dtype) for o in outs]
    return node._run(backends.namespace(w[0]), Bundle(enumerate(w)))
