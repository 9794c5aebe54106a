"""Users' Functions in transforms: a jvp or vmap that they declare, or what follows from their backward.

At a level a Function is computed with the tensors outside, as an operation is. So the levels outside, and reverse mode
there, meet the Function itself with the derivative its user wrote, and not the operations in its forward. Where the
level's own tensors have a history, too, the Function is recorded there as well, with what its forward has saved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from gradwright import dtypes
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.calls import grad
from gradwright.engine.grad_mode import enable_grad
from gradwright.engine.levels import Level
from gradwright.engine.mode import now, switch
from gradwright.function.function import Function
from gradwright.function.pushforward import pushed
from gradwright.transform.transpose import transposed


def at_level(level: Level, cls: Any, args: Sequence[Any], through: Callable[[], Any]) -> Any:
    """What ``cls`` returns at a level: ``through()`` makes it of the tensors outside; recorded here where that is due.

    ``through`` returns the outputs as tensors of the level, without history there.
    """
    made = through()
    if not now().records or all(not isinstance(a, TensorBase) or a._node is None for a in args):
        return made
    before = now()
    try:
        switch(before.but(level=None))  # the Function itself, on tensors of this level
        recorded = cls.apply(*args)
    finally:
        switch(before)
    several = isinstance(recorded, tuple)
    for own, other in zip(recorded if several else (recorded,), made if several else (made,), strict=True):
        if isinstance(own, TensorBase):
            own.array = other.array
    return recorded


def differentiable(t: Any) -> bool:
    """Whether a value is a tensor of floating-point or complex numbers."""
    return isinstance(t, TensorBase) and dtypes.of(t.array.dtype).category >= dtypes.FLOAT


def moved(cls: Any, values: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, list[Any]]:
    """The outputs of a Function and their tangents: by its jvp, or by the derivative of its backward."""
    if cls.jvp is not Function.jvp:
        outs = cls.apply(*values)
        _, ts = pushed(cls, tuple(values), tuple(tangents))
        return outs, list(ts) if isinstance(ts, tuple) else [ts]
    leaves = [_followed(v) if t is not None else v for v, t in zip(values, tangents, strict=True)]
    outs = enable_grad()(cls.apply)(*leaves)
    many = list(outs) if isinstance(outs, tuple) else [outs]
    own = [o for o in many if differentiable(o) and o._node is not None]
    moving = [(x, t) for x, t in zip(leaves, tangents, strict=True) if t is not None]
    if not own:
        return outs, [None] * len(many)
    vjp = partial(_pulled, own, [x for x, _ in moving])
    found = iter(transposed(vjp, own, [t for _, t in moving]))
    ts = [next(found) if any(o is mine for mine in own) else None for o in many]
    if not now().records or all(not isinstance(v, TensorBase) or v._node is None for v in values):
        many = [wrap(o.array) if isinstance(o, TensorBase) else o for o in many]
        outs = tuple(many) if isinstance(outs, tuple) else many[0]
    return outs, ts


def _followed(x: Any) -> Any:
    """``x``, or what shows the same, with a history."""
    return x if x._node is not None and now().records else wrap(x.array, None, x._counter).requires_grad_()


def _pulled(outs: Sequence[Any], inputs: Sequence[Any], ws: Sequence[Any]) -> Sequence[Any]:
    return grad(outs, inputs, ws, create_graph=True, allow_unused=True)
