"""Special functions under the names of `torch.special`. Most need SciPy: ``pip install scipy``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwright.base import dtypes
from gradwright.base.later import later
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

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(__name__)

psi = digamma
expit, exp2, expm1 = _elementwise.sigmoid, _elementwise.exp2, _elementwise.expm1
log1p, round = _elementwise.log1p, _elementwise.round
ndtr, entr = floating(_special.ndtr), floating(_special.entr)
ndtr.__doc__ = """\
The standard normal distribution function Phi(x) = (1 + erf(x / sqrt 2)) / 2, dy/dx = e**(-x**2/2) / sqrt(2 pi).

In the far tail it underflows to 0: `log_ndtr` does not. Needs SciPy; whole numbers become the default dtype.

>>> import gradwright as gw
>>> gw.special.ndtr(gw.tensor([0.0, 1.0, -40.0]))
tensor([0.5000, 0.8413, 0.0000])
"""
entr.__doc__ = """\
-x log x, dy/dx = -1 - log x: 0 at 0, where the slope is infinite, and -inf below.

Whole numbers become the default dtype.

>>> import gradwright as gw
>>> gw.special.entr(gw.tensor([0.5, -1.0]))
tensor([0.3466,   -inf])
"""
erfcx, ndtri = fixed(_special.erfcx, "erfcx"), fixed(_special.ndtri, "ndtri")
erfcx.__doc__ = """\
e**(x**2) erfc x, dy/dx = 2 x y - 2/sqrt(pi): the tail of `erfc` without underflow. Needs SciPy.

Raises NotImplementedError for float16; whole numbers become the default dtype.

>>> import gradwright as gw
>>> gw.special.erfcx(gw.tensor([0.0, 10.0]))
tensor([1.0000, 0.0561])
"""
ndtri.__doc__ = """\
The y with ndtr(y) = x, dy/dx = sqrt(2 pi) e**(y**2/2): -inf at 0, inf at 1, NaN outside. Needs SciPy.

Raises NotImplementedError for float16; whole numbers become the default dtype.

>>> import gradwright as gw
>>> gw.special.ndtri(gw.tensor([0.0, 0.5, 0.975, 2.0]))
tensor([  -inf, 0.0000, 1.9600,    nan])
"""
log_ndtr = fixed(_special.log_ndtr, "log_ndtr")
log_ndtr.__doc__ = """\
log ndtr(x), without underflow for very negative x, dy/dx = sqrt(2/pi) / erfcx(-x / sqrt 2). Needs SciPy.

Raises NotImplementedError for float16; whole numbers become the default dtype.

>>> import gradwright as gw
>>> gw.special.log_ndtr(gw.tensor([0.0, -40.0]))
tensor([-6.9315e-01, -8.0461e+02])
"""
xlog1py = function(_special.xlog1py, floating=True)
xlog1py.__doc__ = """\
x log(1 + y), dy: x / (1 + y), dx: log(1 + y); 0 where x = 0, unless y is NaN. NaN for y < -1 elsewhere.

Shapes broadcast, and one may be a number. Needs no SciPy. Raises TypeError for two numbers, or what is neither.

>>> import gradwright as gw
>>> gw.special.xlog1py(gw.tensor([0.0, 2.0]), gw.tensor([-1.0, 1.0]))
tensor([0.0000, 1.3863])
"""
zeta = function(without_slope(_special.zeta, "x"), floating=True)
zeta.__doc__ = """\
Hurwitz zeta function, the sum of (k + y)**-x over k = 0, 1, ...: Riemann's for y = 1. Infinite at x = 1, NaN below.

Shapes broadcast, and either may be a number. The slope by y is -x zeta(x + 1, y); by x there is none:
NotImplementedError in a backward pass that asks for it. Needs SciPy.

>>> import gradwright as gw
>>> gw.special.zeta(gw.tensor([2.0, 4.0]), 1.0)
tensor([1.6449, 1.0823])
"""
i1 = fixed(_special.bessel_i, "i1", "SpecialI1Backward0", half=True, order=1)
i1.__doc__ = """\
Modified Bessel function I1, odd, growing as e**|x| / sqrt(2 pi |x|); dy/dx = (I0 + I2) / 2. Needs SciPy.

