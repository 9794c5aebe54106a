from typing import Any

import numpy as np
import pytest

NAN = float("nan")


def well_separated(shape: tuple[int, ...]) -> Any:
    """Entries well apart from each other, and from 0."""
    n = int(np.prod(shape))
    return (np.random.permutation(n) * 0.37 - n * 0.16 + 0.05).reshape(shape)


class TestSpread:
    @pytest.mark.parametrize("name", ["var", "std"])
    def test_corrections(self, same: Any, name: str) -> None:
        x = well_separated((3, 4))
        for kwargs in ({"correction": 0}, {"correction": 2}, {"unbiased": False}, {"unbiased": True}):
            same(lambda t, x, kwargs=kwargs: getattr(t, name)(x, **({"dim": 1} | kwargs)), x)
        same(lambda t, x: [getattr(t, name)(x, False), getattr(x, name)(correction=0), getattr(x, name)(0, False)], x)
        same(lambda t, x: getattr(t, name)(x, dim=1, correction=4), x, order=0)
        same(lambda t, x: getattr(t, name)(x, dim=1, correction=7), x, order=0)

    @pytest.mark.parametrize("name", ["var", "std"])
    def test_one_entry(self, same: Any, name: str) -> None:
        same(lambda t, x: getattr(t, name)(x), np.array([2.0]), order=1)
        same(lambda t, x: getattr(t, name)(x, correction=0), np.array([2.0]), order=1)

    def test_constant_entries(self, same: Any) -> None:
        same(lambda t, x: t.std(x), np.array([2.0, 2.0, 2.0]), order=1)
        same(lambda t, x: t.var(x), np.array([2.0, 2.0, 2.0]))


class TestQuantile:
    X = np.array([[3.0, -1.0, 2.0, 0.5], [NAN, 1.0, 5.0, 4.0]])

    @pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "midpoint", "nearest"])
    @pytest.mark.parametrize("name", ["quantile", "nanquantile"])
    def test_interpolations(self, same: Any, name: str, interpolation: str) -> None:
        for q in (0.0, 0.5, 0.61, 1.0):
            for kwargs in ({"dim": 1}, {"dim": 0, "keepdim": True}, {}):
                same(lambda t, x, k=kwargs, q=q: getattr(t, name)(x, q, interpolation=interpolation, **k), self.X,
                     order=1, names=False)  # fmt: skip

    def test_several_levels_and_their_gradient(self, same: Any) -> None:
        x, q = well_separated((3, 4)), np.array([0.13, 0.5, 0.9])
        same(lambda t, x, q: [t.quantile(x, q, 1), t.quantile(x, q, keepdim=True)], x, q, names=False)

    def test_what_is_refused(self, same: Any) -> None:
        x = np.array([1.0, 2.0])
        for q, kwargs in [(1.5, {}), (-0.1, {}), (NAN, {}), (0.5, {"interpolation": "cubic"}), (0.5, {"dim": 1})]:
            same(lambda t, x, q=q, kwargs=kwargs: t.quantile(x, q, **kwargs), x)
        same(lambda t, x: t.quantile(x, 0.5), np.array([1, 2]))
        same(lambda t, x: t.quantile(x, 0.5), np.array([]))
        same(lambda t, x, q: t.quantile(x, q), x, np.array([0.5], np.float32))


class TestCovariance:
    def test_weights(self, same: Any) -> None:
        x, f, a = well_separated((3, 5)), np.array([1, 2, 0, 1, 3]), np.array([0.5, 1.0, 2.0, 0.1, 0.4])
        same(lambda t, x, f, a: t.cov(x, fweights=f, aweights=a), x, f, a, names=False)
        same(lambda t, x, f, a: [t.cov(x, correction=0), t.cov(x[0]), t.corrcoef(x), x[0].corrcoef()], x, f, a,
             names=False)  # fmt: skip

    def test_what_is_refused(self, same: Any) -> None:
        x = np.ones((2, 3))
        for key, w in [("fweights", [1.0] * 3), ("aweights", [1] * 3), ("aweights", [1.0]), ("aweights", [-1.0] * 3),
                       ("aweights", [0.0] * 3)]:  # fmt: skip
            same(lambda t, x, w, key=key: t.cov(x, **{key: w}), x, np.array(w))
        same(lambda t, x: t.corrcoef(x), np.ones((2, 2, 2)))
