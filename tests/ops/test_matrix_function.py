"""Divided differences against formulas in more digits; the operation to third order, at equal eigenvalues."""

from decimal import Decimal, localcontext
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradwright as gw
from gradwright.backends import namespace, strict
from gradwright.ops.decompose import eigh
from gradwright.ops.matrix_function import _divided, matrix_function
from gradwright.verify.testing.derivatives import leaf

XP = namespace(np.zeros(()))
GAPS = st.one_of(st.just(0.0), st.floats(-17, 0.5).map(lambda e: 10.0**e))


def exp(x: Any, order: int) -> Any:
    return namespace(x).exp(x)


def sqrt(x: Any, order: int) -> Any:
    factors = [1.0, 0.5, -0.25, 0.375]
    return factors[order] * namespace(x).sqrt(x) / x**order


def cube(x: Any, order: int) -> Any:
    return [x**3, 3 * x**2, 6 * x, 6 + 0 * x][order]


def step(x: Any, order: int) -> Any:
    return (x > 0.5) * 1.0 if not order else 0 * x


def exact(f: Any, points: list[float]) -> float:
    """The divided difference in 200 digits, of points moved apart by as little as 1e-40."""
    with localcontext() as context:
        context.prec = 200
        places = [Decimal(p) + Decimal(i) * Decimal(10) ** -40 for i, p in enumerate(sorted(points))]
        table = [f(p) for p in places]
        for k in range(1, len(places)):
            table = [(b - a) / (places[i + k] - places[i]) for i, (a, b) in enumerate(pairwise(table))]
        return float(table[0])


TRUTHS = [(exp, lambda p: p.exp()), (sqrt, lambda p: p.sqrt()), (cube, lambda p: p**3)]


@pytest.mark.parametrize(("f", "truth"), TRUTHS, ids=["exp", "sqrt", "cube"])
@given(low=st.sampled_from([1e-3, 0.3, 1.0, 50.0]), gaps=st.lists(GAPS, min_size=1, max_size=3))
def test_divided_differences(f: Any, truth: Any, low: float, gaps: list[float]) -> None:
    points = [low, *(low + low * g for g in gaps)]
    found = _divided(XP, f, [np.asarray(p) for p in points])[0]
    wanted = exact(truth, points)
    scale = max(abs(exact(truth, [p] * len(points))) for p in points)
    assert abs(found - wanted) <= 10.0 ** (3 * len(gaps) - 16) * scale


@given(gap=GAPS)
def test_small_points_of_a_function_that_is_large_there(gap: float) -> None:
    """exp between 0 and next to 0: the quotient has lost everything."""
    found = _divided(XP, exp, [np.asarray(0.0), np.asarray(gap)])[0]
    assert abs(found - exact(lambda p: p.exp(), [0.0, gap])) <= 1e-13 * np.exp(gap)


@pytest.mark.parametrize(("a", "b"), [(0.0, 1.0), (0.4, 0.6), (0.5, 0.50001), (0.6, 0.7)])
def test_a_jump_is_seen(a: float, b: float) -> None:
    found = _divided(XP, step, [np.asarray(a), np.asarray(b)])[0]
    assert found == pytest.approx((b > 0.5) / (b - a) if a <= 0.5 else 0.0)


EQUAL = [[1.0, 1.0, 2.0], [1.0, 1.0, 1.0], [1.0, 1.0 + 1e-15, 1.0 + 1e-9], [0.5, 1.0, 2.0]]


def matrix(values: list[float], kind: str) -> Any:
    generator = np.random.default_rng(0)
    real, imag = generator.standard_normal((2, 2, 3, 3))
    q = np.linalg.qr(real + 1j * imag if kind == "complex128" else real)[0]
    return (q * np.array(values)) @ q.conj().swapaxes(-1, -2)


@pytest.mark.parametrize("kind", ["float64", "complex128"])
@pytest.mark.parametrize("values", EQUAL, ids=str)
def test_derivatives_to_third_order_are_those_of_matrix_exp(values: list[float], kind: str) -> None:
    """The exponential has a derivative that knows nothing of eigenvalues: a block of a larger exponential."""
    x = leaf(matrix(values, kind))
    generator = np.random.default_rng(1)
    ways = []
    for f in (lambda x: matrix_function(x, f=exp), gw.linalg.matrix_exp):
        y, found = f((x + x.mH) / 2), []
        for _ in range(3):
            w = generator.standard_normal((2, *x.shape))
            w = gw.tensor(w[0] + 1j * w[1] if kind == "complex128" else w[0])
            (y,) = gw.autograd.grad(((y * w).real if y.is_complex() else y * w).sum(), x, create_graph=True)
            found.append(y.detach().numpy())
        generator = np.random.default_rng(1)
        ways.append(found)
    for mine, other in zip(*ways, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_of_another_library_and_in_single_precision(order: int) -> None:
    x, a = matrix(EQUAL[0], "float64"), matrix([1.0, 2.0, 3.0], "float64")
    wanted = matrix_function(x, *[a] * order, f=exp)
    there = matrix_function(*map(strict.namespace.asarray, [x, *[a] * order]), f=exp)
    np.testing.assert_allclose(np.asarray(there), wanted, rtol=1e-12)
    single = matrix_function(*(m.astype(np.float32) for m in [x, *[a] * order]), f=exp)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, wanted, rtol=1e-3, atol=1e-3)


def test_any_basis_of_a_repeated_value_gives_the_same() -> None:
    """What eigh does not know, and the vectors of another basis, do not matter: f(x) of a polynomial is exact."""
    x, a = matrix(EQUAL[0], "float64"), matrix([1.0, 2.0, 3.0], "float64")
    np.testing.assert_allclose(matrix_function(x, a, f=cube), a @ x @ x + x @ a @ x + x @ x @ a, rtol=1e-12)
    assert eigh(x)[0].shape == (2, 3)
