"""Special functions. `xp.special` has SciPy's; a derivative that needs another special function uses its operation."""

from __future__ import annotations

import math

from gradwright.ops.declare import A, Sample, builtin
from gradwright.ops.piecewise import unless

_REAL = [Sample(A(3, 4)), Sample(A())]
_POSITIVE = [Sample(A(3, 4, low=0.3, high=3.0)), Sample(A(low=0.5))]
_INSIDE = [Sample(A(3, 4, low=0.1, high=0.9))]


# The error function and the normal distribution.


@builtin(kind="elementwise", node="ErfBackward0", samples=_REAL)
def erf(xp, x):
    """Error function, y = 2/sqrt(pi) times the integral of exp(-t**2) from 0 to x."""
    return xp.special.erf(x)


erf.vjp(x=lambda xp, g, x: g * (2 / math.sqrt(math.pi) * xp.exp(-(x * x))))


@builtin(kind="elementwise", node="ErfcBackward0", samples=_REAL)
def erfc(xp, x):
    """1 - erf x, without cancellation for large x."""
    return xp.special.erfc(x)


erfc.vjp(x=lambda xp, g, x: g * (-2 / math.sqrt(math.pi) * xp.exp(-(x * x))))


@builtin(kind="elementwise", node="SpecialErfcxBackward0", samples=_REAL)
def erfcx(xp, x):
    """exp(x**2) erfc x, dy/dx = 2 x y - 2/sqrt(pi)."""
    return xp.special.erfcx(x)


@builtin(kind="elementwise", samples=[Sample(A(3, 4), n=1), Sample(A(3, 4, low=0.5, high=9.0), n=2)])
def erfcx_integral(xp, x, *, n):
    """y_n, exp(x**2) times the n-th integral of erfc from x to infinity; dy_n/dx = -2 (n + 1) y_(n+1).

    2 n y_n = y_(n-2) - 2 x y_(n-1), from y_-1 = 2/sqrt(pi); beyond 1.5, where that cancels, by y_n/y_(n-1) from afar.
    """
    before, y = 2 / math.sqrt(math.pi), xp.special.erfcx(x)
    near, far, z = y, y, xp.maximum(x, xp.zero(x) + 1.5)
    for k in range(1, n + 1):
        before, near = near, (before - 2 * x * near) * (0.5 / k)
    if not xp.may_hold(x > 1.5, often=True):
        return near
    ratio = 1 / (z + xp.sqrt(z + 160 / z) * xp.sqrt(z))
    for k in range(78, 0, -1):
        ratio = 0.5 / (z + (k + 1) * ratio)
        far = far * ratio if k <= n else far
    return xp.where(x > 1.5, far, near)


erfcx_integral.vjp(x=lambda xp, g, x, n: g * (-2 * (n + 1) * erfcx_integral(x, n=n + 1)))
erfcx.vjp(x=lambda xp, g, x: g * (-2 * erfcx_integral(x, n=1)))


@builtin(kind="elementwise", node="ErfinvBackward0", samples=[Sample(A(3, 4, low=-0.9, high=0.9))], remade=True)
def erfinv(xp, x):
    """The y with erf y = x, dy/dx = sqrt(pi)/2 exp(y**2); infinite at -1 and 1, NaN beyond."""
    return xp.special.erfinv(x)


erfinv.vjp(x=lambda xp, g, x, out: g * (math.sqrt(math.pi) / 2 * xp.exp(out * out)))


@builtin(kind="elementwise", node="SpecialNdtrBackward0", samples=_REAL)
def ndtr(xp, x):
    """The share of the standard normal distribution that lies below x."""
    return xp.special.ndtr(x)


ndtr.vjp(x=lambda xp, g, x: g * (math.sqrt(0.5 / math.pi) * xp.exp(-0.5 * (x * x))))


@builtin(kind="elementwise", node="SpecialNdtriBackward0", samples=_INSIDE)
def ndtri(xp, x):
    """The y with ndtr y = x, dy/dx = sqrt(2 pi) exp(y**2/2); infinite at 0 and 1, NaN beyond."""
    return xp.special.ndtri(x)


ndtri.vjp(x=lambda xp, g, out: g * (math.sqrt(2 * math.pi) * xp.exp(0.5 * (out * out))))


@builtin(kind="elementwise", node="SpecialLogNdtrBackward0", samples=_REAL)
def log_ndtr(xp, x):
    """log ndtr x, without underflow for very negative x."""
    return xp.special.log_ndtr(x)


@builtin(kind="elementwise", samples=_REAL)
def inverse_mills(xp, x):
    """Density over share of the normal distribution, the slope of `log_ndtr`; dy/dx = -y (x + y), 0 far above."""
    return math.sqrt(2 / math.pi) / xp.special.erfcx(x * -math.sqrt(0.5))


