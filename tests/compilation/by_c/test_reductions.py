"""Reductions of every kind, over every choice of axes: blocks, lines, NaN, digits."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from gradwright.compilation.by_c.loops import BLOCK
from gradwright.compilation.by_c.runner import C
from gradwright.compilation.interpreted import Interpreted
from gradwright.compilation.trace.traced import space, traced

SHAPES = [(3, 4, 5), (2, 1, 9000), (700, 2, 3), (40, 50, 60), (1, 1, 1), (2, 0, 3), (200, 1000),
          (1000, 200), (3 * BLOCK + 1,)]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8", "bool"])
@pytest.mark.parametrize("shape", SHAPES)
def test_reductions(compiler: None, shape: tuple[int, ...], dtype: str) -> None:
    x = (np.random.default_rng(0).standard_normal(shape) * 3).astype(dtype)
    axes = range(len(shape))
    choices: list[Any] = [None, *(c for k in axes for c in itertools.combinations(axes, k + 1))]

    def f(x: Any) -> list[Any]:
        found = []
        for axis in choices:
            names = ["sum", "any", "all", "max", "min"] if x.size else ["sum", "any", "all", "prod"]
            found += [getattr(space, name)(x, axis=axis, keepdims=name == "sum") for name in names]
        return found

    program = traced(f, x)
    for got, want in zip(C(program)([x]), Interpreted(program)([x]), strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        if x.dtype.kind == "f" and got.dtype.kind == "f":
            near = 1e-5 if dtype == "float32" else 1e-12
            np.testing.assert_allclose(got, want, rtol=near, atol=100 * near)
        else:
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("at", [0, 17, 5000, 8191])
def test_a_nan_is_the_largest_and_the_smallest(compiler: None, at: int) -> None:
    x = np.zeros((2, 8192), np.float32)
    x[1, at] = np.nan
    program = traced(lambda x: [space.max(x), space.min(x), space.max(x, axis=1), space.min(x, axis=0)], x)
    for got, want in zip(C(program)([x]), Interpreted(program)([x]), strict=True):
        np.testing.assert_array_equal(got, want)


def test_a_long_sum_keeps_its_digits(compiler: None) -> None:
    x = np.full(10_000_000, 0.1, np.float32)
    (got,) = C(traced(lambda x: space.sum(x), x))([x])
    assert abs(float(got) / (1e7 * float(np.float32(0.1))) - 1) < 1e-5


@pytest.mark.parametrize("shape", [(100_000, 3), (50, 2000, 7), (30_000, 70), (300, 3 * BLOCK + 5)])
def test_sums_of_many_lines_keep_their_digits(compiler: None, shape: tuple[int, ...]) -> None:
    x = (np.random.default_rng(0).random(shape) + 0.5).astype(np.float32)
    axes = tuple(range(x.ndim - 1))
    (got,) = C(traced(lambda x: space.sum(x, axis=axes), x))([x])
    np.testing.assert_allclose(got, x.sum(axes, dtype=float), rtol=3e-7)
