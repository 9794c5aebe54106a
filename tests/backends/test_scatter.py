from typing import Any

import numpy as np
import pytest

from gradwright.backends import generic, scatter
from gradwright.backends.generic import HERE

X = np.arange(60.0).reshape(3, 4, 5)
I = np.array([[[0, 2], [1, 1]]])


@pytest.mark.parametrize("x", [X, X.transpose(0, 2, 1), X[:, ::-1]], ids=["rows", "transposed", "reversed"])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("name", ["take_along_axis", "scatter", "scatter_add", "scatter_max"])
def test_as_the_generic_one(name: str, axis: int, x: Any) -> None:
    index = I[..., ::-1, :] if axis else np.array([[[0, 2], [1, 1]], [[1, 0], [2, 2]]])
    index = index[:, :1, :] if name == "scatter" and axis == 1 else index
    index = np.array([[[0, 2], [1, 2]]]) if name == "scatter" and axis == 2 else index
    src = () if name == "take_along_axis" else (np.arange(100.0, 100 + index.size).reshape(index.shape),)
    before = x.copy()
    got = getattr(scatter, name)(x, index, *src, axis=axis)
    assert np.array_equal(got, getattr(generic, name)(np, x, index, *src, axis=axis))
    assert np.array_equal(x, before)


def _seldom_twice(rng: Any) -> Any:
    return rng.integers(0, 3000, 5000)


def _many_times(rng: Any) -> Any:
    return rng.integers(0, 20, 5000)


def _once_and_then_many_times(rng: Any) -> Any:
    return np.concatenate([rng.permutation(3000), rng.integers(0, 3, 2000)])


@pytest.mark.parametrize("draw", [_seldom_twice, _many_times, _once_and_then_many_times])
@pytest.mark.parametrize("lead", [(), (2,)], ids=["rows", "of two tables"])
@pytest.mark.parametrize("name", ["scatter_add", "scatter_max", "scatter_prod", "scatter", "take_along_axis"])
def test_an_expanded_index_is_an_index(name: str, lead: tuple[int, ...], draw: Any) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((*lead, 3000, 40)).astype(np.float32)
    index = np.stack([draw(rng) for _ in range(2)]) if lead else draw(rng)
    index = np.broadcast_to(index[..., None], (*index.shape, 40))
    src = rng.standard_normal(index.shape).astype(np.float32)
    expected = x.copy()
    key = (*np.ix_(*map(np.arange, lead), range(5000), range(40))[: len(lead)], index, np.arange(40))
    if name == "take_along_axis":
        expected, given = x[key], ()
    else:
        given = (src,)
        if name == "scatter":
            expected[key] = src
        else:
            ufunc = {"scatter_add": np.add, "scatter_max": np.maximum, "scatter_prod": np.multiply}[name]
            ufunc.at(expected, key, src)
    axis = len(lead)
    assert np.array_equal(getattr(scatter, name)(x, index, *given, axis=axis), expected)
    if name == "take_along_axis":
        over = np.broadcast_to(x[..., :1], x.shape)
        assert np.array_equal(scatter.take_along_axis(over, index, axis=axis), over[key])


def test_an_index_expanded_along_a_part_is_an_index() -> None:
    x, index = X.copy(), np.broadcast_to(np.array([2, 0])[:, None, None], (2, 4, 3))
    src = np.arange(24.0).reshape(2, 4, 3)
    x[[2, 0], :, :3] += src
    assert np.array_equal(scatter.scatter_add(X, index, src, axis=0), x)
    assert np.array_equal(scatter.take_along_axis(X, index, axis=0), X[[2, 0], :, :3])


def test_an_index_as_wide_as_the_array_need_not_be_expanded() -> None:
    index = np.random.default_rng(0).integers(0, 3, (6, 4, 5))
    assert np.array_equal(scatter.take_along_axis(X, index, axis=0), np.take_along_axis(X, index, axis=0))


@pytest.mark.parametrize("n", [2, 500])  # few values in a large array, and many
def test_put_adds_up(n: int) -> None:
    where, value = np.arange(n) % 3, np.ones((n, 4, 5))
    expected = X.copy()
    np.add.at(expected, where, value)
    assert np.array_equal(scatter.put(X, value, where, key=(HERE,), accumulate=True), expected)


@pytest.mark.parametrize("rows", [3, 40, 3000])
@pytest.mark.parametrize("shape", [(400, 40), (40, 400), (6000,), (50, 3, 30), (2, 5)])
@pytest.mark.parametrize("axis", [0, 1])
def test_repeated_and_negative_indices_add_up(shape: tuple[int, ...], rows: int, axis: int) -> None:
    axis = min(axis, len(shape) - 1)
    rng = np.random.default_rng(rows)
    where = rng.integers(-shape[axis], shape[axis], rows)
    key = (*(slice(None),) * axis, where)
    start = rng.integers(0, 9, shape).astype(float)
    value = rng.integers(0, 9, start[key].shape).astype(float)
    expected = start.copy()
    np.add.at(expected, key, value)
    here = (*key[:-1], HERE)
    assert np.array_equal(scatter.put(start, value, where, key=here, accumulate=True), expected)
    assert np.array_equal(scatter.unindex(value, where, shape=shape, key=here), expected - start)


@pytest.mark.parametrize(
    "key",
    [(X > 7,), (np.array([2, 0]),), (slice(None), np.array([[1, -1]])), (np.array([0]), slice(1, 3), np.array([2]))],
)
def test_at(key: Any) -> None:
    places = [k for k in key if isinstance(k, np.ndarray)]
    out = scatter.at(X, *places, key=tuple(HERE if isinstance(k, np.ndarray) else k for k in key))
    assert np.array_equal(out, X[key])
    assert out.flags.c_contiguous


def test_restride_is_a_view_where_memory_lies_so() -> None:
    x = X[1]
    layout = ((4, 5), (5, 1), 20)
    out = scatter.restride(x, source=layout, target=((3, 3), (5, 2), 0))
    assert np.shares_memory(out, X)
    assert np.array_equal(out, X[0, :3, ::2])
    copy = scatter.restride(x.copy(order="F"), source=layout, target=((3, 3), (5, 2), 20))
    assert np.array_equal(copy, X[1, :3, ::2])


def test_unstride_adds_up() -> None:
    out = scatter.unstride(np.ones((3, 2)), source=((3, 2), (1, 1), 0), target=((4,), (1,), 0))
    assert out.tolist() == [1, 2, 2, 1]


@pytest.mark.parametrize("axis", [1, 2])
def test_put_adds_up_at_one_vector_along_an_axis(axis: int) -> None:
    x, where = np.random.standard_normal((30, 40, 50)), np.random.randint(-40, 40, 25)
    key = (slice(None),) * axis + (where,)
    value = np.random.standard_normal(x[key].shape)
    expected = x.copy()
    np.add.at(expected, key, value)
    out = scatter.put(x, value, where, key=(*key[:-1], HERE), accumulate=True)
    np.testing.assert_allclose(out, expected, atol=1e-12)


@pytest.mark.parametrize("name", ["scatter_add", "scatter_max", "scatter_prod"])
def test_long_runs_of_one_index(name: str) -> None:
    index, src = np.repeat(np.array([3, 1, 3, 0]), 2000), np.random.uniform(0.99, 1.01, 8000)
    got = getattr(scatter, name)(np.ones(5), index, src, axis=0)
    np.testing.assert_allclose(got, getattr(generic, name)(np, np.ones(5), index, src, axis=0), rtol=1e-9)