def _inverse_mills_slope(xp, g, x, out):
    t = xp.maximum(x * -math.sqrt(0.5), xp.zero(x))
    gap = xp.where(x < -1, math.sqrt(2) * erfcx_integral(t, n=1) / erfcx(t), x + out)  # is x + out
    return g * (-out * gap)


inverse_mills.vjp(x=_inverse_mills_slope)
log_ndtr.vjp(x=lambda xp, g, x: g * inverse_mills(x))


# Gamma and zeta functions.


@builtin(kind="elementwise", node="PolygammaBackward0",
         samples=[Sample(A(3, 4, low=0.5, high=3.0), n=n) for n in (0, 1, 3)]
         + [Sample(A(2, low=-0.9, high=-0.1), n=2)])  # fmt: skip
def polygamma(xp, x, *, n):
    """The n-th derivative of `digamma`: (-1)**(n+1) n! zeta(n + 1, x)."""
    if n == 0:
        return xp.special.psi(x)
    return xp.special.zeta(n + 1.0, x) * ((-1.0) ** (n + 1) * math.factorial(n))


polygamma.vjp(x=lambda xp, g, x, n: g * polygamma(x, n=n + 1))


@builtin(kind="elementwise", node="DigammaBackward0", samples=_POSITIVE)
def digamma(xp, x):
    """Derivative of log Gamma(x); poles at 0, -1, -2, ..."""
    return xp.special.psi(x)


digamma.vjp(x=lambda xp, g, x: g * polygamma(x, n=1))


@builtin(kind="elementwise", node="LgammaBackward0", samples=_POSITIVE)
def lgamma(xp, x):
    """Logarithm of |Gamma(x)|, dy/dx = digamma x; infinite at 0, -1, -2, ..."""
    return xp.where(xp.isinf(x), xp.abs(x), xp.special.gammaln(x))


lgamma.vjp(x=lambda xp, g, x: g * digamma(x))

_ORDERS = [Sample(A(3, 4, low=1.5, high=3.0), A(3, 4, low=0.5)), Sample(A(3, 1, low=1.5, high=3.0), A(2, low=0.5))]


@builtin(kind="elementwise", node="SpecialZetaBackward0", samples=_ORDERS)
def zeta(xp, x, y):
    """Hurwitz zeta function, the sum of (k + y)**-x over k = 0, 1, ...; differentiable in y."""
    return xp.special.zeta(x, y)


zeta.vjp(y=lambda xp, g, x, y: g * (-x * zeta(x + 1, y)))


@builtin(kind="elementwise", node="IgammaBackward0", samples=_ORDERS)
def igamma(xp, x, y):
    """Regularised lower incomplete gamma function P(x, y); differentiable in y."""
    return xp.special.gammainc(x, y)


@builtin(kind="elementwise", node="IgammacBackward0", samples=_ORDERS)
def igammac(xp, x, y):
    """Regularised upper incomplete gamma function Q(x, y) = 1 - P(x, y); differentiable in y."""
    return xp.special.gammaincc(x, y)


def _gamma_density(xp, x, y):
    return xp.exp(xlogy(x - 1, y) - y - lgamma(x))


igamma.vjp(y=lambda xp, g, x, y: g * _gamma_density(xp, x, y))
igammac.vjp(y=lambda xp, g, x, y: -g * _gamma_density(xp, x, y))


# Logarithms and what goes with them.

_PAIR = [Sample(A(3, 4), A(3, 4, low=0.5)), Sample(A(3, 1), A(2, low=0.5))]


@builtin(kind="elementwise", node="XlogyBackward0", samples=_PAIR)
def xlogy(xp, x, y):
    """x log y; 0 where x = 0, unless y is NaN."""
    return unless(xp, (x == 0) & (y == y), x * xp.log(y))


@builtin(kind="elementwise", node="SpecialXlog1PyBackward0", samples=_PAIR)
def xlog1py(xp, x, y):
    """x log(1 + y); 0 where x = 0, unless y is NaN."""
    return unless(xp, (x == 0) & (y == y), x * xp.log1p(y))


xlogy.shared(flat=lambda xp, g, x, y: (x == 0) & (y <= 0))
xlogy.vjp(
    x=lambda xp, g, y, flat: xlogy(g, xp.where(flat, xp.zero(y) + 1, y)),
    y=lambda xp, g, x, y, flat: g * x / xp.where(flat, xp.zero(y) + math.inf, y),
)
xlog1py.shared(flat=lambda xp, g, x, y: (x == 0) & (y <= -1))
xlog1py.vjp(
    x=lambda xp, g, y, flat: xlog1py(g, unless(xp, flat, y)),
    y=lambda xp, g, x, y, flat: g * x / (xp.where(flat, xp.zero(y) + math.inf, y) + 1),
)


