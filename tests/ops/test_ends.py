"""First and second derivatives at the ends of domains: infinities, zeros, and what a square of overflows."""

import math
from typing import Any

import numpy as np
import pytest

import gradwright as gw

INF = math.inf
HALF = 0.5**0.5


def push(f: Any) -> Any:
    return lambda s: gw.func.jvp(f, (s,), (gw.ones_like(s),))[1]


def graph(f: Any, x: Any, order: int) -> Any:
    x = x.clone().requires_grad_()
    y = f(x)
    for _ in range(order):
        (y,) = gw.autograd.grad(y.sum(), x, create_graph=True)
    return y.detach()


def summed(f: Any) -> Any:
    return lambda s: f(s).sum()


WAYS: dict[str, tuple[Any, Any]] = {
    "graph": (lambda f, x: graph(f, x, 1), lambda f, x: graph(f, x, 2)),
    "grad": (lambda f, x: gw.func.grad(summed(f))(x), lambda f, x: gw.func.grad(summed(gw.func.grad(summed(f))))(x)),
    "jvp": (lambda f, x: push(f)(x), lambda f, x: push(push(f))(x)),
    "jvp of grad": (lambda f, x: gw.func.grad(summed(f))(x), lambda f, x: push(gw.func.grad(summed(f)))(x)),
    "vmap": (lambda f, x: gw.func.vmap(gw.func.grad(summed(f)))(x[None])[0],
             lambda f, x: gw.func.vmap(gw.func.grad(summed(gw.func.grad(summed(f)))))(x[None])[0]),
    "compiled": (lambda f, x: graph(gw.compile(f), x, 1), lambda f, x: graph(f, x, 2)),
}  # fmt: skip


def xx(f: Any) -> Any:
    """A function of two as one of a tensor of two, so that second derivatives have their mixed part."""
    return lambda s: f(s[0], s[1])


# Function, point, first derivatives, row sums of the second ones.
ROWS: list[tuple[str, Any, list[float], list[float], list[float]]] = [
    ("logsumexp of -inf", lambda s: gw.logsumexp(s, 0), [-INF] * 3, [0, 0, 0], [0, 0, 0]),
    ("logsumexp of some -inf", lambda s: gw.logsumexp(s, 0), [-INF, 1, 1], [0, 0.5, 0.5], [0, 0, 0]),
    ("logaddexp of -inf", xx(gw.logaddexp), [-INF, -INF], [0, 0], [0, 0]),
    ("logaddexp of one -inf", xx(gw.logaddexp), [-INF, 2], [0, 1], [0, 0]),
    ("logaddexp2 of -inf", xx(gw.logaddexp2), [-INF, -INF], [0, 0], [0, 0]),
    ("logaddexp far apart", xx(gw.logaddexp), [0, 1000], [0, 1], [0, 0]),
    ("logaddexp far apart, the other way", xx(gw.logaddexp), [1000, 0], [1, 0], [0, 0]),
    ("logaddexp with 0, far below", lambda s: gw.logaddexp(s, gw.zeros_like(s)), [-1000], [0], [0]),
    ("logcumsumexp of -inf", lambda s: gw.logcumsumexp(s, 0), [-INF] * 3, [0, 0, 0], [0, 0, 0]),
    ("logcumsumexp from -inf on", lambda s: gw.logcumsumexp(s, 0), [-INF, -INF, 1, 1], [0, 0, 1.5, 0.5], [0] * 4),
    ("xlogy at the origin", xx(gw.xlogy), [0, 0], [0, 0], [0, 0]),
    ("xlogy at 0", xx(gw.xlogy), [0, 4], [math.log(4), 0], [0.25, 0.25]),
    ("xlogy at 1", xx(gw.xlogy), [2, 4], [math.log(4), 0.5], [0.25, 0.25 - 2 / 16]),
    ("xlog1py at its pole", xx(gw.special.xlog1py), [0, -1], [0, 0], [0, 0]),
    ("pow, 0**0", xx(gw.pow), [0, 0], [0, 0], [0, 0]),
    ("pow, 0**2", xx(gw.pow), [0, 2], [0, 0], [2, 0]),
    ("pow, 0**1, by the base", lambda s: gw.pow(s, gw.ones_like(s)), [0], [1], [0]),
    ("pow, 3**0", xx(gw.pow), [3, 0], [0, math.log(3)], [1 / 3, 1 / 3 + math.log(3) ** 2]),
    ("log_ndtr far above", gw.special.log_ndtr, [14, 40, 100], [0, 0, 0], [0, 0, 0]),
    ("atan2 at the origin", xx(gw.atan2), [0, 0], [0, 0], [0, 0]),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "f", "at", "first", "second"), ROWS, ids=[r[0] for r in ROWS])
