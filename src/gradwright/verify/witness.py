"""A second witness without steps: where forward is made of recorded operations, the engine's own derivative of it.

The forward of a Function is not recorded, so that its backward counts. Here it is run recorded, and what the engine
makes of that is compared with what the hand-written backward says: no difference quotients, so only rounding limits
what is seen. How large rounding is, the same in float32 tells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradwright.base import dtypes
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.calls import grad
from gradwright.engine.grad_mode import enable_grad
from gradwright.engine.node import AccumulateGrad
from gradwright.face import xp as tensor_space
from gradwright.function.contract.signature import has_setup
from gradwright.function.contract.trees import tensors_in
from gradwright.function.custom_op import CustomOp
from gradwright.ops.declare import Op
from gradwright.verify.experiments import REFUSED
from gradwright.verify.numeric.differences import differences
from gradwright.verify.numeric.jacobian import unbound

_FLOOR = 1e-12
"""The relative size below which a difference is taken for rounding."""
_MARGIN = 64.0
_NARROW = 2.0**-29
"""Rounding errors in float64 over those in float32."""
_BLIND = 1e-9
_NEAR = 1e-4
_STEP = 1e-5


@dataclass(frozen=True)
class Witness:
    """The verdict of the second witness; true if it agrees.

    Attributes:
        agrees: whether backward is the engine's derivative of forward, to rounding; None if there is no such witness.
        order: of the derivative that is furthest off, or up to which all agree.
        error: the largest difference, relative to the largest entry of that gradient.
        seen: how small a relative error would have been found.
        at: the input it is in, as words.
        reason: why there is no witness.
    """

    agrees: bool | None
    order: int = 0
    error: float = 0.0
    seen: float = 0.0
    at: str = ""
    reason: str = ""

    def __bool__(self) -> bool:
        return self.agrees is True

    def __str__(self) -> str:
        if self.agrees is None:
            return f"no second witness: {self.reason}"
        if self.agrees:
            return f"the engine's derivative of forward agrees to order {self.order}; {self.seen:.1g} would be seen"
        where = f"the derivative of order {self.order} {self.at}"
        return f"{where} is off from the engine's by {self.error:.2g} of its size"


class _Ctx:
    """What forward does with ctx while it is recorded for its own sake."""

    def __init__(self, needs: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs

    def _noted(self, *args: Any) -> None:
        self.to_save = args

    save_for_backward = save_for_forward = mark_dirty = mark_non_differentiable = set_materialize_grads = _noted


def recorded(function: Any) -> Callable[..., Any]:
    """The forward of a Function, a `custom_op` or an `Op` as a function of tensors that is recorded.

    Raises TypeError for anything else.
    """
    if isinstance(function, CustomOp):
        return function.__wrapped__  # type: ignore[attr-defined]
    if isinstance(function, Op):
        return lambda *args, **static: function.forward(tensor_space, *args, **static)
    if not (isinstance(function, type) and hasattr(function, "forward")):
        raise TypeError(f"second_witness: expected a Function, a custom_op or an Op, but got {function!r}")

    def run(*args: Any) -> Any:
        if has_setup(function):
            return function.forward(*args)
        return function.forward(_Ctx(tuple(getattr(a, "requires_grad", False) for a in args)), *args)

    return run


def second_witness(function: Callable[..., Any], *arguments: Any, order: int = 2, points: int = 3,
                   **static: Any) -> Witness:  # fmt: skip
    """Compare a hand-written backward with the engine's own derivative of its forward.

    Args:
        function: a Function, a `custom_op` or an `Op`.
        arguments: what it is called with. Tensors of floating point are differentiated by; if some require grad, those.
        order: up to which derivative.
        points: at how many points, the given one and others near it.
        static: further arguments; if one is called as those here, ``functools.partial(function, order=2)``.

    >>> class Cube(gw.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x * x
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         return g * ctx.saved_tensors[0] ** 2 * (3 + 1e-10)
    >>> print(second_witness(Cube, gw.tensor([0.5, 2.0], dtype=gw.float64)))
    the derivative of order 1 by input 0 is off from the engine's by 3.3e-11 of its size

    Raises TypeError for what is neither of these.
    """
    function, static = unbound(function, static)
    forward, run = recorded(function), getattr(function, "apply", function)
    own = function.node if isinstance(function, Op) else ""
    generator = np.random.default_rng(7)
    found = Witness(True, order, 0.0, 0.0)
    for k in range(points):
        here = _moved(arguments, generator if k else None)
        one = Witness(None)
        for upto in dict.fromkeys((order, 1)):  # there may be no second derivative
            try:
                one = _at(run, forward, here, static, upto, own)
                break
            except REFUSED as e:
                one = Witness(None, reason=f"forward cannot be recorded: {type(e).__name__}: {e}")
        if not one:
            return one
        found = Witness(True, min(one.order, found.order), max(found.error, one.error), max(found.seen, one.seen))
    return found


def _moved(arguments: Sequence[Any], generator: Any) -> list[Any]:
    """The arguments, moved a little where a generator is given; numbers that float32 has, too."""
    out = []
    for a in arguments:
        if isinstance(a, TensorBase) and dtypes.of(a.array.dtype).category == dtypes.FLOAT:
            x = np.asarray(a.array, np.float64)
            x = x if generator is None else x * (1 + 0.03 * generator.uniform(-1, 1, x.shape))
            t = wrap(x.astype(np.float32).astype(np.float64))
            t._node = AccumulateGrad(t) if a._node is not None else None
            a = t
        out.append(a)
    return out


def _asked(arguments: Sequence[Any]) -> list[int]:
    tensors = [k for k, a in enumerate(arguments) if isinstance(a, TensorBase)
               and dtypes.of(a.array.dtype).category == dtypes.FLOAT]  # fmt: skip
    return [k for k in tensors if arguments[k]._node is not None] or tensors


def _leaves(arguments: Sequence[Any], moving: Sequence[int], dtype: Any) -> list[Any]:
    out = []
    for k, a in enumerate(arguments):
        if isinstance(a, TensorBase) and dtypes.of(a.array.dtype).category == dtypes.FLOAT:
            t = wrap(a.array.astype(dtype))
            t._node = AccumulateGrad(t) if k in moving else None
            a = t
        out.append(a)
    return out


def _tower(call: Callable[..., Any], arguments: Sequence[Any], static: dict[str, Any], moving: Sequence[int],
           order: int, dtype: Any, which: Sequence[int] | None = None,
           ) -> tuple[list[Any], list[list[Any]]]:  # fmt: skip
    """The outputs, and for each order the gradients by the inputs, contracted below with fixed cotangents."""
    given = _leaves(arguments, moving, dtype)
    inputs = [given[k] for k in moving]
    with enable_grad():
        outs = tensors_in(call(*given, **static))
        level = [o for k, o in enumerate(outs) if o._node is not None and (which is None or k in which)]
        floors = []
        generator = np.random.default_rng(11)
        for k in range(order):
            gs = [wrap(generator.standard_normal(o.array.shape).astype(np.float32).astype(dtype)) for o in level]
            if not level:
                break
            found = grad(level, inputs, gs, create_graph=k + 1 < order, allow_unused=True)
            floors.append([np.zeros(x.array.shape) if g is None else np.asarray(g.detach().array, np.float64)
                           for g, x in zip(found, inputs, strict=True)])  # fmt: skip
            level = [g for g in found if g is not None and g._node is not None]
            if len(level) != len(inputs):
                break
    return outs, floors


def _at(run: Callable[..., Any], forward: Callable[..., Any], arguments: Sequence[Any], static: dict[str, Any],
        order: int, own: str) -> Witness:  # fmt: skip
    """The comparison at one point."""
    moving = _asked(arguments)
    if any(dtypes.of(t.array.dtype).is_complex for t in tensors_in(run(*arguments, **static))):
        return Witness(None, reason="results are complex")
    outs, mine = _tower(run, arguments, static, moving, order, np.float64)
    which = [k for k, o in enumerate(outs) if o._node is not None]
    again, engines = _tower(forward, arguments, static, moving, order, np.float64, which)
    if len(outs) != len(again) or not all(_same(o, a) for o, a in zip(outs, again, strict=True)):
        return Witness(None, reason="forward gives another result when it is run again")
    if any(again[k]._node is None for k in which) or not which:
        return Witness(None, reason="forward is not made of recorded operations")
    if own and any(type(again[k]._node).__name__ == own for k in which):
        return Witness(None, reason="it is itself what the engine would record")
    rough = [_tower(f, arguments, static, moving, order, np.float32, which)[1] for f in (run, forward)]
    reached, worst, seen = min(len(mine), len(engines)), 0.0, 0.0
    for k in range(reached):
        for j, (a, b) in enumerate(zip(mine[k], engines[k], strict=True)):
            size = max(float(np.abs(a).max(initial=0.0)), float(np.abs(b).max(initial=0.0)))
            if not size or not np.isfinite(size):
                continue
            noise = sum(float(np.abs(r[k][j] - x).max(initial=0.0)) * _NARROW if k < len(r) else size * _FLOOR
                        for r, x in zip(rough, (a, b), strict=True))
            noise = noise if np.isfinite(noise) else size * _BLIND  # float32 has not the numbers
            allowed = _MARGIN * noise / size + _FLOOR
            error = float(np.abs(a - b).max()) / size
            worst, seen = max(worst, error), max(seen, allowed)
            if not error <= allowed:
                if not _true(forward, arguments, static, moving, which):
                    return Witness(None, reason="a part of forward is not recorded (detach, no_grad, NumPy)")
                return Witness(False, k + 1, error, allowed, f"by input {moving[j]}")
    return Witness(True, reached, worst, seen)


def _same(a: Any, b: Any) -> bool:
    x, y = np.asarray(a.detach().array), np.asarray(b.detach().array)
    return x.shape == y.shape and bool(np.allclose(x, y, rtol=1e-12, atol=0.0, equal_nan=True))


def _true(forward: Callable[..., Any], arguments: Sequence[Any], static: dict[str, Any], moving: Sequence[int],
          which: Sequence[int]) -> bool:  # fmt: skip
    """Whether the engine's derivative of forward is, roughly, that of central differences."""
    generator = np.random.default_rng(3)
    moves = {k: generator.standard_normal(arguments[k].array.shape) for k in moving}

    def sampler(t: Any) -> tuple[Any, list[Any]]:
        outs = tensors_in(forward(*[wrap(a.array + t * moves[k]) if k in moves else a for k, a in enumerate(arguments)],
                                **static))  # fmt: skip
        draws = np.random.default_rng(11)
        weights = [draws.standard_normal(outs[k].array.shape).astype(np.float32) for k in which]
        return t, [np.array([[sum(float((g * outs[k].array).sum()) for g, k in zip(weights, which, strict=True))]])]

    quotient = differences(sampler, _STEP).slopes[0].item()
    _, floors = _tower(forward, arguments, static, moving, 1, np.float64, which)
    parts = [g * moves[k] for g, k in zip(floors[0], moving, strict=True)]
    engines = sum(float(p.sum()) for p in parts)
    size = sum(float(np.abs(p).sum()) for p in parts)
    return abs(quotient - engines) <= _NEAR * max(size, abs(engines))