>>> import gradwright as gw
>>> gw.special.i1(gw.tensor([0.0, 1.0]))
tensor([0.0000, 0.5652])
"""
i0e = fixed(_special.bessel_ie, "i0e", "SpecialI0EBackward0", half=True, order=0)
i0e.__doc__ = """\
e**-|x| I0(x), which does not overflow; the slope at the kink of |x|, x = 0, is taken as 0. Needs SciPy.

>>> import gradwright as gw
>>> gw.special.i0e(gw.tensor([0.0, 1000.0]))
tensor([1.0000, 0.0126])
"""
i1e = fixed(_special.bessel_ie, "i1e", "SpecialI1EBackward0", half=True, order=1)
i1e.__doc__ = """\
e**-|x| I1(x), which does not overflow; dy/dx is 1/2 at 0. Needs SciPy.

>>> import gradwright as gw
>>> gw.special.i1e(gw.tensor([0.0, 1000.0]))
tensor([0.0000, 0.0126])
"""
airy_ai = fixed(_special.airy_ai, "airy_ai", derivative=0)
airy_ai.__doc__ = """\
Airy function Ai, the solution of y'' = x y that decays for x > 0. Needs SciPy.

Raises NotImplementedError for float16; whole numbers become the default dtype.

>>> import gradwright as gw
>>> gw.special.airy_ai(gw.tensor([0.0, 1.0]))
tensor([0.3550, 0.1353])
"""
spherical_bessel_j0 = fixed(_special.spherical_bessel_j, "spherical_bessel_j0", order=0)
spherical_bessel_j0.__doc__ = """\
sin x / x, and 1 at 0; dy/dx = -j1(x) = (x cos x - sin x) / x**2. Complex numbers are taken too. Needs SciPy.

>>> import gradwright as gw
>>> gw.special.spherical_bessel_j0(gw.tensor([0.0, 1.0]))
tensor([1.0000, 0.8415])
"""
bessel_j0, bessel_j1 = (fixed(_special.bessel_j, f"bessel_j{n}", order=n) for n in (0, 1))
bessel_j0.__doc__ = """\
Bessel function of the first kind J0, even; dy/dx = -J1. Needs SciPy; NotImplementedError for float16.

>>> import gradwright as gw
>>> gw.special.bessel_j0(gw.tensor([0.0, 1.0]))
tensor([1.0000, 0.7652])
"""
bessel_j1.__doc__ = """\
Bessel function of the first kind J1, odd; dy/dx = (J0 - J2) / 2. Needs SciPy; NotImplementedError for float16.

>>> import gradwright as gw
>>> gw.special.bessel_j1(gw.tensor([0.0, 1.0]))
tensor([0.0000, 0.4401])
"""
bessel_y0, bessel_y1 = (fixed(_special.bessel_y, f"bessel_y{n}", order=n) for n in (0, 1))
bessel_y0.__doc__ = """\
Bessel function of the second kind Y0: -inf at 0, NaN below; dy/dx = -Y1. Needs SciPy.

Raises NotImplementedError for float16.

>>> import gradwright as gw
>>> gw.special.bessel_y0(gw.tensor([0.0, 1.0, -1.0]))
tensor([  -inf, 0.0883,    nan])
"""
bessel_y1.__doc__ = """\
Bessel function of the second kind Y1: -inf at 0, NaN below; dy/dx = (Y0 - Y2) / 2. Needs SciPy.

Raises NotImplementedError for float16.

>>> import gradwright as gw
>>> gw.special.bessel_y1(gw.tensor([0.0, 1.0, -1.0]))
tensor([   -inf, -0.7812,     nan])
"""
modified_bessel_i0, modified_bessel_i1 = (fixed(_special.bessel_i, f"modified_bessel_i{n}", order=n) for n in (0, 1))
modified_bessel_i0.__doc__ = """\
Modified Bessel function of the first kind I0, even; dy/dx = I1. `i0` of real numbers, but for float16. Needs SciPy.

