from typing import Any

import numpy as np
import pytest

from gradwright.face.functions.algebra.products import _order


def numbers(*shape: int) -> Any:
    return np.random.standard_normal(shape)


def test_products(same: Any) -> None:
    x, y = numbers(3, 4), numbers(4)
    same(lambda t, x, y: [t.inner(x, y), t.kron(x, y), t.tensordot(x, y, ([1], [0]))], x, y, names=False)
    same(lambda t, x: [t.linalg.vander(x), t.linalg.vander(x, N=2)], x, names=False)
    same(lambda t, x: [t.vander(x), t.vander(x, 2), t.vander(x, 5, True), t.vander(x, 0)], y, order=0)
    same(lambda t, x, y: [t.linalg.cross(x, y), t.cross(x, y, dim=-1)], numbers(2, 3), numbers(2, 3), names=False)
    same(lambda t, x, y: t.linalg.vecdot(x, y, dim=0), numbers(3, 4), numbers(3, 1), names=False)
    same(lambda t, x, y: t.tensordot(x, y, 2), numbers(2, 3, 4), numbers(3, 4, 5), names=False)


@pytest.mark.parametrize("beta", [0, 1, 2.5])
def test_added_products(same: Any, beta: Any) -> None:
    x, a, b = numbers(3, 2), numbers(3, 4), numbers(4, 2)
    static = {"beta": beta, "alpha": 0.5}
    same(lambda t, x, a, b: [t.addmm(x, a, b, **static), x[:, 0].addmv(a, b[:, 0], **static)], x, a, b, names=False)
    same(lambda t, x, a, b: t.addr(x, a[:, 0], b[0], **static), x, a, b, names=False)
    x, a, b = numbers(1, 2), numbers(5, 3, 4), numbers(5, 4, 2)
    same(lambda t, x, a, b: [t.baddbmm(x, a, b, **static), t.addbmm(x, a, b, **static)], x, a, b, names=False)


def test_nan_is_left_out_with_beta_0(same: Any) -> None:
    same(lambda t, a: t.addmm(t.full((2, 2), float("nan"), dtype=t.float64), a, a, beta=0), numbers(2, 2), names=False)


def test_whole_numbers(same: Any) -> None:
    x = np.arange(4).reshape(2, 2)
    same(lambda t, x: [t.addmm(x, x, x, beta=0.9, alpha=1.9), t.kron(x, x), t.inner(x, x)], x)


def test_chains(same: Any) -> None:
    xs = [numbers(*s) for s in ((3,), (3, 2), (2, 5), (5, 2), (2,))]
    same(lambda t, *xs: t.linalg.multi_dot(xs), *xs, names=False)
    same(lambda t, *xs: t.chain_matmul(*xs), *xs[1:-1], names=False)


def test_the_order_of_a_chain() -> None:
    """Cormen et al., "Introduction to algorithms", section 15.2."""
    split = _order([30, 35, 15, 5, 10, 20, 25])
    assert (split[0][5], split[0][2], split[3][5]) == (2, 0, 4)
