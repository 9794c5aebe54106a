from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradwright

INF = float("inf")
PLAIN = ["sum", "mean", "prod", "amax", "amin", "all", "any"]
DIMS: list[tuple[tuple[int, ...], Any]] = [
    ((3, 4), None), ((3, 4), 0), ((3, 4), -1), ((2, 3, 4), 1), ((), None), ((1, 1), 0), ((5,), -1),
]  # fmt: skip
SEVERAL: list[tuple[tuple[int, ...], Any]] = [
    ((2, 3, 4), (0, 2)), ((2, 3, 4), (-1, 0)), ((2, 3), (0, 1)), ((2, 3), ()), ((2, 3), [1]),
]  # fmt: skip


def well_separated(shape: tuple[int, ...]) -> Any:
    """Entries well apart from each other, and from 0."""
    n = int(np.prod(shape))
    return (np.random.permutation(n) * 0.37 - n * 0.16 + 0.05).reshape(shape)


def dims(name: str, shape: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    if dim is None:
        return lambda t, x: getattr(t, name)(x)
    return lambda t, x: getattr(t, name)(x, dim=dim, keepdim=keepdim)


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize(("shape", "dim"), DIMS, ids=str)
@pytest.mark.parametrize("name", ["sum", "mean", "prod", "amax", "amin", "all", "any", "max", "min", "var", "std"])
def test_one_dim_or_all(same: Any, name: str, shape: tuple[int, ...], dim: Any, keepdim: bool) -> None:
    order = 1 if name in ("var", "std") and int(np.prod(shape)) == 1 else 2  # NaN, or None
    same(dims(name, shape, dim, keepdim), well_separated(shape), names=name not in ("all", "any"), order=order)


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize(("shape", "dim"), SEVERAL, ids=str)
@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin", "logsumexp", "norm", "var", "std"])
def test_several_dims(same: Any, name: str, shape: tuple[int, ...], dim: Any, keepdim: bool) -> None:
    if dim == () and name in ("var", "std", "logsumexp"):
        return  # PyTorch's derivatives are infinite, or an error
    same(dims(name, shape, dim, keepdim), well_separated(shape))


@pytest.mark.parametrize("dim", [0, -1, 1], ids=str)
@pytest.mark.parametrize("name", [*PLAIN, "logsumexp", "norm", "var", "std", "max", "argmax", "cumsum", "softmax"])
def test_0d(same: Any, name: str, dim: Any) -> None:
    same(lambda t, x: getattr(t, name)(x, dim=dim), np.array(1.5), names=False, order=1)


@pytest.mark.parametrize("dtype", ["float32", "int64", "int32", "uint8", "bool"])
@pytest.mark.parametrize("name", [*PLAIN, "max", "min", "var", "std", "argmax", "argmin", "norm"])
def test_dtypes(same: Any, name: str, dtype: str) -> None:
    if dtype == "bool" and name.startswith("arg"):
        return  # PyTorch has none of bool
    x = np.array([[1, 0, 3], [2, 5, 4]]).astype(dtype)
    same(lambda t, x: getattr(t, name)(x), x)
    if name != "norm":
        same(lambda t, x: getattr(t, name)(x, dim=1), x)


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "nansum", "cumsum", "cumprod"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int32", "int8", "uint8", "bool"])
def test_named_dtype(same: Any, name: str, dtype: str) -> None:
    if dtype == "bool" and name.startswith("cum"):
        return  # PyTorch has none of bool
    for x in (np.array([1.0, 2.0]), np.array([1, 2]), np.array([True, False])):
        same(lambda t, x: getattr(t, name)(x, dim=0, dtype=getattr(t, dtype)), x,
             order=2 if "float" in dtype else 0, names=name != "nansum")  # fmt: skip


@pytest.mark.parametrize("name", [*PLAIN, "max", "min", "logsumexp", "var", "std", "norm", "argmax"])
def test_nothing_to_reduce(same: Any, name: str) -> None:
    if name != "logsumexp":
        same(lambda t, x: getattr(t, name)(x), np.zeros((0, 3)))
    same(lambda t, x: getattr(t, name)(x, dim=0), np.zeros((0, 3)), names=False)
    same(lambda t, x: getattr(t, name)(x, dim=1), np.zeros((0, 3)), names=False)


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "amax", "amin", "max", "min", "logsumexp", "norm"])
def test_nan_and_infinities(same: Any, name: str) -> None:
    for x in ([1.0, np.nan, 2.0], [INF, 1.0, 2.0], [-INF, 1.0, 2.0], [INF, -INF, 0.0]):
        same(lambda t, x: getattr(t, name)(x, dim=0), np.array(x), order=0)