>>> import gradwright as gw
>>> gw.special.modified_bessel_i0(gw.tensor([0.0, 1.0]))
tensor([1.0000, 1.2661])
"""
modified_bessel_i1.__doc__ = """\
Modified Bessel function of the first kind I1, odd; dy/dx = (I0 + I2) / 2. `i1`, but for float16. Needs SciPy.

>>> import gradwright as gw
>>> gw.special.modified_bessel_i1(gw.tensor([0.0, 1.0]))
tensor([0.0000, 0.5652])
"""
modified_bessel_k0, modified_bessel_k1 = (fixed(_special.bessel_k, f"modified_bessel_k{n}", order=n) for n in (0, 1))
modified_bessel_k0.__doc__ = """\
Modified Bessel function of the second kind K0: inf at 0, NaN below; dy/dx = -K1. Needs SciPy.

Raises NotImplementedError for float16.

>>> import gradwright as gw
>>> gw.special.modified_bessel_k0(gw.tensor([0.0, 1.0, -1.0]))
tensor([   inf, 0.4210,    nan])
"""
modified_bessel_k1.__doc__ = """\
Modified Bessel function of the second kind K1: inf at 0, NaN below; dy/dx = -(K0 + K2) / 2. Needs SciPy.

Raises NotImplementedError for float16.

>>> import gradwright as gw
>>> gw.special.modified_bessel_k1(gw.tensor([0.0, 1.0, -1.0]))
tensor([   inf, 0.6019,    nan])
"""
scaled_modified_bessel_k0, scaled_modified_bessel_k1 = (
    fixed(_special.bessel_ke, f"scaled_modified_bessel_k{n}", order=n) for n in (0, 1)
)
scaled_modified_bessel_k0.__doc__ = """\
e**x K0(x), which does not underflow: inf at 0, NaN below. Needs SciPy; NotImplementedError for float16.

>>> import gradwright as gw
>>> gw.special.scaled_modified_bessel_k0(gw.tensor([1.0, 1000.0]))
tensor([1.1445, 0.0396])
"""
scaled_modified_bessel_k1.__doc__ = """\
e**x K1(x), which does not underflow: inf at 0, NaN below. Needs SciPy; NotImplementedError for float16.

>>> import gradwright as gw
>>> gw.special.scaled_modified_bessel_k1(gw.tensor([1.0, 1000.0]))
tensor([1.6362, 0.0396])
"""


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
chebyshev_polynomial_t.__doc__ = """\
T_n(x) = cos(n arccos x), by T_n+1 = 2 x T_n - T_n-1 from 1 and x; dT_n/dx = n U_n-1.

Shapes of x and n broadcast, and one may be a number; n is cut to a whole number, below 0 the result is 0. It has no
slope by n. Needs SciPy. Raises NotImplementedError for float16 and complex numbers.

>>> import gradwright as gw
>>> gw.special.chebyshev_polynomial_t(gw.tensor([0.5, 2.0]), 2)
tensor([-0.5000,  7.0000])
"""
shifted_chebyshev_polynomial_t.__doc__ = """\
T_n(2 x - 1), for 0 <= x <= 1; arguments and errors are those of `chebyshev_polynomial_t`.

>>> import gradwright as gw
>>> gw.special.shifted_chebyshev_polynomial_t(gw.tensor([0.5, 1.0]), 2)
tensor([-1.,  1.])
"""
chebyshev_polynomial_u, shifted_chebyshev_polynomial_u = _chebyshev("u")
chebyshev_polynomial_u.__doc__ = """\
U_n(x) = sin((n + 1) t) / sin t, x = cos t, by the recurrence of T from 1 and 2 x.

Arguments and errors are those of `chebyshev_polynomial_t`.

>>> import gradwright as gw
>>> gw.special.chebyshev_polynomial_u(gw.tensor([0.5, 2.0]), 2)
tensor([ 0., 15.])
"""
shifted_chebyshev_polynomial_u.__doc__ = """\
U_n(2 x - 1), for 0 <= x <= 1; arguments and errors are those of `chebyshev_polynomial_t`.

