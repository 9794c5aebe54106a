from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import basic_indices

from gradwright import backends
from gradwright.backends.generic import HERE, Extended
from gradwright.backends.numpy import namespace as numpy
from gradwright.backends.steps import chain, read
from gradwright.backends.strict import namespace as strict

X = np.arange(12.0).reshape(3, 4)
generic = Extended(np)


def test_has_every_extra() -> None:
    assert set(backends.EXTRAS) <= set(vars(generic))


def test_the_rest_is_the_librarys() -> None:
    assert generic.exp is np.exp
    with pytest.raises(AttributeError):
        generic.no_such_function
    assert repr(generic) == "<array namespace numpy>"


@given(basic_indices((3, 4), allow_newaxis=True))
def test_put_at_any_basic_index(key: Any) -> None:
    key = key if isinstance(key, tuple) else (key,)
    for value in (np.float64(5), np.random.standard_normal(np.shape(X[key]))):
        for accumulate in (False, True):
            out = generic.put(X, np.asarray(value), key=key, accumulate=accumulate)
            np.testing.assert_array_equal(out, numpy.put(X, value, key=key, accumulate=accumulate))


@pytest.mark.parametrize(
    "key",
    [(np.array([0, 2, 0]),), (np.array([0, 2]), np.array([1, 1])), (X > 5,), (np.zeros(0, int),), (np.array(True),),
     (slice(1, 3), np.array([[0, -1], [1, 1]])), (np.array([0, -2]), None, np.array([1, 1])), (..., np.array([3, 0])),
     (np.array([True, False, True]), slice(0, 4, 2)), (None, np.array([2, 2]), slice(None))],
)  # fmt: skip
@pytest.mark.parametrize("accumulate", [False, True])
def test_at_and_put_with_arrays(key: Any, accumulate: bool) -> None:
    places = [k for k in key if isinstance(k, np.ndarray)]
    here = tuple(HERE if isinstance(k, np.ndarray) else k for k in key)
    np.testing.assert_array_equal(generic.at(X, *places, key=here), X[key])
    np.testing.assert_array_equal(numpy.at(X, *places, key=here), X[key])
    value = np.random.standard_normal(X[key].shape)
    expected = X.copy()
    if accumulate:
        np.add.at(expected, key, value)
    else:
        expected[key] = value
    for library in (generic, numpy):
        out = library.put(X, value, *places, key=here, accumulate=accumulate)
        np.testing.assert_allclose(out, expected, rtol=1e-15)


def test_nothing_else_is_touched_by_nan() -> None:
    out = generic.put(np.array([np.nan, 1.0, np.inf]), np.array(np.nan), key=(1,))
    assert np.array_equal(out, [np.nan, np.nan, np.inf], equal_nan=True)


@pytest.mark.parametrize("axis", [0, 1])
def test_scatter_add(axis: int) -> None:
    index = np.array([[0, 2, 0, 1], [2, 2, 0, 1]]) if axis == 0 else np.array([[0, 3], [1, 1], [2, 0]])
    src = np.random.standard_normal(index.shape)
    np.testing.assert_allclose(
        generic.scatter_add(X, index, src, axis=axis), numpy.scatter_add(X, index, src, axis=axis), rtol=1e-15
    )


_PAIRS = partial(np.ndarray.view, dtype=np.float64)


@pytest.mark.parametrize("views", [
    [np.transpose, lambda a: a[1:3, ::2]],
    [lambda a: a[None, 1], lambda a: a[..., ::-1]],
    [],
    [_PAIRS],
    [lambda a: a[::-1, 1:], lambda a: a.imag, np.transpose],
], ids=["two", "backwards", "all", "pairs", "imaginary parts"])  # fmt: skip
def test_write_view(views: Any) -> None:
    base = X + 1j * X[::-1] if _PAIRS in views or len(views) > 2 else X.copy()
    steps = chain(*[(f, {}) for f in views])
    region = read(base.copy(), steps)
    value = np.random.standard_normal(region.shape)
    expected = base.copy()
    read(expected, steps)[...] = value
    np.testing.assert_array_equal(numpy.write_view(base, value, steps=steps), expected)
    np.testing.assert_array_equal(generic.write_view(base, value, steps=steps), expected)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [("ij,jk->ik", [(2, 3), (3, 4)]), ("ij->ji", [(2, 3)]), ("ij->", [(2, 3)]), ("i,j->ji", [(2,), (3,)]),
     ("bij,bjk->bik", [(2, 3, 4), (2, 4, 2)]), (",i->i", [(), (3,)]), ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)])],
)  # fmt: skip
def test_einsum(equation: str, shapes: list[tuple[int, ...]]) -> None:
    xs = [np.random.standard_normal(s) for s in shapes]
    np.testing.assert_allclose(generic.einsum(*xs, equation=equation), np.einsum(equation, *xs), rtol=1e-12, atol=1e-12)


def test_likes() -> None:
    x = np.zeros((2, 3), np.float32)
    assert generic.zeros_like(x).shape == (2, 3)
    assert generic.ones_like(x, shape=(4,)).tolist() == [1.0] * 4
    assert generic.ones_like(x, shape=(4,)).dtype == np.float32


def test_only_numpy_looks_whether_a_condition_holds() -> None:
    assert [xp.may_hold(condition) for xp in (generic, numpy) for condition in (X > 0, X < 0)] == [1, 1, 1, 0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_to_complex_keeps_infinities_and_the_signs_of_zeros(dtype: str) -> None:
    parts = np.array([0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan], dtype)
    out = np.asarray(strict.to_complex(*map(strict.asarray, (parts[:, None], parts))))
    for found, wanted in zip((out.real, out.imag), np.broadcast_arrays(parts[:, None], parts), strict=True):
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(np.signbit(found[~np.isnan(found)]), np.signbit(wanted[~np.isnan(wanted)]))


def test_a_zero_beside_an_array() -> None:
    for xp in (generic, numpy):
        for dtype in ("float32", "int64", "bool"):
            zero = xp.zero(np.ones((2, 3), dtype))
            assert (zero.shape, zero.dtype, zero.item()) == ((), np.dtype(dtype), 0)
    assert not numpy.zero(X).flags.writeable


@pytest.mark.parametrize("key", [(slice(3, None),), (slice(1, 9), 0), (slice(-7, 1), ...), (slice(9, None, -1), HERE)])
def test_slices_that_reach_beyond_the_array(key: Any) -> None:
    x, place = np.arange(6.0).reshape(2, 3), np.array([2, 0])
    places = [place] if HERE in key else []
    out = strict.at(strict.asarray(x), *map(strict.asarray, places), key=key)
    assert np.array_equal(np.asarray(out), x[tuple(place if k is HERE else k for k in key)])
