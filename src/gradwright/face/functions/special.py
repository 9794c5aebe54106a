"""The special functions at PyTorch's top level. Most need SciPy: ``pip install scipy``.

`gradwright.special` has the others.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.engine.apply import apply, apply_one
from gradwright.face.functions.elementwise import add, sub
from gradwright.face.functions.forms import alike, floating, function, without_slope
from gradwright.face.reading.torch import tensor_arg, to_dtype
from gradwright.ops import special as _special
from gradwright.ops.declare import Op

if TYPE_CHECKING:
    from gradwright.face.typing import Binary, Number, Tensor, Unary

__all__ = [
    "digamma", "erf", "erfc", "erfinv", "i0", "igamma", "igammac", "lgamma", "logit", "mvlgamma", "polygamma", "sinc",
    "xlogy",
]  # fmt: skip


erf, erfc, erfinv, sinc = (floating(o) for o in (_special.erf, _special.erfc, _special.erfinv, _special.sinc))
lgamma, digamma = floating(_special.lgamma), floating(_special.digamma)
xlogy = function(_special.xlogy, floating=True)


def fixed(op: Op, name: str, node: str | None = None, half: bool = False, **static: Any) -> Unary:
    """A function of one tensor: ``op`` with these static arguments, under another name."""
    variant = op if node is None else op.variant(node)

    def call(input: Tensor) -> Tensor:
        x = tensor_arg(name, input)
        d = dtypes.of(x.array.dtype)
        if d is dtypes.float16 and not half:
            raise NotImplementedError(f"{name}() is not implemented for 'Half'; convert with .float()")
        return apply_one(variant, x if d.category >= dtypes.FLOAT else to_dtype(x, dtypes.default()), static)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{op.__doc__} Here {', '.join(f'{k} {v}' for k, v in static.items())}." if static else op.__doc__
    return call


i0 = fixed(_special.bessel_i, "i0", "I0Backward0", half=True, order=0)


def polygamma(n: int, input: Tensor) -> Tensor:
    """The n-th derivative of the digamma function; RuntimeError if n is negative."""
    if isinstance(n, bool) or not hasattr(n, "__index__"):
        raise TypeError(f"polygamma(): argument 'n' (position 1) must be int, not {kind(n)}")
    n = n.__index__()
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return fixed(_special.polygamma, "polygamma", half=True, n=n)(input)


def mvlgamma(input: Tensor, p: int) -> Tensor:
    """Logarithm of the multivariate gamma function: p (p-1)/4 log pi + sum of lgamma(x - j/2), j from 0 to p - 1."""
    x = tensor_arg("mvlgamma", input)
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    total: Any = p * (p - 1) / 4 * math.log(math.pi)
    for j in range(p):
        total = add(lgamma(sub(x, 0.5 * j) if j else x), total)
    return total


def logit(input: Tensor, eps: float | None = None) -> Tensor:
    """log(x / (1 - x)); with ``eps``, of x kept between eps and 1 - eps."""
    x = tensor_arg("logit", input)
    if dtypes.of(x.array.dtype).category < dtypes.FLOAT:
        x = to_dtype(x, dtypes.default())
    return apply_one(_special.logit, x, {"eps": None if eps is None or eps < 0 else float(eps)})


def _incomplete(op: Op) -> Any:
    refusing = without_slope(op, "x")

    def call(input: Tensor | Number, other: Tensor | Number) -> Tensor:
        pair = alike(op, tensor_arg(op.name, input), tensor_arg(op.name, other, "other", 2))
        d = dtypes.of(pair[0].array.dtype)
        if not d.is_floating_point:
            raise NotImplementedError(f"{op.name}() is not implemented for {d}; convert with .float()")
        return apply(refusing, pair, {})

    call.__name__ = call.__qualname__ = op.name
    call.__doc__ = op.__doc__
    return call


igamma: Binary = _incomplete(_special.igamma)
igammac: Binary = _incomplete(_special.igammac)
