"""Windows, read and put back, in NumPy and in the standard alone."""

import numpy as np
import pytest

from gradwright.backends import windows as module
from gradwright.backends.numpy import namespace
from gradwright.backends.windows import (
    Lattice,
    batch_last,
    fold_windows,
    generic_fold_windows,
    generic_spread_windows,
    generic_times_windows,
    generic_weigh_windows,
    generic_windows,
    spread_windows,
    times_windows,
    weigh_windows,
    windows,
)

LATTICES = [
    Lattice((3,), (1,), (1,), ((0, 0),)),
    Lattice((3,), (2,), (2,), ((2, 1),)),
    Lattice((2, 3), (2, 3), (1, 1), ((0, 0), (0, 0))),
    Lattice((2, 2), (1, 3), (2, 1), ((0, 1), (1, -1))),
    Lattice((6, 6), (6, 6), (1, 1), ((0, 0), (0, 0))),
]


@pytest.mark.parametrize("lattice", LATTICES)
def test_reading_and_putting_back(lattice: Lattice) -> None:
    x = np.random.standard_normal((2, 12, 12))
    n = len(lattice.kernel)
    size = x.shape[3 - n :]
    read = windows(x, lattice=lattice)
    assert read.shape == (*x.shape[: 3 - n], *lattice.kernel, *lattice.count(size))
    np.testing.assert_array_equal(read, generic_windows(np, x, lattice=lattice))
    y = np.random.standard_normal(read.shape)
    back = fold_windows(y, size=size, lattice=lattice)
    assert back.flags.c_contiguous
    np.testing.assert_allclose(np.vdot(read, y), np.vdot(x, back), 1e-12)
    np.testing.assert_allclose(back, generic_fold_windows(np, y, size=size, lattice=lattice), 1e-12, 1e-12)


def test_what_is_put_back_touches_nothing_else() -> None:
    y = np.array([[1.0, np.nan], [2.0, np.inf]])
    pairs = Lattice((2,), (2,), (1,), ((0, 1),))
    for back in (fold_windows(y, size=(5,), lattice=pairs), generic_fold_windows(np, y, size=(5,), lattice=pairs)):
        np.testing.assert_array_equal(back, [1.0, 2.0, np.nan, np.inf, 0.0])


def test_every_entry_is_where_the_geometry_says() -> None:
    x = np.arange(1.0, 8.0)
    lattice = Lattice((3,), (2,), (2,), ((1, 2),))
    at = np.arange(lattice.count((7,))[0]) * 2 - 1 + np.arange(3)[:, None] * 2
    np.testing.assert_array_equal(windows(x, lattice=lattice), np.where((at >= 0) & (at < 7), x[at % 7], 0))


def test_without_padding_nothing_is_copied() -> None:
    x = np.arange(6.0)
    read = windows(x, lattice=LATTICES[0])
    assert np.shares_memory(read, x)
    assert not read.flags.writeable


def test_windows_that_tile() -> None:
    tiles = [lattice.tiles((12,) * len(lattice.kernel)) for lattice in LATTICES]
    assert tiles == [False, False, True, False, True]
    assert not Lattice((5,), (5,), (1,), ((0, -2),)).tiles((12,))


CLOSE = Lattice((3, 2), (1, 1), (2, 1), ((2, 2), (1, 0)))
PRODUCTS = [
    *(Lattice((1, *at.kernel), (1, *at.stride), (1, *at.dilation), ((0, 0), *at.padding)) for at in LATTICES[:2]),
    *LATTICES[2:4],
    Lattice((3, 3), (1, 1), (1, 1), ((1, 1), (1, 1))),
    Lattice((1, 1), (1, 1), (1, 1), ((0, 0), (0, 0))),
    CLOSE,
]


@pytest.mark.parametrize("piece", [1, 500_000, 1 << 22])
@pytest.mark.parametrize(("n", "groups"), [(3, 1), (2, 2), (0, 1)])
@pytest.mark.parametrize("lattice", PRODUCTS)
def test_products_with_windows(
    lattice: Lattice, n: int, groups: int, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PIECE", piece)
    size, channels = (40, 41), 2 * groups
    x = np.random.standard_normal((n, channels, *size))
    rows = np.random.standard_normal((groups, 3, 2 * int(np.prod(lattice.kernel))))
    bias = np.random.standard_normal(3 * groups)
    y = times_windows(rows, x, bias, lattice=lattice)
    assert y.flags.c_contiguous
    np.testing.assert_allclose(y, generic_times_windows(namespace, rows, x, bias, lattice=lattice), 1e-12, 1e-12)
    plain = times_windows(rows, x, lattice=lattice)
    np.testing.assert_allclose(plain, generic_times_windows(namespace, rows, x, lattice=lattice), 1e-12, 1e-12)
    g = np.random.standard_normal(y.shape)
    back = spread_windows(rows, g, size=size, lattice=lattice)
    assert back.flags.c_contiguous
    expected = generic_spread_windows(namespace, rows, g, size=size, lattice=lattice)
    np.testing.assert_allclose(back, expected, 1e-12, 1e-12)
    each = rows.reshape(-1)[: channels * int(np.prod(lattice.kernel))].reshape(channels, 1, -1)
    by_channel = times_windows(each, x, bias[:channels], lattice=lattice)
    expected = generic_times_windows(namespace, each, x, bias[:channels], lattice=lattice)
    np.testing.assert_allclose(by_channel, expected, 1e-12, 1e-12)
    flat = g.reshape(n, groups, 3, int(np.prod(g.shape[2:])))
    expected = generic_weigh_windows(namespace, flat, x, lattice=lattice)
    np.testing.assert_allclose(weigh_windows(flat, x, lattice=lattice), expected, 1e-12, 1e-12)


def test_what_is_not_finite_stays_in_the_windows_that_hold_it() -> None:
    x, g = np.ones((2, 1, 40, 40)), np.ones((2, 1, 40, 40))
    x[0, 0, 3, 39] = g[0, 0, 3, 39] = np.inf
    rows = np.ones((1, 1, 6))
    for weights in (rows, np.where(np.arange(6) == 2, np.nan, rows)):
        y = times_windows(weights, x, lattice=CLOSE)
        np.testing.assert_array_equal(y, generic_times_windows(namespace, weights, x, lattice=CLOSE))
        back = spread_windows(weights, g, size=(40, 40), lattice=CLOSE)
        np.testing.assert_array_equal(back, generic_spread_windows(namespace, weights, g, size=(40, 40), lattice=CLOSE))


@pytest.mark.parametrize("shape", [(20, 16, 4, 4), (20, 3, 5), (0, 3), (3, 0), (5,)])
def test_the_first_axis_last(shape: tuple[int, ...]) -> None:
    x = np.arange(float(np.prod(shape))).reshape(shape)
    y = batch_last(x)
    assert y.flags.c_contiguous
    np.testing.assert_array_equal(y, np.moveaxis(x, 0, -1))
