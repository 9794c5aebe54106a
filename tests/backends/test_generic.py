"""The functions that formulas use and the standard lacks: in each library what NumPy's own indexing gives."""

from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.numpy import basic_indices

from gradwright import backends
from gradwright.backends.generic import HERE, Extended
from gradwright.backends.numpy import namespace as numpy
from gradwright.backends.steps import chain, read
from gradwright.backends.strict import namespace as strict
from gradwright.ops.declare import table

X = np.arange(12.0).reshape(3, 4)
generic = Extended(np)
LIBRARIES: dict[str, Any] = {"generic": generic, "NumPy": numpy}
if find_spec("jax"):
    LIBRARIES["jax"] = import_module("gradwright.backends.jax").namespace


@pytest.fixture(params=LIBRARIES)
def xp(request: pytest.FixtureRequest) -> Any:
    return LIBRARIES[request.param]


def check(xp: Any, name: str, want: Any, *arrays: Any, rtol: float = 0.0, **static: Any) -> None:
    """Check that the function of this name gives this in an array of the library, and writes nowhere."""
    given = [xp.asarray(a.copy()) for a in arrays]
    got = getattr(xp, name)(*given, **static)
    for before, after in zip(arrays, given, strict=True):
        np.testing.assert_array_equal(backends.to_host(after), before)
    assert type(got) is type(xp.asarray(want)) or not want.shape
    assert not getattr(got, "weak_type", False)
    host = backends.to_host(got)
    assert (host.dtype, host.shape) == (want.dtype, want.shape)
    np.testing.assert_allclose(host, want, rtol=rtol)


def test_has_every_extra(xp: Any) -> None:
    assert all(callable(getattr(xp, name)) for name in backends.EXTRAS)


def test_the_rest_is_the_librarys() -> None:
    assert generic.exp is np.exp
    with pytest.raises(AttributeError):
        generic.no_such_function
    assert repr(generic) == "<array namespace numpy>"


def written(value: Any, key: Any, accumulate: bool) -> Any:
    out = X.copy()
    if accumulate:
        np.add.at(out, key, value)
    else:
        out[key] = value
    return out


def test_put_at_any_basic_index(xp: Any) -> None:
    @settings(max_examples=8 if xp is LIBRARIES.get("jax") else 100, deadline=None)  # JAX compiles for each
    @given(basic_indices((3, 4), allow_newaxis=True))
    def put(key: Any) -> None:
        key = key if isinstance(key, tuple) else (key,)
        for value in (np.asarray(5.0), np.random.standard_normal(np.shape(X[key]))):
            for accumulate in (False, True):
                want = written(value, key, accumulate)
                check(xp, "put", want, X, value, key=key, accumulate=accumulate)

    put()


@pytest.mark.parametrize(
    "key",
    [(np.array([0, 2, 0]),), (np.array([0, 2]), np.array([1, 1])), (X > 5,), (np.zeros(0, int),), (np.array(True),),
     (slice(1, 3), np.array([[0, -1], [1, 1]])), (np.array([0, -2]), None, np.array([1, 1])), (..., np.array([3, 0])),
     (np.array([True, False, True]), slice(0, 4, 2)), (None, np.array([2, 2]), slice(None))],
)  # fmt: skip
def test_at_put_and_unindex_with_arrays(xp: Any, key: Any) -> None:
    places = [k for k in key if isinstance(k, np.ndarray)]
    here = tuple(HERE if isinstance(k, np.ndarray) else k for k in key)
    check(xp, "at", X[key], X, *places, key=here)
    value = np.random.standard_normal(X[key].shape)
    for accumulate in (False, True):
        want = written(value, key, accumulate)
        check(xp, "put", want, X, value, *places, key=here, accumulate=accumulate, rtol=1e-15)
    back = np.zeros_like(X)
    np.add.at(back, key, value)
    check(xp, "unindex", back, value, *places, shape=X.shape, key=here, rtol=1e-15)


def test_nothing_else_is_touched_by_nan() -> None:
    out = generic.put(np.array([np.nan, 1.0, np.inf]), np.array(np.nan), key=(1,))
    assert np.array_equal(out, [np.nan, np.nan, np.inf], equal_nan=True)


