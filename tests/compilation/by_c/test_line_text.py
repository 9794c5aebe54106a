"""What C does line by line: against NumPy, along every axis, of every dtype, with NaN and equal entries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradwright.backends.quiet import quietly
from gradwright.compilation.by_c.lines import line_of
from gradwright.compilation.by_c.runner import C
from gradwright.compilation.node import Interpreted
from gradwright.compilation.trace.traced import space, traced
from tests.compilation.random_programs import bits

DONE: dict[str, Any] = {
    "cumulative_sum": [{}], "cumulative_prod": [{}], "running_extremum": [{"largest": True}, {"largest": False}],
    "argmax": [{"keepdims": False}, {"keepdims": True}], "argmin": [{"keepdims": False}, {}],
    "argsort": [{"stable": True}], "sort": [{}],
    "argtop": [{"k": k, "largest": largest} for k in (2, 5) for largest in (True, False)],
}  # fmt: skip
SHAPES = [(7,), (3, 4), (2, 5, 3), (1, 1), (2, 70)]
DTYPES = ["float32", "float64", "int64", "uint8", "bool"]


def numbers(shape: tuple[int, ...], dtype: str, turned: bool) -> Any:
    """Few different ones, so that there are equal ones; NaN and infinities among those that have them."""
    rng = np.random.default_rng(0)
    x = rng.integers(-3, 4, shape[::-1] if turned else shape).astype(dtype)
    if x.dtype.kind == "f":
        x = x + rng.choice(np.array([0, 0.5, np.nan, np.inf], x.dtype), x.shape, p=[0.8, 0.1, 0.05, 0.05])
    return x.T if turned else x


def same(got: Any, want: Any) -> None:
    """Equal bits, but for the sign of a zero."""
    got, want = (x + x.dtype.type(0) if x.dtype.kind == "f" else x for x in (got, want))
    assert bits(got) == bits(want)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("name", DONE)
def test_lines(compiler: None, name: str, exact: bool) -> None:
    def takes(n: int, k: int = 0) -> bool:
        return k <= n < 16 * k if k else n <= 16 or name != "sort"

    cases = [(shape, axis, dtype, options) for shape in SHAPES for axis in range(-(name != "argtop"), len(shape))
             for dtype in DTYPES for options in DONE[name] if takes(shape[axis], options.get("k", 0))]  # fmt: skip
    arrays = [numbers(shape, dtype, k % 3 == 0) for k, (shape, _, dtype, _) in enumerate(cases)]

    def f(*xs: Any) -> list[Any]:
        return [getattr(space, name)(x, axis=axis, **options)
                for x, (_, axis, _, options) in zip(xs, cases, strict=True)]  # fmt: skip

    program = quietly(traced, f, *arrays)
    left = [x for node in program.outputs if line_of(node, exact) is None for x in node.nodes()]
    assert all(exact and x.dtype.kind == "f" and name in ("sort", "running_extremum") for x in left)
    runner = C(program, exact=exact)
    if not left:
        assert {record["kind"] for record in runner.loops} == {"C"}
    for got, want in zip(runner(arrays), quietly(Interpreted(program), arrays), strict=True):
        same(got, want)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_the_place_in_all_of_an_array(compiler: None, name: str) -> None:
    x = np.random.default_rng(0).standard_normal((4, 5))
    runner = C(traced(lambda x: [getattr(space, name)(x, axis=None), getattr(space, name)(x.T, axis=None)], x))
    assert {record["kind"] for record in runner.loops} == {"C"}
    assert [int(at) for at in runner([x])] == [getattr(x, name)(), getattr(x.T, name)()]


@pytest.mark.parametrize("n", [15, 16, 17, 33, 100, 1000])
def test_long_lines_are_sorted_as_numpy_does(compiler: None, n: int) -> None:
    x = np.random.default_rng(n).integers(0, n // 2, (3, n)).astype("float64")
    x[:, ::7] = np.nan
    program = traced(lambda x: [space.argsort(x, axis=1, stable=True), space.argtop(x, k=n, axis=1, largest=True)], x)
    for got, want in zip(C(program)([x]), Interpreted(program)([x]), strict=True):
        np.testing.assert_array_equal(got, want)
