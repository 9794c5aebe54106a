"""Special functions under the names of `torch.special`. Most need SciPy: ``pip install scipy``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwright.base import dtypes
from gradwright.base.lazy import findable, lazy
from gradwright.engine.apply import apply
from gradwright.engine.base import TensorBase
from gradwright.face.functions import elementwise as _elementwise
from gradwright.face.functions.forms import alike, floating, function, without_slope
from gradwright.face.functions.reduce import log_softmax, logsumexp, softmax
from gradwright.face.functions.special import digamma, erf, erfc, erfinv, fixed, i0, logit, polygamma, sinc, xlogy
from gradwright.face.functions.special import igamma as gammainc
from gradwright.face.functions.special import igammac as gammaincc
from gradwright.face.functions.special import lgamma as gammaln
from gradwright.face.functions.special import mvlgamma as multigammaln
from gradwright.face.reading.torch import tensor_arg, to_dtype
from gradwright.face.reference import document
from gradwright.ops import special as _special
from gradwright.ops.declare import Op

if TYPE_CHECKING:
    from gradwright.face.typing import Number, Polynomial, Tensor

__all__ = [
    "airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "chebyshev_polynomial_t", "chebyshev_polynomial_u",
    "chebyshev_polynomial_v", "chebyshev_polynomial_w", "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp2",
    "expit", "expm1", "gammainc", "gammaincc", "gammaln", "hermite_polynomial_h", "hermite_polynomial_he", "i0", "i0e",
    "i1", "i1e", "laguerre_polynomial_l", "legendre_polynomial_p", "log1p", "log_ndtr", "log_softmax", "logit",
    "logsumexp", "modified_bessel_i0", "modified_bessel_i1", "modified_bessel_k0", "modified_bessel_k1",
    "multigammaln", "ndtr", "ndtri", "polygamma", "psi", "round", "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1", "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v", "shifted_chebyshev_polynomial_w", "sinc", "softmax", "spherical_bessel_j0",
    "xlog1py", "xlogy", "zeta",
]  # fmt: skip

lazy(__name__)

psi = digamma
expit, exp2, expm1 = _elementwise.sigmoid, _elementwise.exp2, _elementwise.expm1
log1p, round = _elementwise.log1p, _elementwise.round
ndtr, entr = floating(_special.ndtr), floating(_special.entr)
erfcx, ndtri = fixed(_special.erfcx, "erfcx"), fixed(_special.ndtri, "ndtri")
log_ndtr = fixed(_special.log_ndtr, "log_ndtr")
xlog1py = function(_special.xlog1py, floating=True)
zeta = function(without_slope(_special.zeta, "x"), floating=True)
i1 = fixed(_special.bessel_i, "i1", "SpecialI1Backward0", half=True, order=1)
i0e = fixed(_special.bessel_ie, "i0e", "SpecialI0EBackward0", half=True, order=0)
i1e = fixed(_special.bessel_ie, "i1e", "SpecialI1EBackward0", half=True, order=1)
airy_ai = fixed(_special.airy_ai, "airy_ai", derivative=0)
spherical_bessel_j0 = fixed(_special.spherical_bessel_j, "spherical_bessel_j0", order=0)
bessel_j0, bessel_j1 = (fixed(_special.bessel_j, f"bessel_j{n}", order=n) for n in (0, 1))
bessel_y0, bessel_y1 = (fixed(_special.bessel_y, f"bessel_y{n}", order=n) for n in (0, 1))
modified_bessel_i0, modified_bessel_i1 = (fixed(_special.bessel_i, f"modified_bessel_i{n}", order=n) for n in (0, 1))
modified_bessel_k0, modified_bessel_k1 = (fixed(_special.bessel_k, f"modified_bessel_k{n}", order=n) for n in (0, 1))
scaled_modified_bessel_k0, scaled_modified_bessel_k1 = (
    fixed(_special.bessel_ke, f"scaled_modified_bessel_k{n}", order=n) for n in (0, 1)
)


def _polynomial(name: str, formula: Callable[[Any, Any], Any]) -> Polynomial:
    def call(input: Tensor | Number, n: Tensor | int) -> Tensor:
        if not isinstance(input, TensorBase):
            tensor_arg(name, n, "n", 2)
        x, degree = alike(_special.chebyshev_t, input, n)
        d = dtypes.of(x.array.dtype)
        d = d if d.category >= dtypes.FLOAT else dtypes.default()
        if d in (dtypes.float16, dtypes.complex64, dtypes.complex128):
            raise NotImplementedError(f"{name}() is not implemented for {d}")
        return formula(to_dtype(x, d), to_dtype(degree, dtypes.int64))

    call.__name__ = call.__qualname__ = name
    return call


def _plain(op: Op, **static: Any) -> Callable[[Any, Any], Any]:
    return lambda x, n: apply(op, (x, n), static)


_first, _second = _plain(_special.chebyshev_t), _plain(_special.gegenbauer, alpha=1.0)
_CHEBYSHEV: dict[str, Callable[[Any, Any], Any]] = {
    "t": _first,
    "u": _second,
    "v": lambda x, n: _second(x, n) - _second(x, n - 1),
    "w": lambda x, n: _second(x, n) + _second(x, n - 1),
}


def _chebyshev(letter: str) -> tuple[Polynomial, Polynomial]:
    """The Chebyshev polynomial of a kind, and the same shifted to 0 <= x <= 1."""
    f = _CHEBYSHEV[letter]
    name = f"chebyshev_polynomial_{letter}"
    return _polynomial(name, f), _polynomial(f"shifted_{name}", lambda x, n: f(2 * x - 1, n))


chebyshev_polynomial_t, shifted_chebyshev_polynomial_t = _chebyshev("t")
chebyshev_polynomial_u, shifted_chebyshev_polynomial_u = _chebyshev("u")
chebyshev_polynomial_v, shifted_chebyshev_polynomial_v = _chebyshev("v")
chebyshev_polynomial_w, shifted_chebyshev_polynomial_w = _chebyshev("w")
hermite_polynomial_h = _polynomial("hermite_polynomial_h", _plain(_special.hermite_h))
hermite_polynomial_he = _polynomial("hermite_polynomial_he", _plain(_special.hermite_he))
laguerre_polynomial_l = _polynomial("laguerre_polynomial_l", _plain(_special.laguerre, alpha=0.0))
legendre_polynomial_p = _polynomial("legendre_polynomial_p", _plain(_special.gegenbauer, alpha=0.5))


document(globals(), "special_names")
findable(__name__)