>>> import gradwright as gw
>>> gw.special.shifted_chebyshev_polynomial_u(gw.tensor([0.5, 1.0]), 2)
tensor([-1.,  3.])
"""
chebyshev_polynomial_v, shifted_chebyshev_polynomial_v = _chebyshev("v")
chebyshev_polynomial_v.__doc__ = """\
V_n(x) = cos((n + 1/2) t) / cos(t/2), x = cos t: U_n - U_n-1.

Arguments and errors are those of `chebyshev_polynomial_t`.

>>> import gradwright as gw
>>> gw.special.chebyshev_polynomial_v(gw.tensor([0.5, 2.0]), 2)
tensor([-1., 11.])
"""
shifted_chebyshev_polynomial_v.__doc__ = """\
V_n(2 x - 1), for 0 <= x <= 1; arguments and errors are those of `chebyshev_polynomial_t`.

>>> import gradwright as gw
>>> gw.special.shifted_chebyshev_polynomial_v(gw.tensor([0.5, 1.0]), 2)
tensor([-1.,  1.])
"""
chebyshev_polynomial_w, shifted_chebyshev_polynomial_w = _chebyshev("w")
chebyshev_polynomial_w.__doc__ = """\
W_n(x) = sin((n + 1/2) t) / sin(t/2), x = cos t: U_n + U_n-1.

Arguments and errors are those of `chebyshev_polynomial_t`.

>>> import gradwright as gw
>>> gw.special.chebyshev_polynomial_w(gw.tensor([0.5, 2.0]), 2)
tensor([ 1., 19.])
"""
shifted_chebyshev_polynomial_w.__doc__ = """\
W_n(2 x - 1), for 0 <= x <= 1; arguments and errors are those of `chebyshev_polynomial_t`.

>>> import gradwright as gw
>>> gw.special.shifted_chebyshev_polynomial_w(gw.tensor([0.5, 1.0]), 2)
tensor([-1.,  5.])
"""
hermite_polynomial_h = _polynomial("hermite_polynomial_h", _plain(_special.hermite_h))
hermite_polynomial_h.__doc__ = """\
Hermite polynomial of the physicists, H_n+1 = 2 x H_n - 2 n H_n-1 from 1 and 2 x; dH_n/dx = 2 n H_n-1.

Arguments and errors are those of `chebyshev_polynomial_t`.

>>> import gradwright as gw
>>> gw.special.hermite_polynomial_h(gw.tensor([0.0, 1.0]), 2)
tensor([-2.,  2.])
"""
hermite_polynomial_he = _polynomial("hermite_polynomial_he", _plain(_special.hermite_he))
hermite_polynomial_he.__doc__ = """\
Hermite polynomial of the probabilists, He_n+1 = x He_n - n He_n-1 from 1 and x; dHe_n/dx = n He_n-1.

Arguments and errors are those of `chebyshev_polynomial_t`.

>>> import gradwright as gw
>>> gw.special.hermite_polynomial_he(gw.tensor([0.0, 1.0]), 2)
tensor([-1.,  0.])
"""
laguerre_polynomial_l = _polynomial("laguerre_polynomial_l", _plain(_special.laguerre, alpha=0.0))
laguerre_polynomial_l.__doc__ = """\
Laguerre polynomial, (n + 1) L_n+1 = (2 n + 1 - x) L_n - n L_n-1 from 1 and 1 - x.

Arguments and errors are those of `chebyshev_polynomial_t`.

>>> import gradwright as gw
>>> gw.special.laguerre_polynomial_l(gw.tensor([0.0, 1.0]), 2)
tensor([ 1.0000, -0.5000])
"""
legendre_polynomial_p = _polynomial("legendre_polynomial_p", _plain(_special.gegenbauer, alpha=0.5))
legendre_polynomial_p.__doc__ = """\
Legendre polynomial, (n + 1) P_n+1 = (2 n + 1) x P_n - n P_n-1 from 1 and x.

Arguments and errors are those of `chebyshev_polynomial_t`.

>>> import gradwright as gw
>>> gw.special.legendre_polynomial_p(gw.tensor([0.5, 1.0]), 2)
tensor([-0.1250,  1.0000])
"""
