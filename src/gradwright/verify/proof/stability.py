"""Stability: how many digits a right formula and a right rule lose in float32 and in float64, and where.

At each point of a range both are computed in floating point and on balls, which tell the exact value. Digits that any
computation of it would lose, as the function itself is ill-conditioned there, are not counted.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gradwright.base.errors import NotProvedError
from gradwright.base.pages.shown import Shown
from gradwright.engine.base import wrap
from gradwright.engine.calls import grad
from gradwright.verify.numeric.jacobian import leaf, unbound
from gradwright.verify.proof import series
from gradwright.verify.proof.balls import Balls, balls, exactly
from gradwright.verify.proof.box import pair
from gradwright.verify.proof.point import name_of, read
from gradwright.verify.proof.series import working

BITS = 1200
"""Enough for e**-x + 1 - 1 over all of float64's range to keep its digits."""
DTYPES = ("float32", "float64")
LOST = 2.5
"""So many digits lost are told of."""

_HINTS = (
    (r"exp\([^()]*\)\s*-\s*1\b", "expm1(x) for exp(x) - 1"),
    (r"log\(\s*1(\.0)?\s*\+|log\([^()]*\+\s*1(\.0)?\s*\)", "log1p(x) for log(1 + x)"),
    (r"1(\.0)?\s*-\s*(\w+\.)?cos\(", "2 sin(x/2)**2 for 1 - cos(x)"),
    (r"1(\.0)?\s*-\s*(\w+\.)?erf\(", "erfc(x) for 1 - erf(x)"),
    (r"1(\.0)?\s*-\s*(\w+\.)?(tanh\(|out \* out|out\s*\*\*\s*2|y \* y)", "1/cosh(x)**2 for 1 - tanh(x)**2"),
    (r"sqrt\([^()]*\+\s*1(\.0)?\)\s*-\s*1", "x/(sqrt(x + 1) + 1) for sqrt(x + 1) - 1"),
)


@dataclass(frozen=True)
class Loss:
    """How a value, or a gradient, fares in a dtype: the points, and the digits lost at each (NaN: out of range)."""

    what: str
    dtype: str
    points: Any
    digits: Any

    @property
    def worst(self) -> float:
        """The most digits lost."""
        return float(np.nanmax(self.digits, initial=0.0))

    @property
    def where(self) -> float:
        """The point where most are lost."""
        return float(self.points[int(np.nanargmax(self.digits))])

    @property
    def place(self) -> str:
        """That point in words: 0 if it is as near to that as makes no difference in the range."""
        return "0" if abs(self.where) < 1e-4 * float(np.ptp(self.points)) else f"{self.where:.2g}"


@dataclass(frozen=True)
class Stability(Shown):
    """The findings of `stability`; true if nothing loses digits to speak of.

    Attributes:
        name: of the function. losses: for value and gradient and each dtype.
        hint: what would help, by the look of the source; ``""`` if that says nothing.
    """

    name: str
    losses: list[Loss]
    hint: str = ""

    @property
    def worst(self) -> Loss:
        """What loses most digits."""
        return max(self.losses, key=lambda one: one.worst)

    def __bool__(self) -> bool:
        return self.worst.worst < LOST

    def __str__(self) -> str:
        bad = self.worst
        if self:
            return f"{self.name}: no more than {bad.worst:.1f} digits are lost, in the {bad.what} in {bad.dtype}"
        words = f"{self.name}: the {bad.what} in {bad.dtype} loses {bad.worst:.0f} digits near {bad.place}"
        return f"{words}: use {self.hint}" if self.hint else words

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {"said": str(self), "steady": bool(self), "losses": [
            {"what": one.what, "dtype": one.dtype, "points": one.points.tolist(),
             "digits": [None if np.isnan(d) else round(float(d), 2) for d in one.digits]} for one in self.losses
        ]}  # fmt: skip


def stability(f: Callable[..., Any], *inputs: Any, name: str | None = None, points: int = 65,
              **static: Any) -> Stability:  # fmt: skip
    """How many digits value and gradient lose, in float32 and float64, over a range of one input.

    Args:
        f: an operation, a Function or a function of tensors, as in `gradwright.verify.prove`, that treats each entry of
            an input by itself.
        inputs: its arguments, of which one is the range: a pair ``(low, high)`` of numbers.
        name: what the report calls it.
        points: so many equally spaced ones; as many again stand ever closer to 0 and to the ends.
        static: further arguments; if one is called as those here, ``functools.partial(f, points=2)``.

    >>> print(stability(lambda x: gw.exp(x) - 1, (-1.0, 1.0), name="f"))
    f: the value in float32 loses 7 digits near ...: use expm1(x) for exp(x) - 1

    Raises NotProvedError where balls cannot run it.
    """
    f, static = unbound(f, static)
    pairs = [pair(x) for x in inputs]
    spots = [k for k, p in enumerate(pairs) if p]
    if len(spots) != 1 or pairs[spots[0]][0].ndim:  # type: ignore[index]
        raise ValueError("stability: expected one range, a pair (low, high) of numbers, among the inputs")
    at = spots[0]
    low, high = (float(v) for v in pairs[at])  # type: ignore[union-attr]
    x = _points(low, high, points)
    call, arrays, moving = read(f, [x if k == at else v for k, v in enumerate(inputs)], static)
    moved = next(k for k, a in enumerate(arrays) if a is x or (a.shape == x.shape and np.array_equal(a, x)))
    if moved not in moving:
        raise NotProvedError("not proved: no result has a derivative by that input")
    exact = _exact(call, arrays, moved)
    losses = [loss for dtype in DTYPES for loss in _losses(call, arrays, moved, dtype, exact)]
    return Stability(name or name_of(f), losses, _hint(f))


