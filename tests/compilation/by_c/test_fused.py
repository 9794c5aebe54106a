"""Products that are added before they are rounded, and where they are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradwright.compilation.by_c.runner import C
from gradwright.compilation.interpreted import Interpreted
from gradwright.compilation.node import CHECK, Node, Program
from gradwright.compilation.trace.traced import space, traced

ONE = np.float64(1)


def times_fused(f: Callable[..., Any], *arrays: Any, exact: bool = False) -> int:
    """How many products are fused, of a function whose results are NumPy's but for rounding."""
    program = traced(f, *arrays)
    c = C(program, exact)
    for got, want in zip(c(list(arrays)), Interpreted(program)(list(arrays)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13 if got.dtype == np.float64 else 1e-5)
    return c.source.count("= fused")


X, Y, Z = np.random.default_rng(0).uniform(0.5, 2, (3, 7, 50))


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize(("n", "f"), [
    (1, lambda x, y, z: space.sum(x * y)),
    (1, lambda x, y, z: space.sum(x * y, axis=0)),
    (2, lambda x, y, z: space.sum(space.square(x * y - z[0, 0]))),
    (2, lambda x, y, z: space.sum(space.square(z[0, 0] - x * y), axis=1)),
    (1, lambda x, y, z: space.sum(x * y + 2.0) * z),
    (1, lambda x, y, z: space.sum(x * y - (-2.0)) - 3.0),
    (2, lambda x, y, z: space.sum(space.square(-2.0 - x * y)) / 7.0),
    (1, lambda x, y, z: space.sum(space.square(x * y - z))),  # but for the inner one: z may be x y
    (1, lambda x, y, z: [space.sum(x * y + z[0, 0]), space.max(z)]),
])  # fmt: skip
def test_what_ends_in_sums_is_fused(n: int, f: Callable[..., Any]) -> None:
    assert times_fused(f, X, Y, Z) == n
    assert times_fused(f, *(a.astype(np.float32) for a in (X, Y, Z))) == n
    assert times_fused(f, X, Y, Z, exact=True) == 0


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("f", [
    lambda x, y, z: x * y + z,  # a result
    lambda x, y, z: space.sum(space.sqrt(z + x * y)),  # a root
    lambda x, y, z: space.sum(ONE / (x * y + z)),
    lambda x, y, z: space.sum(space.where(x * y + z > ONE, x, y)),
    lambda x, y, z: space.sum(space.abs(x * y + z)),
    lambda x, y, z: [space.sum(x * y + z), x * y],
    lambda x, y, z: space.max(x * y + z),
    lambda x, y, z: space.sqrt(space.sum(space.square(x * y - z[0, 0]))),  # a root of the sum
    lambda x, y, z: x / space.sum(x * y),
    lambda x, y, z: space.where(space.sum(x * y) > ONE, x, y),
])  # fmt: skip
def test_all_else_is_not(f: Callable[..., Any]) -> None:
    assert times_fused(f, X, Y, Z) == 0


def test_the_root_of_a_perfect_fit_is_zero(compiler: None) -> None:
    x = np.random.default_rng(0).uniform(0.5, 2, (2, 1000)).astype(np.float32)
    y = x[0] * x[1]
    (got,) = C(traced(lambda x, w, y: space.sqrt(space.sum(space.square(x * w - y))), *x, y))([*x, y])
    assert got == 0


def test_a_difference_of_equal_products_is_zero(compiler: None) -> None:
    x = np.random.default_rng(0).uniform(0.5, 2, 1000).astype(np.float32)

    def f(x: Any, y: Any, z: Any) -> Any:
        return [space.sum(x * z - y * z), space.sum(space.square(x) - space.square(y))]

    (a, b) = C(traced(f, x, x.copy(), x + np.float32(1)))([x, x.copy(), x + np.float32(1)])
    assert (a, b) == (0, 0)


def test_values_on_which_python_decides_are_those_of_numpy(compiler: None) -> None:
    """A check compares floats to the last bit."""
    x, y = (np.random.default_rng(k).standard_normal(1000).astype(np.float32) for k in (0, 1))
    program = traced(lambda x, y: [space.sum(x * y)], x, y)
    total = program.outputs[0]
    checked = Program([*program.nodes, Node(CHECK, (total, np.asarray(total.value)), {}, None)], program.inputs,
                      program.outputs, program.writes)  # fmt: skip
    (got,) = C(checked)([x, y])
    assert got == total.value