COMBINE = {"scatter_add": np.add, "scatter_max": np.maximum, "scatter_prod": np.multiply}


@pytest.mark.parametrize(("axis", "index"), [
    (0, [[0, 2, 0, 1], [2, 2, 0, 1]]), (1, [[0, 3], [1, 1], [2, 0]]), (0, [[0, 1], [2, 2], [0, 2]]),
    (1, [[0, 1], [2, 2], [0, 2]]),
])  # fmt: skip
@pytest.mark.parametrize("name", [*COMBINE, "take_along_axis", "scatter"])
def test_scatter_and_gather(xp: Any, name: str, axis: int, index: Any) -> None:
    index = np.array(index)
    if name == "take_along_axis":
        part = X if axis == 1 else X[:, : index.shape[1]]
        return check(xp, name, np.take_along_axis(part, index, axis), X, index, axis=axis)
    src, out = np.random.standard_normal(index.shape), X.copy()
    if name == "scatter":  # which names no place twice
        index = np.array([[0, 1], [2, 0], [1, 2]])
        src = np.random.standard_normal(index.shape)
    grid = np.indices(index.shape)
    key = (index, grid[1]) if axis == 0 else (grid[0], index)
    if name == "scatter":
        out[key] = src
    else:
        COMBINE[name].at(out, key, src)
    return check(xp, name, out, X, index, src, axis=axis, rtol=1e-15)


@pytest.mark.parametrize("name", ["jax", "NumPy"])
def test_booleans_are_combined_as_in_numpy(name: str) -> None:
    xp = LIBRARIES.get(name) or pytest.skip("JAX is not installed")
    x, index = np.array([True, False, True]), np.array([0, 1, 1, 2])
    src = np.array([False, False, True, False])
    for scatter, ufunc in COMBINE.items():
        out = x.copy()
        ufunc.at(out, index, src)
        check(xp, scatter, out, x, index, src, axis=0)
    check(xp, "put", np.array([True, True, True]), x, src, index, key=(HERE,), accumulate=True)


def test_counting(xp: Any) -> None:
    places, weights = np.array([0, 2, 2, 5]), np.array([0.5, 1.0, 2.0, 4.0])
    check(xp, "bincount", np.bincount(places, minlength=7), places, length=7)
    check(xp, "bincount", np.bincount(places, weights, 7), places, weights, length=7)
    single = weights.astype(np.float32)
    check(xp, "bincount", np.bincount(places, single, 6).astype(np.float32), places, single, length=6)
    for y, bins, ends in ((weights, 3, (0.5, 4.0)), (np.array([0.0, 0.3, 1.0, 1.0, 7.0, -1.0]), 4, (0.0, 1.0))):
        counts, edges = xp.histogram(xp.asarray(y), bins, ends)
        wanted = np.histogram(y, bins, ends)
        np.testing.assert_array_equal(backends.to_host(counts), wanted[0])
        np.testing.assert_allclose(backends.to_host(edges), wanted[1], rtol=1e-15)


@pytest.mark.parametrize("largest", [True, False])
def test_running_extremum(xp: Any, largest: bool) -> None:
    x = np.array([[1.0, 3.0, 2.0], [np.nan, 5.0, 0.0]])
    for axis in (0, 1):
        want = (np.maximum if largest else np.minimum).accumulate(x, axis)
        check(xp, "running_extremum", want, x, axis=axis, largest=largest)


def test_order(xp: Any) -> None:
    lines = np.array([[2, 1, 0], [1, 2, 2], [2, 1, 0], [1, 2, 1]])
    check(xp, "sorted_lines", np.array([3, 1, 0, 2]), lines)
    check(xp, "sorted_lines", np.arange(4), lines[:, :0])
    for some, options in (([0, 2], {}), ([], {"invert": True}), ([1], {"invert": True})):
        given = np.array(some, lines.dtype)
        check(xp, "isin", np.isin(lines, given, **options), lines, given, **options)


_PAIRS = partial(np.ndarray.view, dtype=np.float64)