@builtin(kind="elementwise", node="SpecialEntrBackward0", samples=_POSITIVE)
def entr(xp, x):
    """-x log x, dy/dx = -1 - log x; 0 at 0, -inf below."""
    return xp.where(x < 0, xp.ones_like(x) * -math.inf, -unless(xp, x == 0, x * xp.log(x)))


entr.vjp(x=lambda xp, g, x: g * (-1 - xp.log(x)))


@builtin(kind="elementwise", node="LogitBackward0",
         samples=[Sample(A(3, 4, low=0.1, high=0.9), eps=None),
                  Sample(A(3, 4, low=0, high=1, avoid=[0.2, 0.8]), eps=0.2)])  # fmt: skip
def logit(xp, x, *, eps):
    """log(x / (1 - x)), of x kept between ``eps`` and 1 - eps, with slope 0 outside; without ``eps`` NaN there."""
    x = x if eps is None else xp.clip(x, eps, 1 - eps)
    return xp.log(x / (1 - x))


def _logit_slope(xp, g, x, eps):
    low = 0 if eps is None else eps
    outside = xp.zero(g) if eps is not None else xp.zero(g) + math.nan
    inside = (x >= low) & (x <= 1 - low)
    x = xp.where(inside, x, xp.zero(x) + 0.5)
    return xp.where(inside, g / (x * (1 - x)), outside)


logit.vjp(x=_logit_slope)


# Bessel functions of whole order. Each derivative is made of the orders before and after.


def _bessel(letter, scaled=""):
    def evaluate(xp, x, order):
        if order < 2:
            return getattr(xp.special, f"{letter}{order}{scaled}")(x)
        return getattr(xp.special, f"{letter}v{scaled}")(float(order), x)

    return evaluate


_j, _y, _i, _k, _ke, _moderate_ie = (_bessel(*n) for n in ("j", "y", "i", "k", "ke", "ie"))


def _ie(xp, x, order):
    """Beyond 1e8, where orders above 1 may be NaN, the first two terms of the expansion in 1/x."""
    if order < 2:
        return _moderate_ie(xp, x, order)
    a = xp.abs(x)
    far = a > 1e8
    beyond = xp.special.i0e(x) * (1 - order * order / (2 * a)) * (xp.sign(x) if order % 2 else 1)
    return xp.where(far, beyond, _moderate_ie(xp, unless(xp, far, x), order))


_ALL_ORDERS = [Sample(A(3, 4, avoid=[0.0]), order=n) for n in (0, 1, 2)]
_RIGHT = [Sample(A(3, 4, low=0.5), order=n) for n in (0, 1, 2)]


@builtin(kind="elementwise", samples=_ALL_ORDERS)
def bessel_j(xp, x, *, order=0):
    """Bessel function of the first kind."""
    return _j(xp, x, order)


@builtin(kind="elementwise", samples=_RIGHT)
def bessel_y(xp, x, *, order=0):
    """Bessel function of the second kind; -inf at 0, NaN below."""
    return _y(xp, x, order)


@builtin(kind="elementwise", samples=_ALL_ORDERS)
def bessel_i(xp, x, *, order=0):
    """Modified Bessel function of the first kind."""
    return _i(xp, x, order)


@builtin(kind="elementwise", samples=_RIGHT)
def bessel_k(xp, x, *, order=0):
    """Modified Bessel function of the second kind; infinite at 0, NaN below."""
    if order < 2:
        return _k(xp, x, order)
    before, k = _k(xp, x, 0), _k(xp, x, 1)  # SciPy's of more are 0 from 698 on
    for n in range(1, order):
        before, k = k, before + 2 * n / x * k
    return k


@builtin(kind="elementwise", samples=_ALL_ORDERS)
def bessel_ie(xp, x, *, order=0):
    """exp(-|x|) times `bessel_i`; the slope of |x| at the kink x = 0 is taken as 0."""
    return _ie(xp, x, order)


@builtin(kind="elementwise", samples=_RIGHT)
def bessel_ke(xp, x, *, order=0):
    """exp(x) times `bessel_k`."""
    return _ke(xp, x, order)


def _neighbours(f, before, after):
    """The derivative of order n, (before f[n-1] + after f[n+1])/2, in which f[-1] = before after f[1]."""

    def slope(x, order):
        above = f(x, order=order + 1)
        return after * above if order == 0 else (before * f(x, order=order - 1) + after * above) * 0.5

    return slope