def test_infinities_and_zeros(name: str, f: Any, at: Any, first: Any, second: Any, dtype: str, way: str) -> None:
    if way == "jvp":  # along ones: what it gives are sums of these
        first, second = ([sum(d)] if len(at) > 1 and "cum" not in name else d for d in (first, second))
    x = gw.tensor(at, dtype=getattr(gw, dtype))
    one, two = (g(f, x).numpy().reshape(-1) for g in WAYS[way])
    if way == "jvp" and ("cum" in name or name.startswith("log_ndtr")):
        first, second, one, two = (np.sum(d) for d in (first, second, one, two))
    tolerance = {"rtol": 3e-6, "atol": 2e-7 if abs(np.max(first)) > 1e-3 else 1e-40}
    np.testing.assert_allclose(one, first, **tolerance)
    np.testing.assert_allclose(two, second, **tolerance)


# Lengths of a number and that number's like, first derivative, second derivative times the number.
LENGTHS: dict[str, tuple[Any, float, float]] = {
    "hypot": (gw.hypot, HALF, 0.5 * HALF),
    "abs": (lambda s, like: gw.abs(gw.complex(s, like)), HALF, 0.5 * HALF),
    "vector_norm": (lambda s, like: gw.linalg.vector_norm(gw.stack([s, like]), dim=0), HALF, 0.5 * HALF),
    "norm of order 3": (lambda s, like: gw.norm(gw.stack([s, like]), 3, 0), 0.5 ** (2 / 3), 0.5 ** (2 / 3)),
    "std": (lambda s, like: gw.std(gw.stack([s, -like, s * 0]), 0, correction=0), 6**-0.5, 6**-1.5),
    "nuclear norm": (lambda s, like: gw.linalg.matrix_norm(gw.stack([s, like, s * 0, like]).reshape(2, 2), "nuc"),
                     2 * 5**-0.5, 5**-1.5),
}  # fmt: skip