@pytest.mark.parametrize("views", [
    [np.transpose, lambda a: a[1:3, ::2]],
    [lambda a: a[None, 1], lambda a: a[..., ::-1]],
    [],
    [_PAIRS],
    [lambda a: a[::-1, 1:], lambda a: a.imag, np.transpose],
], ids=["two", "backwards", "all", "pairs", "imaginary parts"])  # fmt: skip
def test_write_view_by_functions_of_numpy(views: Any) -> None:
    base = X + 1j * X[::-1] if _PAIRS in views or len(views) > 2 else X.copy()
    steps = chain(*[(f, {}) for f in views])
    expected = base.copy()
    region = read(expected, steps)
    value = np.random.standard_normal(region.shape)
    region[...] = value
    for xp in (numpy, generic):
        check(xp, "write_view", expected, base, value, steps=steps)


VIEWS = [
    (("index", {"key": (slice(0, 2), ...)}), ("permute_dims", {"axes": (1, 0)})),
    (("reshape", {"shape": (2, 6)}), ("index", {"key": (1, ...)}), ("index", {"key": (slice(1, 3),)})),
    (("expand_dims", {"axis": 1}), ("alias", {}), ("squeeze", {"axis": (1,)}), ("index", {"key": (..., -1)})),
    (("diagonal", {"offset": 1}),),
    (("index", {"key": (slice(None, None, 2),)}), ("diagonal", {"offset": 0})),
    (("unstack", {"axis": 1}, 2), ("index", {"key": (slice(1, None),)})),
    (("split", {"sizes": (1, 3), "axis": 1}, 1),),
    (("restride", {"source": ((3, 4), (4, 1), 0), "target": ((2, 2), (5, 2), 1)}),),
    (),
    (("real", {}), ("index", {"key": (1, ...)})),
    (("imag", {}), ("index", {"key": (1, ...)})),
]


@pytest.mark.parametrize("views", VIEWS, ids=lambda views: "-".join(v[0] for v in views))
def test_write_view(xp: Any, views: Any) -> None:
    base = X + 1j if views and views[0][0] in ("real", "imag") else X
    steps = chain(*[(table[name], *rest) for name, *rest in views])
    expected = base.copy()
    region = read(expected, steps)
    value = np.random.standard_normal(region.shape)
    region[...] = value
    check(xp, "write_view", expected, base, value, steps=steps)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [("ij,jk->ik", [(2, 3), (3, 4)]), ("ij->ji", [(2, 3)]), ("ij->", [(2, 3)]), ("i,j->ji", [(2,), (3,)]),
     ("bij,bjk->bik", [(2, 3, 4), (2, 4, 2)]), (",i->i", [(), (3,)]), ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)]),
     ("ij,jk->ki", [(3, 4), (4, 5)])],
)  # fmt: skip
def test_einsum(xp: Any, equation: str, shapes: list[tuple[int, ...]]) -> None:
    xs = [np.random.standard_normal(s) for s in shapes]
    check(xp, "einsum", np.asarray(np.einsum(equation, *xs)), *xs, equation=equation, rtol=1e-11)


def test_likes(xp: Any) -> None:
    x = np.zeros((2, 3), np.float32)
    for name, make in (("zeros_like", np.zeros), ("ones_like", np.ones)):
        check(xp, name, make((2, 3), np.float32), x)
        for shape in ((4,), ()):
            check(xp, name, make(shape, np.float32), x, shape=shape)
        check(xp, name, make((2, 3), np.int64), x, dtype=np.int64)


def test_only_numpy_looks_whether_a_condition_holds() -> None:
    assert [xp.may_hold(condition) for xp in (generic, numpy) for condition in (X > 0, X < 0)] == [1, 1, 1, 0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("library", [*LIBRARIES, "array-api-strict"])
def test_to_complex_keeps_infinities_and_the_signs_of_zeros(library: str, dtype: str) -> None:
    xp = LIBRARIES.get(library, strict)
    parts = np.array([0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan], dtype)
    out = backends.to_host(xp.to_complex(*map(xp.asarray, (parts[:, None], parts))))
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