def _points(low: float, high: float, count: int) -> Any:
    """Points that float32 has: equally spaced ones, and some ever closer to 0 and to the ends."""
    closer = (high - low) * 10.0 ** -np.linspace(0.5, 8.0, count // 2)
    near = [low + closer, high - closer] + ([closer, -closer] if low <= 0 <= high else [])
    x = np.concatenate([np.linspace(low, high, count), *near]).astype(np.float32).astype(np.float64)
    return np.unique(x[(x >= low) & (x <= high)])


def _value_and_slope(call: Callable[..., Any], given: list[Any], k: int) -> tuple[Any, Any]:
    x = leaf(given[k])
    out = call(*[x if j == k else wrap(a) for j, a in enumerate(given)])
    if out.array.shape != x.array.shape or out._node is None:
        raise NotProvedError("not proved: stability is looked at entry by entry, and the result has another shape")
    ones = np.ones(out.array.shape, out.array.dtype)
    (g,) = grad([out], [x], [wrap(balls(ones) if isinstance(out.array, Balls) else ones)])
    return out.array, g.array


def _exact(call: Callable[..., Any], arrays: list[Any], k: int) -> list[list[tuple[Any, float]]]:
    """For value and gradient, at each point: the ball, and how many digits the conditioning takes there."""
    with working(bits=BITS, order=1):
        held = np.empty(arrays[k].shape, object)
        for j, v in enumerate(arrays[k]):
            held[j] = series.series([series.arb(float(v)), series.arb(1)])
        given = [Balls(held) if j == k else exactly(a) for j, a in enumerate(arrays)]
        parts = _value_and_slope(call, given, k)
        return [[_with_condition(e, float(x)) for e, x in zip(p.value, arrays[k], strict=True)] for p in parts]


def _with_condition(e: Any, x: float) -> tuple[Any, float]:
    value, slope = series.start(e), e[1]
    size = float(abs(value).mid())
    moved = float(abs(slope * x).mid()) if slope.is_finite() else 0.0
    condition = moved / size if size > 0 and np.isfinite(size) else 1.0
    return value, float(np.log10(max(condition, 1.0)))


def _losses(call: Callable[..., Any], arrays: list[Any], k: int, dtype: str, exact: Any) -> list[Loss]:
    given = [a.astype(dtype) if a.dtype.kind == "f" else a for a in arrays]
    with np.errstate(all="ignore"):
        parts = _value_and_slope(call, given, k)
    count = partial(_digits, dtype)
    digits = [np.array([count(float(v), *true) for v, true in zip(part, trues, strict=True)])
              for part, trues in zip(parts, exact, strict=True)]  # fmt: skip
    return [Loss(what, dtype, arrays[k], d) for what, d in zip(("value", "gradient"), digits, strict=True)]


def _digits(dtype: str, got: float, true: Any, condition: float) -> float:
    """The digits that are lost, beyond those that the conditioning takes; NaN where the true value is out of range."""
    limits = np.finfo(dtype)
    size = float(abs(true).mid()) if true.is_finite() else np.inf
    if not float(limits.tiny) * 4 <= size <= float(limits.max) / 4:
        return np.nan
    with working(bits=BITS):
        relative = float((abs(series.arb(got) - true) / abs(true)).mid()) if np.isfinite(got) else np.inf
    all_of_them = -float(np.log10(limits.eps))
    lost = all_of_them if relative >= 1 else float(np.log10(max(relative / float(limits.eps), 1.0)))
    return max(min(lost, all_of_them) - condition, 0.0)


def _hint(f: Any) -> str:
    """The likely mend, by the look of the source of forward and backward."""
    text = ""
    parts = [getattr(f, name, None) for name in ("forward", "backward", "__wrapped__")]
    for part in [f, *parts, *[rule.fn for rule in getattr(f, "rules", {}).values()]]:
        try:
            text += inspect.getsource(part)
        except (TypeError, OSError):
            continue
    return next((hint for pattern, hint in _HINTS if re.search(pattern, text)), "")
