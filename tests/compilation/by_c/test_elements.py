"""Every function of entries that C computes, against NumPy: all dtypes, and the numbers that need care."""

from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pytest

from gradwright.backends.quiet import quietly
from gradwright.compilation.by_c.elements import NAMES, TEXTS, castable, element, known, literal
from gradwright.compilation.by_c.runner import C
from gradwright.compilation.node import Interpreted
from gradwright.compilation.trace.traced import space, traced

NUMBERS = [0, 1, -1, 0.1, 1e300, -1e-300, 5e-324, float("inf"), float("-inf"), float("nan"), -0.0, 2**53 + 1, 123456789]


def test_what_c_has_no_name_for_is_not_known() -> None:
    assert not any(known(np.dtype(name)) for name in ("float16", "complex64", "object", ">f4", "longdouble"))
    assert known(np.dtype("float32"))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_are_the_same_in_c(compiler: None, dtype: str) -> None:
    x = np.zeros(2, dtype)
    with np.errstate(all="ignore"):
        program = traced(lambda x: [space.where(space.equal(x, 0), x.dtype.type(n), x) for n in NUMBERS], x)
        for n, got in zip(NUMBERS, C(program)([x]), strict=True):
            np.testing.assert_array_equal(got.view(f"u{x.itemsize}"), np.full(2, n, dtype).view(f"u{x.itemsize}"))


@pytest.mark.parametrize("dtype", [d for d in NAMES if d.kind in "iu"])
def test_whole_numbers_keep_their_ends(compiler: None, dtype: np.dtype) -> None:  # type: ignore[type-arg]
    info, x = np.iinfo(dtype), np.zeros(1, dtype)
    program = traced(lambda x: [space.add(x, info.min), space.add(x, info.max)], x)
    low, high = C(program)([x])
    assert (low[0], high[0]) == (info.min, info.max)
    assert literal(info.max + 1, dtype) is None


@pytest.mark.parametrize("old", list(NAMES))
def test_casts_are_numpys(compiler: None, old: np.dtype) -> None:  # type: ignore[type-arg]
    news = [*map(np.dtype, ["bool", "int8", "int32", "int64", "uint8", "uint64", "float32", "float64"])]
    x = np.array([0, 1, -1, 100, -100, 3, 2], "int64").astype(old)
    if old.kind == "f":
        x = np.concatenate([x, np.array([1.7, -1.7, np.nan, np.inf, -np.inf, 1e30], old)])
    with np.errstate(all="ignore"):
        program = traced(lambda x: [space.astype(x, new) for new in news], x)
        found = zip(news, C(program, exact=True)([x]), Interpreted(program)([x]), strict=True)
    for new, got, want in found:
        np.testing.assert_array_equal(got, want, err_msg=new.name)
        assert got.dtype == want.dtype
        assert castable(old, new) or (old.kind == "f" and new.name in ("int8", "uint8", "uint64"))


CARE = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -2.5, 1e-30, 88.0, -88.0, 3.0, 1e30, -1e30])


def numbers(dtype: Any) -> Any:
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return np.concatenate([CARE, np.random.default_rng(0).standard_normal(33)]).astype(dtype)
    if dtype.kind == "b":
        return np.array([False, True, True, False])
    info = np.iinfo(dtype)
    return np.array([info.min, info.max, 0, 1, 2, 3, 7, info.max // 2, info.min + 1], dtype)


def pairs(dtype: Any) -> tuple[Any, Any]:
    x = numbers(dtype)
    return np.repeat(x, len(x)), np.tile(x, len(x))


def runs(f: Any, *arrays: Any, exact: bool = False) -> list[tuple[Any, Any, Any]]:
    """Of each output what C and NumPy give, and how C computes it."""
    program = traced(f, *arrays)
    ways = [element(node, exact) for node in program.outputs]
    return list(zip(C(program, exact=exact)(arrays), Interpreted(program)(arrays), ways, strict=True))


def run(f: Any, *arrays: Any, exact: bool = False) -> tuple[Any, Any, Any]:
    (found,) = runs(f, *arrays, exact=exact)
    return found


def agree(got: Any, want: Any, exact: bool = False) -> None:
    assert got.dtype == want.dtype
    if exact or want.dtype.kind != "f":
        np.testing.assert_array_equal(got, want)
        if want.dtype.kind == "f":
            held = ~np.isnan(want)
            np.testing.assert_array_equal(np.signbit(got[held]), np.signbit(want[held]))
    else:
        small = np.finfo(want.dtype).tiny
        np.testing.assert_allclose(got, want, rtol=8 * np.finfo(want.dtype).eps, atol=small)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("name", sorted(TEXTS))
def test_ufuncs(compiler: None, name: str, exact: bool) -> None:
    ufunc = getattr(np, name)
    given: list[Any] = []
    for dtype in NAMES:
        arrays = pairs(dtype)[: ufunc.nin]
        if name in ("left_shift", "right_shift") and dtype.kind in "iu":
            arrays = (arrays[0], np.abs(arrays[1] % 70).astype(dtype))
        try:
            quietly(ufunc, *arrays)
        except (TypeError, ValueError):
            continue
        given.append(arrays)
    n = ufunc.nin
    each = quietly(runs, lambda *a: [getattr(space, name)(*a[k : k + n]) for k in range(0, len(a), n)],
                   *chain(*given), exact=exact)  # fmt: skip
    for got, want, way in each:
        if name in ("maximum", "minimum", "fmax", "fmin"):  # of 0.0 and -0.0 either
            got, want = got + 0, want + 0
        agree(got, want, exact or way is None)
    assert exact or any(way is not None for _, _, way in each)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8"])
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4, -1, -2, 0.5, 1.5, 2.0, 7])
def test_powers(compiler: None, dtype: str, exponent: float) -> None:
    x = numbers(np.dtype(dtype))
    if x.dtype.kind in "iu" and exponent < 0:
        pytest.skip("NumPy raises: no such program")
    got, want, _ = quietly(run, lambda x: space.power(x, exponent), x)
    held = np.abs(want.astype(np.float64)) > 1e-37
    agree(got[held | np.isnan(want)], want[held | np.isnan(want)])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exp_where_it_vanishes(compiler: None, dtype: str) -> None:
    ends = (-103.9, -103.98, -104.0, -87.4, 88.8) if dtype == "float32" else (-745.1, -745.2, -746.0, -708.5, 709.8)
    x = np.concatenate([np.linspace(-110, 90, 999), np.array([-np.inf, np.inf, np.nan, -0.0]), np.array(ends)])
    x = x.astype(dtype)
    got, want, _ = quietly(run, space.exp, x)
    np.testing.assert_array_equal(got == 0, want == 0)
    agree(got, want)


