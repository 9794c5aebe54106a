"""Bits that first and second derivatives lose over all of a dtype's range: powers of ten, 0, subnormals, infinities.

The true ones are the Taylor coefficients of the formula on balls, so no rule has a part in them. Bits that the
condition of a derivative takes, as its input is rounded, are not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import factorial, isfinite, isinf, log2
from typing import Any

import numpy as np

from gradwright.engine.base import wrap
from gradwright.engine.calls import grad
from gradwright.ops.declare import Op
from gradwright.verify.numeric.jacobian import leaf
from gradwright.verify.proof import series
from gradwright.verify.proof.balls import Balls, balls
from gradwright.verify.proof.series import working

BITS, FEWER = 1400, 256
"""Enough for e**-x + 1 - 1 over all of float64's range; for what takes seconds on balls of so many."""
ALLOWED = 3
NAN, INFINITE, FINITE, SMALL = 100.0, 99.0, 98.0, 97.0
"""In place of a number of bits: NaN, or finite, or infinite, where the derivative is not, or not small where it is."""

_OF_RESULT = "made of the result y, as PyTorch's: {} is right to a rounding of 1, so that it is 0 {}"
LOSSES = {
    "sigmoid": _OF_RESULT.format("1 - y", "beyond 37 (in float32, 17)"),
    "tanh": _OF_RESULT.format("1 - y**2", "beyond 19 (in float32, 9)"),
    "expm1": _OF_RESULT.format("y + 1", "below -37 (in float32, -17)"),
    "mish": "parts that nearly cancel where they change sign, and far out, where they are below a rounding of 1",
    "gelu_tanh": "1 - t**2 of a tanh t is right to a rounding of 1, so that it is 0 far out",
    "remainder": "jumps: x/y rounds over a whole number", "fmod": "jumps: x/y rounds over a whole number",
    "atan": "the second derivative, where the square of the first is below the range",
    "pow": "the power's own rounding, of log x times y",
    "root_of_square": "the second derivative x/y cancels; it is the third of asinh and acosh",
    "binary_cross_entropy": "by definition: the logarithm ends at -100, and the slope at 1e12, as PyTorch's",
    "entr": "by definition: -inf below 0", "logit": "the second derivative near 0 and 1, where it is out of range",
    "erfcx": "parts that nearly cancel about 1.5", "erfcx_integral": "parts that nearly cancel about 1.5",
    "ndtri": "the inverse function's own rounding, times its size",
    "log_ndtr": "the second derivative about -2", "inverse_mills": "about -2; beyond the root of the range; the second",
    **dict.fromkeys(("bessel_ie", "bessel_ke"), "neighbouring orders cancel far out"),
    "bessel_i": "SciPy's are NaN at subnormal numbers", "bessel_j": "SciPy's of order 3 and more, near 0",
    **dict.fromkeys(("spherical_bessel_j", "airy_ai", "zeta"), "SciPy's, near 0 and far out"),
    **dict.fromkeys(("chebyshev_t", "hermite_h", "hermite_he", "gegenbauer", "laguerre"),
                    "SciPy's are NaN where a power is out of range"),
    "sinc": "pi x is rounded, and SciPy's spherical Bessel function near 0",
}  # fmt: skip
"""Operations whose derivatives lose more bits than `ALLOWED` somewhere, and why."""


def points(dtype: str, step: int) -> Any:
    """Powers of ten of both signs, every ``step``-th; 0, the ends of the range, and some where functions bend."""
    limits = np.finfo(dtype)
    low, high = (int(np.log10(float(x))) for x in (limits.smallest_subnormal, limits.max))
    bends = [0.5, 1.0, 2.0, 3.7, 20.0, 40.0, 88.0, 700.0, 1 - float(limits.eps), 1 + float(limits.eps)]
    ends = [float(x) for x in (limits.smallest_subnormal, limits.tiny, limits.max)]
    x = np.unique(np.array([*(10.0**k for k in range(low + 1, high + 1, step)), *bends, *ends]).astype(dtype))
    return np.concatenate([-x[::-1], [0.0], x]).astype(np.float64)


def functions(op: Op, others: tuple[float, ...]) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """An elementwise operation as functions of one number: by each input, the others held at each of these."""
    static = {repr(s.static): s for s in op.samples[::-1] if not any(a.complex for a in s.arrays)}
    for sample in static.values():
        for k, name in enumerate(op.inputs):
            held = [(None,) if j == k else others if a.values is None else (np.ravel(a.values)[-1:],)
                    for j, a in enumerate(sample.arrays)]  # fmt: skip
            for at in product(*held) if name in op.rules else ():
                yield f"{op.name}({name}) {sample.static} {at}", _of_one(op, k, at, sample.static)


