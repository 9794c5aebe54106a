"""Convolution against what it says it sums, and against SciPy."""

import itertools

import numpy as np
import pytest

import gradwright
from gradwright.backends.windows import Lattice
from gradwright.ops import conv as c


def test_the_sum_it_says() -> None:
    x, w = np.random.standard_normal((2, 4, 7)), np.random.standard_normal((6, 2, 3))
    lattice = Lattice((3,), (2,), (2,), ((1, 1),))
    y = c.conv(x, w, lattice=lattice, groups=2)
    for n, o, i in itertools.product(*map(range, y.shape)):
        terms = [
            w[o, k, j] * x[n, o // 3 * 2 + k, at]
            for k in range(2)
            for j in range(3)
            if 0 <= (at := i * 2 + j * 2 - 1) < 7
        ]
        assert y[n, o, i] == pytest.approx(sum(terms), rel=1e-12)


def test_scipy_agrees() -> None:
    signal = pytest.importorskip("scipy.signal")
    x, w = np.random.standard_normal((9, 8)), np.random.standard_normal((3, 4))
    y = c.conv(x[None, None], w[None, None], lattice=Lattice((3, 4), (1, 1), (1, 1), ((0, 0), (0, 0))), groups=1)
    np.testing.assert_allclose(y[0, 0], signal.correlate2d(x, w, "valid"), 1e-12)


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_the_three_are_adjoint(groups: int) -> None:
    """<conv(x, w), y> = <x, conv_transpose(y, w)> = <w, conv_weight(x, y)>; for complex numbers without conjugation."""
    draw = lambda *shape: np.random.standard_normal(shape) + 1j * np.random.standard_normal(shape)
    x, w = draw(2, 4, 6, 5), draw(4, 4 // groups, 2, 3)
    static = {"lattice": Lattice((2, 3), (2, 1), (1, 2), ((1, 0), (2, 1))), "groups": groups}
    y = draw(*c.conv(x, w, **static).shape)
    total = np.sum(c.conv(x, w, **static) * y)
    np.testing.assert_allclose(np.sum(x * c.conv_transpose(y, w, size=(6, 5), **static)), total)
    np.testing.assert_allclose(np.sum(w * c.conv_weight(x, y, **static)), total)


def test_what_is_saved() -> None:
    """A weight that needs no gradient does not keep the input alive."""
    x, w = gradwright.ones(1, 1, 4, requires_grad=True), gradwright.ones(1, 1, 2)
    node = gradwright.conv1d(x, w).grad_fn
    assert hasattr(node, "_saved_weight")
    assert not hasattr(node, "_saved_self")


@pytest.mark.parametrize("padding", [((0, 0), (0, 0)), ((1, 2), (0, 1))])
@pytest.mark.parametrize(("groups", "stride"), [(1, 1), (2, 2)])
def test_a_batch_of_short_rows_is_one_image_after_another(groups: int, stride: int, padding: tuple) -> None:
    x, w = np.random.standard_normal((20, 4, 6, 5)), np.random.standard_normal((6, 4 // groups, 2, 3))
    static = {"lattice": Lattice((2, 3), (stride, 1), (1, 1), padding), "groups": groups}
    y = c.conv(x, w, **static)
    assert y.flags.c_contiguous
    alone = [c.conv(x[i : i + 1], w, **static) for i in range(20)]
    np.testing.assert_allclose(y, np.concatenate(alone), 1e-12, 1e-12)
    back = [c.conv_transpose(a, w, size=(6, 5), **static) for a in alone]
    np.testing.assert_allclose(c.conv_transpose(y, w, size=(6, 5), **static), np.concatenate(back), 1e-12, 1e-12)
    parts = [c.conv_weight(x[i : i + 1], a, **static) for i, a in enumerate(alone)]
    np.testing.assert_allclose(c.conv_weight(x, y, **static), sum(parts), 1e-11, 1e-11)
