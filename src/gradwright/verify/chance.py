"""Whole derivatives in a few random directions, and a true bound on the chance that an error is missed.

Along a direction u of independent Gaussian numbers, drawn anew, all outputs are differentiated at once: by differences,
with an error bar for each, and by backward, which is linear in its cotangent, so that its own derivative by that is
J u. If the gradient of some output is off by a vector of length d, the two are apart there by d z with z Gaussian,
however the error lies. If nothing is seen within t, the bars of both, then |z| <= t/d, whose chance is at most
sqrt(2/pi) t/d; and of several directions the product of that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import pi, prod, sqrt
from typing import Any

import numpy as np

from gradwright.base import dtypes
from gradwright.base.pages.shown import Shown
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.calls import grad
from gradwright.function.contract.trees import tensors_in
from gradwright.verify.numeric.differences import borne_out, converging, differences, last
from gradwright.verify.numeric.jacobian import leaf, rounding

_LEVELS = 8
_FIRST = 0.03
_WAVES = 1e-9
"""Of the largest derivative: among many outputs, extrapolations of some agree by chance."""


@dataclass(frozen=True)
class Sampled(Shown):
    """The verdict of random directions; true if nothing is off.

    Attributes:
        agree: whether all outputs came out alike along all directions.
        rooms: for each direction, how far apart two values could have been without being told apart.
        off: by how much the worst was off, over the room that it had.
    """

    agree: bool
    rooms: tuple[float, ...]
    off: float

    def missing(self, size: float) -> float:
        """The largest chance that an error is missed that makes the gradient of some output off by this length."""
        return prod(min(1.0, sqrt(2 / pi) * room / size) for room in self.rooms)

    def noticed(self, chance: float = 1e-6) -> float:
        """Errors of this length or more are missed with no more than this chance."""
        return sqrt(2 / pi) * prod(self.rooms) ** (1 / len(self.rooms)) / chance ** (1 / len(self.rooms))

    def __bool__(self) -> bool:
        return self.agree

    def __str__(self) -> str:
        n = len(self.rooms)
        if not self.agree:
            return f"off in random directions, by {self.off:.2g} times what the bars allow"
        size = max(self.noticed(), *self.rooms)
        return (f"agrees in {n} random directions; a gradient that is off by {size:.1g} (its length) or more is missed "
                f"with a chance below {max(self.missing(size), 1e-99):.1g}")  # fmt: skip


def sampled(f: Callable[..., Any], *inputs: Any, directions: int = 4, seed: int | None = None,
            room: float | None = None) -> Sampled:  # fmt: skip
    """Compare the derivatives of a function of tensors with differences along fresh random directions.

    Args:
        f: takes tensors and returns tensors, in containers too.
        inputs: its arguments; tensors of float64 are moved, all at once; if some require grad, those alone.
        directions: how many.
        seed: of the directions; by default they are others every time, which the chance that is stated rests on.
        room: how far two values may be apart without an alarm, in place of the error bars.

    >>> print(sampled(gw.tanh, gw.tensor([0.5, -1.0], dtype=gw.float64), seed=1))
    agrees in 4 random directions; a gradient that is off by ... or more is missed with a chance below 1e-06

    Raises ValueError if there is no tensor of float64 among the inputs, or none of floating point among the results.
    """
    spots = [k for k, x in enumerate(inputs) if isinstance(x, TensorBase) and x.array.dtype == np.float64]
    if not spots:
        raise ValueError("sampled: expected a tensor of float64 among the inputs, but there is none")
    spots = [k for k in spots if inputs[k]._node is not None] or spots
    generator = np.random.default_rng(seed)
    base = [np.asarray(inputs[k].array) for k in spots]
    scale = float(np.sqrt(np.mean(np.concatenate([x.reshape(-1) for x in base]) ** 2))) or 1.0

    def call(*tensors: Any) -> tuple[Any, ...]:
        given = list(inputs)
        for k, t in zip(spots, tensors, strict=True):
            given[k] = t
        return tuple(t for t in tensors_in(f(*given)) if dtypes.of(t.array.dtype).category == dtypes.FLOAT)

    if not _joined(call(*[wrap(x) for x in base])).size:
        raise ValueError("sampled: expected results of floating point, but there are none")
    rooms, worst = [], 0.0
    for _ in range(directions):
        u = [generator.standard_normal(x.shape) for x in base]
        value, bar = _by_differences(call, base, u, _FIRST * min(scale, 1.0))
        said = _by_backward(call, base, u)
        allowed = bar + 64 * rounding(base[0].dtype) * np.abs(said) if room is None else np.full(bar.shape, room)
        off = np.abs(said - value)
        worst = max(worst, float(np.max(off / np.where(allowed > 0, allowed, np.finfo(float).tiny), initial=0.0)))
        rooms.append(float(np.max(allowed + (bar if room is not None else allowed), initial=0.0)))
    return Sampled(worst <= 1.0, tuple(rooms), worst)


def _joined(tensors: Sequence[Any]) -> Any:
    parts = [np.asarray(t.detach().array, np.float64).reshape(-1) for t in tensors]
    return np.concatenate(parts) if parts else np.zeros(0)


def _by_backward(call: Callable[..., Any], base: Sequence[Any], u: Sequence[Any]) -> Any:
    """What backward says of all outputs along a direction: J u, as the derivative of (J^T w) . u by w."""
    xs = [leaf(np.array(x)) for x in base]
    outs = call(*xs)
    live = [o for o in outs if o._node is not None]
    ws = [leaf(np.ones(o.array.shape)) for o in live]
    try:
        grads = grad(live, xs, ws, create_graph=True, allow_unused=True) if live else [None] * len(xs)
        known = [(g, wrap(v)) for g, v in zip(grads, u, strict=True) if g is not None and g._node is not None]
        found = grad([g for g, _ in known], ws, [v for _, v in known], allow_unused=True) if known else []
    except (RuntimeError, NotImplementedError):  # backward has no derivative of its own: one pass for each output
        found = _row_by_row(call, base, u, ws)
    made = dict(zip(map(id, live), found, strict=False))
    return _joined([wrap(np.zeros(o.array.shape)) if made.get(id(o)) is None else made[id(o)] for o in outs])


def _row_by_row(call: Callable[..., Any], base: Sequence[Any], u: Sequence[Any], ws: Sequence[Any]) -> list[Any]:
    xs = [leaf(np.array(x)) for x in base]
    live = [o for o in call(*xs) if o._node is not None]
    found = [np.zeros(w.array.shape) for w in ws]
    for row in found:
        for at in np.ndindex(row.shape):
            cotangents = [np.zeros(w.shape) for w in found]
            next(c for c, w in zip(cotangents, found, strict=True) if w is row)[at] = 1.0
            grads = grad(live, xs, [wrap(c) for c in cotangents], retain_graph=True, allow_unused=True)
            row[at] = sum(float(np.sum(g.array * v)) for g, v in zip(grads, u, strict=True) if g is not None)
    return [wrap(row) for row in found]


def _by_differences(call: Callable[..., Any], base: Sequence[Any], u: Sequence[Any], first: float) -> tuple[Any, Any]:
    """All outputs' derivatives along a direction, extrapolated, with an error bar for each.

    Where an output bends as at a kink, or jumps, the bar is as wide as that makes the slope uncertain.
    """
    inside = rounding(base[0].dtype) * max(float(np.max(np.abs(x), initial=0.0)) for x in base)
    start = call(*[wrap(x) for x in base])
    at = _joined(start)
    sampler = lambda t: (t, [_joined(call(*[wrap(x + t * v) for x, v in zip(base, u, strict=True)]))[None]])
    unit = np.concatenate([np.full(o.array.size, rounding(o.array.dtype)) for o in start])
    steps = first / 2.0 ** np.arange(_LEVELS)
    with np.errstate(all="ignore"):
        slopes, noises, bends = [], [], []
        for h in steps:
            taken = differences(sampler, h)
            up, down = taken.up[0][0], taken.down[0][0]
            slopes.append(taken.slopes[0][0])
            noise = 4 * unit * np.maximum(np.abs(up), np.abs(down)) + 4 * inside * np.abs(slopes[-1])
            noises.append(noise / (2 * h))
            bends.append(np.abs(up + down - 2 * at))
        shortest, known = last(slopes, noises)
        *_, (value, bar) = converging(zip(slopes, noises, strict=True), shortest, borne_out(shortest, known))
        bent = bends[-2] < 3 * bends[-1]  # where it is smooth, it falls to a quarter
        bar = np.where(bent, np.maximum(bar, bends[-1] / steps[-1]), bar)
        tiny = 1e-4 * steps[-1]
        taken = differences(sampler, tiny)
        up, down = taken.up[0][0], taken.down[0][0]
        flat = (up == at) & (down == at)
        near = taken.slopes[0][0]  # a saw, with teeth finer than the steps, has another slope there
        noise = unit * (np.abs(up) + np.abs(down)) / tiny + inside * np.abs(near) / tiny
        bar = np.where(np.abs(near - value) > 16 * bar + 64 * noise, np.maximum(bar, np.abs(near - value)), bar)
        stairs = flat & (np.abs(value) * tiny > 1e3 * unit * np.abs(at))
        bar = np.where(stairs, np.maximum(bar, np.abs(value)), bar)
        return value, 16 * bar + _WAVES * float(np.max(np.abs(value), initial=0.0))
