"""NumPy's numbers and casts in C."""

from __future__ import annotations

import numpy as np
import pytest

from gradwright.compilation.by_c.ctypes_of import NAMES, castable, known, literal
from gradwright.compilation.by_c.runner import C
from gradwright.compilation.interpreted import Interpreted
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
@pytest.mark.parametrize("new", ["bool", "int8", "int32", "int64", "uint8", "uint64", "float32", "float64"])
def test_casts_are_numpys(compiler: None, old: np.dtype, new: str) -> None:  # type: ignore[type-arg]
    x = np.array([0, 1, -1, 100, -100, 3, 2], "int64").astype(old)
    if old.kind == "f":
        x = np.concatenate([x, np.array([1.7, -1.7, np.nan, np.inf, -np.inf, 1e30], old)])
    with np.errstate(all="ignore"):
        program = traced(lambda x: space.astype(x, np.dtype(new)), x)
        (want,) = Interpreted(program)([x])
        (got,) = C(program, exact=True)([x])
    np.testing.assert_array_equal(got, want)
    assert got.dtype == want.dtype
    assert castable(old, np.dtype(new)) or (old.kind == "f" and new in ("int8", "uint8", "uint64"))
