from typing import Any

import numpy as np


def well_separated(shape: tuple[int, ...]) -> Any:
    """Entries well apart from each other, and from 0."""
    n = int(np.prod(shape))
    return (np.random.permutation(n) * 0.37 - n * 0.16 + 0.05).reshape(shape)


class TestCumsum:
    def test_dims(self, same: Any) -> None:
        for dim in (0, 1, -1):
            same(lambda t, x, dim=dim: t.cumsum(x, dim), well_separated((3, 4)))
        same(lambda t, x: t.cumsum(x, 0), np.zeros((0, 2)))
        same(lambda t, x: x.cumsum(0), np.array([True, True, False]))


class TestOthers:
    def test_products(self, same: Any) -> None:
        for dim in (0, 1, -1):
            same(lambda t, x, dim=dim: t.cumprod(x, dim), well_separated((3, 4)))
        same(lambda t, x: t.cumprod(x, 0), np.array([2.0, 0.0, 3.0, 0.0, 4.0]))
        same(lambda t, x: t.cumprod(x, 0), np.array([2, 3]))

    def test_extrema(self, same: Any) -> None:
        for x in ([1.0, 3.0, 3.0, 2.0, 4.0], [2.0, np.nan, 3.0, np.nan], [[1.0, 0.0], [1.0, 2.0]], [np.nan]):
            same(lambda t, x: [*t.cummax(x, 0), *x.cummin(-1)], np.array(x))
        same(lambda t, x: [*t.cummax(x, 0)], np.array([3, 1, 4]))

    def test_logcumsumexp(self, same: Any) -> None:
        same(lambda t, x: t.logcumsumexp(x, 1), well_separated((3, 4)))
        same(lambda t, x: t.logcumsumexp(x, 0), np.array([-np.inf, 0.0, 1000.0]), order=0)

    def test_dim_out_of_range(self, same: Any) -> None:
        for name in ("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"):
            same(lambda t, x, name=name: getattr(t, name)(x, 2), np.zeros((2, 3)))

    def test_in_place(self, same: Any) -> None:
        same(lambda t, x: [(x * 1).cumsum_(0), (x * 1).cumprod_(1)], well_separated((3, 4)), names=False)