_j_slope, _y_slope = _neighbours(bessel_j, 1, -1), _neighbours(bessel_y, 1, -1)
_i_slope, _ie_slope = _neighbours(bessel_i, 1, 1), _neighbours(bessel_ie, 1, 1)
_k_slope, _ke_slope = _neighbours(bessel_k, -1, -1), _neighbours(bessel_ke, -1, -1)
bessel_j.vjp(x=lambda xp, g, x, order: g * _j_slope(x, order))
bessel_y.vjp(x=lambda xp, g, x, order: g * _y_slope(x, order))
bessel_i.vjp(x=lambda xp, g, x, order: g * _i_slope(x, order))
bessel_k.vjp(x=lambda xp, g, x, order: g * _k_slope(x, order))
bessel_ie.vjp(x=lambda xp, g, x, out, order: g * (_ie_slope(x, order) - xp.sign(x) * out))
bessel_ke.vjp(x=lambda xp, g, x, out, order: g * (_ke_slope(x, order) + out))


@builtin(complex="holomorphic", kind="elementwise", samples=[Sample(A(3, 4), order=n) for n in (0, 1, 2)])
def spherical_bessel_j(xp, x, *, order=0):
    """Spherical Bessel function of the first kind; of order 0, sin x / x."""
    return xp.special.spherical_jn(order, x)


def _spherical_slope(xp, g, x, order):
    above = spherical_bessel_j(x, order=order + 1)
    if order == 0:
        return -g * above
    return g * ((order * spherical_bessel_j(x, order=order - 1) - (order + 1) * above) * (1 / (2 * order + 1)))


spherical_bessel_j.vjp(x=_spherical_slope)


@builtin(complex="holomorphic", kind="elementwise", node="SincBackward0", samples=[*_REAL, Sample(A(3, complex=True))])
def sinc(xp, x):
    """sin(pi x) / (pi x), and 1 at 0."""
    angle = math.pi * xp.where(x == 0, xp.ones_like(x), x)
    return xp.where(x == 0, xp.ones_like(x), xp.sin(angle) / angle)


sinc.vjp(x=lambda xp, g, x: g * (-math.pi * spherical_bessel_j(x * math.pi, order=1)))


@builtin(kind="elementwise", samples=[Sample(A(3, 4), derivative=0), Sample(A(3, 4), derivative=1)])
def airy_ai(xp, x, *, derivative=0):
    """Airy function Ai, or its first derivative; the second is x Ai(x)."""
    return xp.special.airy(x)[derivative]


airy_ai.vjp(
    x=lambda xp, g, x, derivative: g * (x * airy_ai(x, derivative=0) if derivative else airy_ai(x, derivative=1))
)


# Orthogonal polynomials of degree n, an array of whole numbers; 0 where n < 0.


def _polynomial(xp, name, x, n, *parameters):
    y = getattr(xp.special, f"eval_{name}")(n, *parameters, x)
    return xp.where(n < 0, xp.zeros_like(y), y)


_N = A(values=[0, 1, 2, 5])
_DEGREES = [Sample(A(3, 4), _N), Sample(A(), _N)]


@builtin(kind="elementwise", samples=_DEGREES)
def chebyshev_t(xp, x, n):
    """Chebyshev polynomial of the first kind."""
    return _polynomial(xp, "chebyt", x, n)


@builtin(kind="elementwise", samples=_DEGREES)
def hermite_h(xp, x, n):
    """Hermite polynomial of the physicists."""
    return _polynomial(xp, "hermite", x, n)


@builtin(kind="elementwise", samples=_DEGREES)
def hermite_he(xp, x, n):
    """Hermite polynomial of the probabilists."""
    return _polynomial(xp, "hermitenorm", x, n)


@builtin(kind="elementwise", samples=[Sample(A(3, 4), _N, alpha=0.5), Sample(A(3, 4), _N, alpha=1.0)])
def gegenbauer(xp, x, n, *, alpha):
    """Gegenbauer polynomial: Legendre's for alpha = 1/2, Chebyshev's of the second kind for alpha = 1."""
    return _polynomial(xp, "gegenbauer", x, n, alpha)


@builtin(kind="elementwise", samples=[Sample(A(3, 4), _N, alpha=0.0)])
def laguerre(xp, x, n, *, alpha):
    """Laguerre polynomial, associated unless alpha = 0."""
    return _polynomial(xp, "genlaguerre", x, n, alpha)


chebyshev_t.vjp(x=lambda xp, g, x, n: g * xp.astype(n, x.dtype) * gegenbauer(x, n - 1, alpha=1.0))
hermite_h.vjp(x=lambda xp, g, x, n: g * xp.astype(2 * n, x.dtype) * hermite_h(x, n - 1))
hermite_he.vjp(x=lambda xp, g, x, n: g * xp.astype(n, x.dtype) * hermite_he(x, n - 1))
gegenbauer.vjp(x=lambda xp, g, x, n, alpha: g * (2 * alpha * gegenbauer(x, n - 1, alpha=alpha + 1)))
laguerre.vjp(x=lambda xp, g, x, n, alpha: -g * laguerre(x, n - 1, alpha=alpha + 1))
