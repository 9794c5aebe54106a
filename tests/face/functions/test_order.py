from typing import Any

import numpy as np
import pytest

import gradwright


class TestSort:
    X = np.array([[3.0, 1.0, 2.0, -1.0], [0.0, 5.0, 4.0, 4.5]])

    @pytest.mark.parametrize("descending", [False, True])
    @pytest.mark.parametrize("dim", [0, 1, -1])
    def test_sort(self, same: Any, dim: int, descending: bool) -> None:
        same(lambda t, x: t.sort(x, dim, descending), self.X)
        same(lambda t, x: t.argsort(x, dim=dim, descending=descending), self.X)

    def test_last_dim_by_default(self, same: Any) -> None:
        same(lambda t, x: [x.sort().values, x.sort().indices, x.argsort()], self.X)

    def test_equal_entries_keep_their_order(self, same: Any) -> None:
        x = np.array([2.0, 1.0, 2.0, 1.0])
        same(lambda t, x: [t.sort(x, stable=True).indices, t.sort(x, stable=True, descending=True).indices], x)

    def test_nan_is_largest(self, same: Any) -> None:
        same(lambda t, x: [t.sort(x), t.sort(x, descending=True)], np.array([2.0, np.nan, 1.0]), order=0)

    @pytest.mark.parametrize("largest", [False, True])
    @pytest.mark.parametrize(("k", "dim"), [(2, 1), (1, 0), (4, -1), (0, 1)])
    def test_topk(self, same: Any, k: int, dim: int, largest: bool) -> None:
        same(lambda t, x: t.topk(x, k, dim, largest), self.X)

    def test_topk_of_too_many(self, same: Any) -> None:
        same(lambda t, x: t.topk(x, 5), self.X)
        same(lambda t, x: t.topk(x, -1), self.X)


class TestSelection:
    X = np.random.default_rng(0).permutation(60).reshape(3, 20).astype(float)

    def test_kthvalue(self, same: Any) -> None:
        same(lambda t, x: [*t.kthvalue(x, 3, 1), *x.kthvalue(1, 0, keepdim=True)], self.X)
        for k in (0, 21):
            same(lambda t, x, k=k: t.kthvalue(x, k), self.X)

    @pytest.mark.parametrize("name", ["median", "nanmedian"])
    def test_medians(self, same: Any, name: str) -> None:
        for x in (self.X, np.where(self.X % 7 == 0, np.nan, self.X), self.X.astype(int)):
            same(lambda t, x: getattr(t, name)(x), x)
            same(lambda t, x: [*getattr(t, name)(x, 1, keepdim=True)], x)
        same(lambda t, x: getattr(t, name)(x), np.array([]), order=0)
        same(lambda t, x: getattr(t, name)(x, 0), np.zeros((0, 2)))
        same(lambda t, x: getattr(t, name)(x), np.array([True]))

    def test_mode(self, same: Any) -> None:
        x = np.array([[1.0, 2.0, 2.0, 1.0, 3.0], [4.0, 4.0, 4.0, 0.0, 0.0]])
        same(lambda t, x: [*t.mode(x), *t.mode(x, 0), *t.mode(x, 1, True)], x)

    @pytest.mark.parametrize("largest", [False, True])
    def test_a_few_of_many(self, same: Any, largest: bool) -> None:
        x = np.random.permutation(3000).reshape(3, 1000).astype(float)
        x[0, 0] = np.nan
        same(lambda t, x: [*t.topk(x, 5, 1, largest)], x)
        same(lambda t, x: [*t.topk(x.t(), 5, 0, largest)], x, names=False)

    def test_msort(self, same: Any) -> None:
        same(lambda t, x: t.msort(x), self.X)


@pytest.mark.parametrize("name", ["max", "min", "sort", "topk"])
def test_pairs_print_as_torch_prints_them(torch, name):
    def printed(lib):
        x = lib.tensor([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]], requires_grad=True)
        return repr(getattr(lib, name)(x, 2 if name == "topk" else 1))

    assert printed(gradwright) == printed(torch)


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("dim", [0, 1])
def test_few_of_many(same: Any, dim: int, largest: bool) -> None:
    distinct = np.random.permutation(np.arange(10000.0)).reshape(100, 100)
    holes = np.where(distinct % 300 == 0, np.nan, distinct)
    same(lambda t, x: t.topk(x, 3, dim, largest), distinct)
    same(lambda t, x: t.topk(x, 3, dim, largest).values, holes, order=0)
    same(lambda t, x: t.topk(x, 3, dim, largest).values, distinct % 7, order=0)