# Function of a number and that number's like, first derivative times it, second derivative times its square.
LARGE: list[tuple[str, Any, float, float]] = [
    ("asinh", lambda s, big: gw.asinh(s), 1, -1),
    ("asinh of a negative", lambda s, big: gw.asinh(-s), -1, 1),
    ("acosh", lambda s, big: gw.acosh(s), 1, -1),
    ("atan2 by the first", gw.atan2, 0.5, -0.5),
    ("atan2 by the second", lambda s, big: gw.atan2(big, s), -0.5, 0.5),
    ("angle", lambda s, big: gw.angle(gw.complex(s, big)), -0.5, 0.5),
    ("log", lambda s, big: gw.log(gw.complex(s, big)).real, 0.5, 0.0),
    ("asinh of complex", lambda s, big: gw.asinh(gw.complex(s, big)).real, 0.5, 0.0),
    ("acosh of complex", lambda s, big: gw.acosh(gw.complex(s, big)).real, 0.5, 0.0),
    ("asin of complex", lambda s, big: gw.asin(gw.complex(s, big)).imag, 0.5, 0.0),
    ("acos of complex", lambda s, big: gw.acos(gw.complex(s, big)).imag, -0.5, 0.0),
    *((n, lambda s, big, f=f: f(s, big) / big, one, two) for n, (f, one, two) in LENGTHS.items()),
    ("normalize", lambda s, big: gw.nn.functional.normalize(gw.stack([s, big]), dim=0)[0], HALF**3, -3 * HALF**5),
    ("cosine", lambda s, big: gw.cosine_similarity(gw.stack([s, big]), gw.stack([s * 0 + 1, s * 0]), 0), HALF**3,
     -3 * HALF**5),
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("dtype", "large"), [("float32", 1e22), ("float64", 1e160)])
@pytest.mark.parametrize(("name", "f", "first", "second"), LARGE, ids=[r[0] for r in LARGE])
def test_what_a_square_of_overflows(name: str, f: Any, first: float, second: float, dtype: str, large: float,
                                    way: str) -> None:  # fmt: skip
    x = gw.tensor([large], dtype=getattr(gw, dtype))
    one, two = (g(lambda s: f(s, gw.full_like(s, large)), x).item() for g in WAYS[way])
    assert one * large == pytest.approx(first, rel=1e-5)
    assert two == pytest.approx(second / large / large, abs=1e-35)  # which may be less than the dtype has


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("dtype", "small"), [("float32", 1e-30), ("float64", 1e-200)])
@pytest.mark.parametrize("name", LENGTHS)
def test_what_a_square_of_underflows(name: str, dtype: str, small: float, way: str) -> None:
    f, first, second = LENGTHS[name]
    x = gw.tensor([small], dtype=getattr(gw, dtype))
    one, two = (g(lambda s: f(s, gw.full_like(s, small)), x).item() for g in WAYS[way])
    assert one == pytest.approx(first, rel=1e-5)
    assert two * small == pytest.approx(second, rel=1e-5)


@pytest.mark.parametrize(("dtype", "small"), [("float32", 1e-25), ("float64", 1e-170)])
def test_angles_of_what_a_square_of_underflows(dtype: str, small: float) -> None:
    x, y = (gw.tensor(small, dtype=getattr(gw, dtype), requires_grad=True) for _ in range(2))
    for z in (gw.atan2(x, y), gw.angle(gw.complex(y, x))):
        slopes = gw.autograd.grad(z, (x, y))
        assert [s.item() * small for s in slopes] == pytest.approx([0.5, -0.5], rel=1e-5)