def _of_one(op: Op, k: int, at: tuple[Any, ...], static: dict[str, Any]) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        given: list[Any] = [np.resize(np.asarray(a), x.array.shape) for a in at if a is not None]
        of_balls = isinstance(x.array, Balls)
        given = [a if a.dtype.kind != "f" else balls(a) if of_balls else a.astype(x.array.dtype) for a in given]
        given = [wrap(a) for a in given]
        return op(*given[:k], x, *given[k:], **static)

    return f


def true(f: Callable[[Any], Any], x: float, bits: int = BITS) -> list[Any]:
    """The derivatives at a number, of order 0 to 3, as balls."""
    with working(bits=bits, order=3):
        held = np.empty(1, object)
        held[0] = series.series([series.arb(x), series.arb(1)])
        found = f(wrap(Balls(held))).array.value.reshape(-1)[0]
        return [found[k] * factorial(k) for k in range(4)]


def computed(f: Callable[[Any], Any], x: Any) -> list[Any]:
    """The derivatives of order 1 and 2 at the numbers of an array, by the rules."""
    at = leaf(x)
    (one,) = grad([f(at)], [at], [wrap(np.ones_like(x))], create_graph=True)
    two = grad([one], [at], [wrap(np.ones_like(x))], allow_unused=True)[0] if one._node is not None else None
    return [one.array, np.zeros_like(x) if two is None else two.array]


def lost(exact: list[Any], k: int, x: float, got: float, dtype: str) -> float | None:
    """Bits that the derivative of order ``k`` lost at a number; None where the true one is not known, as at a pole."""
    limits, value, after = np.finfo(dtype), exact[k], exact[k + 1]
    tiny, largest, eps = float(limits.tiny), float(limits.max), float(limits.eps)
    if not value.is_finite() or float(value.rad()) > max(1e-30 * abs(float(value.mid())), 1e-320):
        return None
    size = abs(float(value.mid()))
    if size > largest:
        return 0.0 if isinf(got) or abs(got) > largest / 16 else INFINITE
    if not isfinite(got):
        return NAN if got != got else 0.0 if size > largest / 16 else FINITE
    with working(bits=BITS):
        error = float(abs(series.arb(got) - value).mid())
        moved = float(abs(after * x).mid()) if after.is_finite() else 0.0
    if size < 16 * tiny:  # below the range, or nearly
        return 0.0 if error <= 16 * tiny else SMALL
    allowed = eps * max(size, moved)
    return log2(error / allowed) if error > allowed else 0.0


def section() -> str:
    """A page's words on it."""
    rows = "\n".join(f"- `{name}`: {why}." for name, why in LOSSES.items())
    return f"""
## Where digits are lost

First and second derivatives of the elementwise operations lose at most {ALLOWED} bits in float32 and in float64, over
all of the dtype's range, beyond those that the rounding of their input takes, except:

{rows}

What is made of the result could be made of the input, kept beside it; but that holds as much memory again, and programs
that write the input in place, which run here and on PyTorch, would be refused. Taken only where it is kept anyway, as a
leaf is, it would let `x * 1` or a checkpoint change a gradient. Where the tail counts write `exp(logsigmoid(x))`,
`2 * exp(logsigmoid(2 * x)) - 1` for `tanh(x)` and `exp(x) - 1` for `expm1(x)`: far from 0 these lose none. Nor do
`logsigmoid`, `softplus`, `silu` and the losses, whose input is kept; nor `softmax`, `log_softmax`, `logsumexp` and
`cross_entropy` where a probability rounds to 1: the others are summed without it.

Lengths, `std` and the nuclear norm lose nothing where a square is out of range. `layer_norm`, `batch_norm`, `rms_norm`
and `corrcoef` do, as PyTorch's: of entries whose variance, or mean square, is infinite the normalised ones are 0.

Second derivatives of the square of a length of 0 are not those of the square: of `abs(x)**2` 0, of `norm(x)**2` and
`exp(-cdist(x, y)**2)` NaN (they are 2, 2 and -2). The length's own slope jumps there, is taken as 0, and multiplies
that of the square: no rule of one operation sees both. Write `x * x`, `(x * x).sum()` or `(z * z.conj()).real` instead.

Second derivatives of `pinv` at nearly singular matrices lose the condition number once more than their own condition
takes: what rounding leaves of 1 - x y, which is 0 at full rank, is multiplied by y twice. Those of `inv`, `solve`,
`slogdet`, `det`, `cholesky` and matrix powers lose no more than that.
"""