def test_powers_of_arrays(compiler: None) -> None:
    for dtype in (np.float32, np.float64):
        agree(*quietly(run, lambda x, y: space.power(x, y), *pairs(np.dtype(dtype)))[:2])


@pytest.mark.parametrize("bounds", [(0.5, None), (None, 0.5), (-1.0, 1.0), (2.0, -2.0), (0, 1), (0.0, 6.0),
                                    (-0.0, 6.0), (-6.0, 0.0), (-6.0, -0.0), (0.0, None), (None, -0.0)])
def test_clip(compiler: None, bounds: Any) -> None:
    for dtype in ("float32", "float64", "int32"):
        x = numbers(np.dtype(dtype))
        if x.dtype.kind == "i" and any(type(b) is float for b in bounds):
            continue
        got, want, _ = run(lambda x: space.clip(x, *bounds), x)
        agree(got, want, exact=True)


@pytest.mark.parametrize("exact", [False, True])
def test_where(compiler: None, exact: bool) -> None:
    for dtype in NAMES:
        x, y = pairs(dtype)
        got, want, way = run(lambda x, y: space.where(space.less(x, y), x, y), x, y, exact=exact)
        agree(got, want, True)
        assert way is not None


def test_promotion_is_numpys(compiler: None) -> None:
    rng = np.random.default_rng(0)
    for a in NAMES:
        x, *ys = (np.asarray(rng.integers(0, 5, 6)).astype(d) for d in (a, *NAMES))
        for got, want, _ in runs(lambda x, *ys: [space.add(x, y) for y in ys], x, *ys, exact=True):
            agree(got, want, True)
        for got, want, _ in runs(lambda x: [space.multiply(x, number) for number in (2, 0.25, True)], x):
            agree(got, want, True)
    scalar = np.array(0.1)  # a 0-d array is not weak
    got, want, _ = run(lambda x, y: space.multiply(x, y), np.ones(3, np.float32), scalar)
    assert got.dtype == want.dtype == np.float64


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("whole", ["int32", "int64"])
def test_numbers_to_whole_ones_and_back(compiler: None, kind: str, whole: str) -> None:
    x = np.concatenate([CARE, [2.0**31, -(2.0**31), 2.0**63, -(2.0**63), 2147483520.0, -2147483648.0]]).astype(kind)
    got, want, _ = run(lambda x: space.astype(space.astype(x, np.dtype(whole)), np.dtype(kind)), x)
    agree(got, want, True)


def test_fills_round_and_copies(compiler: None) -> None:
    x = numbers(np.dtype("float64"))
    copy: Any = partial(space.asarray, copy=True)
    for f in (space.zeros_like, space.ones_like, space.round, lambda x: space.zero(x), copy):
        got, want, _ = run(f, x, exact=True)
        agree(got, want, True)


def test_an_array_of_bounds_may_hold_nan(compiler: None) -> None:
    x, low = np.array([1.0, 2.0]), np.array([np.nan, 3.0])
    got, want, way = run(lambda x, low: space.clip(x, low, None), x, low)
    agree(got, want)
    assert way is None