@pytest.mark.parametrize("p", [2, 3, 4, 0.5, 1, -1, -2, -3.5, INF, -INF])
@pytest.mark.parametrize(("dtype", "largest"), [("float32", 126), ("float64", 1020)])
def test_norms_are_homogeneous(p: float, dtype: str, largest: int) -> None:
    """That of 2**k x is 2**k that of x, and its slope the same, over all of the range; along one dim and over all."""
    at = np.array([[3.0, -4.0], [0.0, 2.0], [1.0, 1e-3]])
    for complex in (False, True):
        for dim in (1, None):
            want: Any = None
            for k in [0, *range(-largest + 10, largest - 4, largest // 8)]:
                scale = 2.0**k
                x = gw.tensor((at + 1j * at[::-1] if complex else at) * scale, dtype=getattr(gw, dtype).to_complex()
                              if complex else getattr(gw, dtype), requires_grad=True)  # fmt: skip
                norms = gw.linalg.vector_norm(x, p, dim=dim)
                (slope,) = gw.autograd.grad(norms.sum(), x)
                found = norms.detach().numpy() / scale, slope.numpy()
                want = want or found
                for a, b in zip(found, want, strict=True):
                    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6, err_msg=f"2**{k}")


# Function, point, first and second derivative.
FAR: list[tuple[str, Any, list[float], list[float], list[float]]] = [
    ("log_ndtr", gw.special.log_ndtr, [-40, -700, -1e5], [40.0249688, 700.0014286, 1e5], [-0.9993774, -0.999998, -1]),
    ("erfcx", gw.special.erfcx, [1e3, 1e6], [-5.6418873854e-7, -5.6418958e-13], [1.1283758241e-9, 1.1283792e-18]),
    ("gelu", lambda s: gw.nn.functional.gelu(s, approximate="tanh"), [-1e30, -INF, 1e30, INF], [0, 0, 1, 1], [0] * 4),
    ("logit", lambda s: gw.logit(s, eps=0.1), [0, 1, -5, 0.5], [0, 0, 0, 4], [0] * 4),
    ("hypot", lambda s: gw.hypot(s, gw.ones_like(s)), [1e6, -1e8], [1, -1], [1e-18, 1e-24]),
]


@pytest.mark.parametrize("way", [w for w in WAYS if w != "jvp"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "f", "at", "first", "second"), FAR, ids=[r[0] for r in FAR])
def test_far_out(name: str, f: Any, at: Any, first: Any, second: Any, dtype: str, way: str) -> None:
    one, two = (g(f, gw.tensor(at, dtype=getattr(gw, dtype))).numpy() for g in WAYS[way])
    np.testing.assert_allclose(one, first, rtol=1e-6)
    np.testing.assert_allclose(two, second, rtol=1e-6)


def test_softsign_far_away() -> None:
    for dtype, far in (("float32", 1e18), ("float64", 1e150)):
        x = gw.tensor([far, -far, 1e9], dtype=getattr(gw, dtype), requires_grad=True)
        (one,) = gw.autograd.grad(gw.nn.functional.softsign(x).sum(), x, create_graph=True)
        np.testing.assert_allclose(one.detach().numpy(), [far**-2, far**-2, 1e-18], rtol=1e-6)
        (two,) = gw.autograd.grad(one[2], x)
        assert two[2].item() == pytest.approx(-2e-27, rel=1e-6)


@pytest.mark.parametrize("name", ["asin", "acos", "atan", "asinh", "acosh", "atanh"])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_inverse_functions_in_every_quadrant(name: str, dtype: str) -> None:
    """Against central differences of NumPy's function, on both sides of the branch cuts."""
    z = np.array([a * x + b * 1j * y for a in (1, -1) for b in (1, -1) for x in (0.3, 2.0, 30.0) for y in (0.1, 1.7)])
    numpy_s, h = getattr(np, {"asin": "arcsin", "acos": "arccos"}.get(name, "arc" + name[1:])), 1e-4
    first = (numpy_s(z + h) - numpy_s(z - h)) / (2 * h)
    second = (numpy_s(z + h) - 2 * numpy_s(z) + numpy_s(z - h)) / h**2
    x = gw.tensor(z, dtype=getattr(gw, dtype), requires_grad=True)
    (one,) = gw.autograd.grad(getattr(gw, name)(x).real.sum(), x, create_graph=True)
    (two,) = gw.autograd.grad(one.real.sum(), x)
    np.testing.assert_allclose(one.detach().numpy(), first.conj(), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(two.numpy(), second.conj(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["xlogy", "pow", "atan2", "hypot", "logaddexp"])
def test_first_derivatives_are_those_of_pytorch_where_these_are_numbers(torch: Any, name: str) -> None:
    ends = [0.0, 1.0, -1.0, 0.5, 2.0, INF, -INF, math.nan]
    for a in ends:
        for b in ends:
            slopes = []
            for lib in (torch, gw):
                xs = [lib.tensor(v, dtype=lib.float64, requires_grad=True) for v in (a, b)]
                slopes.append(lib.autograd.grad(getattr(lib, name)(*xs), xs))
            for ours, theirs in zip(slopes[1], slopes[0], strict=True):
                if not math.isnan(theirs.item()):
                    assert ours.item() == pytest.approx(theirs.item(), rel=1e-12), (a, b)


def test_the_sum_of_exponentials_may_be_written_in_place() -> None:
    """The derivative names the result; it is computed again where that was written to."""
    x, y = (gw.tensor([v, -INF], requires_grad=True) for v in (0.0, 1.0))
    gw.logaddexp(x, y).relu_().sum().backward()
    np.testing.assert_allclose(x.grad, [1 / (1 + math.e), 0], rtol=1e-6)