@given(data=st.data(), name=st.sampled_from(["sum", "mean", "amax", "logsumexp", "var"]), keepdim=st.booleans())
@settings(max_examples=60)
def test_any_shape_and_dims(same: Any, data: Any, name: str, keepdim: bool) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    n = len(shape)
    dim = tuple(data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True)))
    dim = tuple(d - n if data.draw(st.booleans()) else d for d in dim)
    same(dims(name, shape, dim, keepdim), well_separated(shape))


class TestProd:
    @pytest.mark.parametrize("zeros", [0, 1, 2])
    def test_zeros(self, same: Any, zeros: int) -> None:
        x = np.array([[2.0, -1.0, 3.0, 0.5], [1.5, 2.5, -0.5, 1.0]])
        x[0, :zeros] = 0
        same(lambda t, x: t.prod(x), x)
        same(lambda t, x: t.prod(x, 1), x)
        same(lambda t, x: t.prod(x, 0, keepdim=True), x)

    def test_several_dims_are_not_pytorchs(self) -> None:
        x = gradwright.tensor([[1.0, 2.0], [3.0, 4.0]])
        assert gradwright.prod(x, (0, 1)).item() == 24


class TestExtrema:
    X = np.array([[3.0, 1.0, 3.0], [1.0, 1.0, 2.0]])

    @pytest.mark.parametrize("name", ["max", "min", "amax", "amin"])
    def test_ties(self, same: Any, name: str) -> None:
        same(lambda t, x: getattr(t, name)(x), self.X)
        same(lambda t, x: getattr(t, name)(x, 1), self.X)
        same(lambda t, x: getattr(t, name)(x, dim=0, keepdim=True), self.X)

    def test_pair(self, same: Any) -> None:
        same(lambda t, x: [t.max(x, 1).values, t.max(x, 1).indices, t.min(x, -1).values, x.max(0)[1]], self.X)

    def test_two_tensors(self, same: Any) -> None:
        same(lambda t, x, y: [t.max(x, y), t.min(x, y), x.max(y)], self.X, self.X[::-1].copy())

    @pytest.mark.parametrize("name", ["argmax", "argmin"])
    def test_positions(self, same: Any, name: str) -> None:
        x = np.array([[3, 1, 2], [0, 5, 4]])
        for kwargs in ({}, {"dim": 1}, {"dim": 0, "keepdim": True}, {"dim": -1}):
            same(lambda t, x, kwargs=kwargs: getattr(t, name)(x, **kwargs), x)

    def test_keepdim_without_dim(self, same: Any) -> None:
        same(lambda t, x: [t.argmax(x, keepdim=True), t.argmin(x, None, True)], np.array([[3, 1, 2], [0, 5, 4]]))


class TestLogsumexp:
    @pytest.mark.parametrize("x", [[1e3, 1e3], [-1e3, -1001.0], [-INF, 0.0], [INF, 1.0]], ids=str)
    def test_extremes(self, same: Any, x: Any) -> None:
        same(lambda t, x: t.logsumexp(x, 0), np.array(x), order=1)

    def test_of_nothing(self, same: Any) -> None:
        same(lambda t, x: t.logsumexp(x, 0), np.array([-INF, -INF]), order=0)  # the slope: tests/ops/test_ends.py

    def test_whole_numbers(self, same: Any) -> None:
        same(lambda t, x: t.logsumexp(x, 0), np.array([1, 2, 3]))


class TestNorm:
    @pytest.mark.parametrize("p", [0, 1, 2, 3, 0.5, 2.5, INF, -INF, "fro"])
    def test_orders(self, same: Any, p: Any) -> None:
        x = well_separated((3, 4))
        same(lambda t, x: t.norm(x, p), x)
        same(lambda t, x: t.norm(x, p, dim=1), x)
        same(lambda t, x: x.norm(p, dim=(0, 1), keepdim=True), x)

    @pytest.mark.parametrize("p", [0, 1, 2, 3, 1.5, INF])
    def test_at_zero(self, same: Any, p: Any) -> None:
        same(lambda t, x: t.norm(x, p), np.zeros(3), order=1)
        same(lambda t, x: t.norm(x, p, dim=1), np.array([[0.0, 0.0], [3.0, 0.0], [-3.0, 3.0]]), order=1)


