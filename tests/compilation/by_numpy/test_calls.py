"""The text of single nodes, and that it computes what NumPy does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradwright.compilation.by_numpy.plan import Plan
from gradwright.compilation.trace.traced import space, traced

X = np.random.default_rng(0).uniform(-2, 2, (40, 30))
CARE = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 5e-324])


def _inside(f: Callable[..., Any], *arrays: Any) -> tuple[str, Any, Any]:
    """The text, the result and NumPy's, where neither arguments nor results are new memory or inputs."""
    program = traced(lambda *given: space.exp(f(*(space.negative(x) for x in given))), *arrays)
    plan = Plan(program)
    plan(arrays)
    return plan.source, plan(arrays)[0], program.outputs[0].value


@pytest.mark.parametrize(("f", "call"), [
    (lambda x: space.sum(x), ".dot("),
    (lambda x: space.sum(x * x), ".dot("),
    (lambda x: space.sum(x, axis=(1,)), "vecdot("),
    (lambda x: space.sum(x * x, axis=1), "vecdot("),
    (lambda x: space.sum(x, axis=(0,)), ".dot("),
    (lambda x: space.sum(x, axis=(0,), keepdims=True), "add_reduce("),
    (lambda x: space.sum(x[:, :4] + 1.0, axis=(1,)), "add_reduce("),
    (lambda x: space.maximum(x, 0.5), "out="),
    (lambda x: space.where(x > 0, x, x * 2.0), "bitwise_xor("),
    (lambda x: space.where(x > 0, x, 0.0 * space.zero(x)), "bitwise_and("),
    (lambda x: space.where(x > 0, space.zero(x), x), "bitwise_and("),
    (lambda x: space.reshape(x.T, (40, 30)), "copyto("),
    (lambda x: space.astype(x, "float32" if x.dtype == "float64" else "float64"), "copyto("),
    (lambda x: x @ x.T, "matmul("),
    (lambda x: space.sum(x) / 3.0 * space.sum(x) - 1.0, " / "),
])  # fmt: skip
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_call(f: Callable[..., Any], call: str, dtype: str) -> None:
    source, got, want = _inside(f, X.astype(dtype))
    assert call in source
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-12 if got.dtype == "float64" else 3e-5)


@pytest.mark.parametrize("f", [
    lambda x, y: space.where(x > 0, x, y), lambda x, y: space.where(x > 0, x, space.zero(y)),
    lambda x, y: space.where(x > 0, space.zero(x), y), lambda x, y: space.where(x > 0, x, -space.zero(y)),
    lambda x, y: space.where(x > 0, x, y[0]), lambda x, y: space.where(x > 0, x[:, :1], y),
])  # fmt: skip
@pytest.mark.parametrize("length", [1, 700])
def test_choices_keep_all_bits(f: Callable[..., Any], length: int) -> None:
    """Of NaN, infinities and both zeros; at once and piece by piece."""
    x, y = (np.tile(a.reshape(8, 8), (8, length)) for a in np.meshgrid(CARE, CARE))
    program = traced(lambda x, y: [f(x, y), space.negative(f(x, y))], x, y)
    for got, want in zip(Plan(program)([x, y]), program.outputs, strict=True):
        np.testing.assert_array_equal(got.view("i8"), want.value.view("i8"))