class TestSoftmax:
    @pytest.mark.parametrize("name", ["softmax", "log_softmax"])
    def test_dims(self, same: Any, name: str) -> None:
        for shape, dim in [((3, 4), 1), ((3, 4), 0), ((2, 3, 4), -2), ((5,), 0)]:
            same(lambda t, x, dim=dim: getattr(t, name)(x, dim), well_separated(shape))
        same(lambda t, x: getattr(t, name)(x, 0), np.zeros((0, 2)))
        same(lambda t, x: getattr(t, name)(x, dim=0, dtype=t.float64), np.array([1.0, 2.0], np.float32), names=False)

    @pytest.mark.parametrize("name", ["softmax", "log_softmax"])
    def test_extremes(self, same: Any, name: str) -> None:
        for x in ([1000.0, 0.0], [-1000.0, 0.0], [-INF, 0.0, 1.0], [-INF, -INF]):
            same(lambda t, x: getattr(t, name)(x, 0), np.array(x), order=1)

    def test_whole_numbers_are_refused(self, same: Any) -> None:
        same(lambda t, x: t.softmax(x, 0), np.array([1, 2]))
        same(lambda t, x: t.softmax(x, 0, dtype=t.float32), np.array([1, 2]))


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "amax", "max", "var", "logsumexp", "norm", "argmax", "cumsum",
                                  "softmax", "log_softmax", "sort", "all", "topk"])  # fmt: skip
def test_dim_out_of_range(same: Any, name: str) -> None:
    def f(t: Any, x: Any, dim: int) -> Any:
        return t.topk(x, 1, dim) if name == "topk" else getattr(t, name)(x, dim=dim)

    for dim in (2, -3):
        same(f, np.zeros((2, 3)), dim)
        with pytest.raises(IndexError, match=rf"expected to be in range of \[-2, 1\], but got {dim}.*{name}\(\)"):
            f(gradwright, gradwright.zeros(2, 3), dim)


@pytest.mark.parametrize("name", ["sum", "amax", "var", "norm"])
def test_dim_twice(same: Any, name: str) -> None:
    same(lambda t, x: getattr(t, name)(x, dim=(0, 0)), np.zeros((2, 3)))
    same(lambda t, x: getattr(t, name)(x, dim=(0, -2)), np.zeros((2, 3)))


@pytest.mark.parametrize("name", ["sum", "mean", "softmax", "argmax"])
def test_dim_that_is_no_number(same: Any, name: str) -> None:
    same(lambda t, x: getattr(t, name)(x, dim="rows"), np.zeros((2, 3)))
    with pytest.raises(TypeError, match=rf"{name}\(\): argument 'dim' must be int, not str"):
        getattr(gradwright, name)(gradwright.zeros(2, 3), dim="rows")


@pytest.mark.parametrize("name", ["mean", "var", "std", "norm"])
def test_whole_numbers_refused(same: Any, name: str) -> None:
    same(lambda t, x: getattr(t, name)(x), np.array([1, 2]))
    with pytest.raises(RuntimeError, match=rf"{name}\(\)"):
        getattr(gradwright, name)(gradwright.tensor([1, 2]))


@pytest.mark.parametrize(
    "name", [*PLAIN, "max", "min", "var", "std", "logsumexp", "norm", "cumsum", "softmax", "log_softmax", "sort",
             "argsort", "topk", "argmax", "argmin"])  # fmt: skip
def test_not_a_tensor(name: str) -> None:
    arguments = {"logsumexp": (0,), "cumsum": (0,), "softmax": (0,), "log_softmax": (0,), "topk": (1,)}.get(name, ())
    with pytest.raises(TypeError, match=r"argument 'input' \(position 1\) must be Tensor, not list"):
        getattr(gradwright, name)([1.0, 2.0], *arguments)


def test_nan_takes_the_gradient_of_an_extremum(same: Any) -> None:
    x = np.array([1.0, np.nan, 2.0, np.nan])
    for name in ("max", "min", "median"):
        same(lambda t, x, name=name: getattr(t, name)(x), x)
        same(lambda t, x, name=name: getattr(t, name)(x, 0).values, x)


def test_any_and_all_over_no_dim(same: Any) -> None:
    same(lambda t, x: [t.any(x, ()), t.all(x, dim=())], np.array([[0.0, 1.0], [2.0, 3.0]]))


def test_without_nan(same: Any) -> None:
    x = np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, np.nan]])
    same(lambda t, x: [t.nansum(x), t.nansum(x, 1, True), t.nanmean(x, (0, 1))], x, names=False)
    same(lambda t, x: t.nanmean(x, 1), x, order=0, names=False)


def test_nuclear_norm(same: Any) -> None:
    x = well_separated((2, 3, 3))
    same(lambda t, x: [t.norm(x[0], "nuc"), t.norm(x, "nuc", (2, 0), True)], x, order=1, names=False)
    same(lambda t, x: t.norm(x, "max"), x)


@pytest.mark.parametrize("name", ["max", "min", "median"])
def test_places_that_are_changed_before_backward_are_an_error(T: Any, name: str) -> None:
    x = T.tensor([[1.0, 3.0, 2.0]], requires_grad=True)
    values, places = getattr(x, name)(1)
    places.add_(-1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        values.sum().backward()
