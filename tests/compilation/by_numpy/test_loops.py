"""Loops over pieces, beside NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradwright.compilation.by_numpy.plan import Plan
from gradwright.compilation.trace.traced import space, traced

rng = np.random.default_rng(0)
FLAT = [rng.uniform(0.5, 2, 100_003), rng.uniform(0.5, 2, 100_003), np.array(0.3)]
ROWS = [rng.uniform(0.5, 2, (700, 90)), rng.uniform(0.5, 2, (700, 1)), rng.uniform(0.5, 2, 90)]
NARROW = [rng.uniform(0.5, 2, (30_001, 3)), rng.uniform(0.5, 2, (30_001, 1)), rng.uniform(0.5, 2, (1, 3))]
DEEP = [rng.uniform(0.5, 2, (300, 20, 16)), rng.uniform(0.5, 2, (300, 1, 16)), rng.uniform(0.5, 2, (20, 1))]


def _sums(z: Any) -> list[Any]:
    n = len(z.shape)
    some = [space.sum(z, axis=(a,), keepdims=k) for a in range(n) for k in (False, True)]
    return [space.sum(z), space.sum(z * z), space.sum(z * z, axis=(n - 1,)), *some]


@pytest.mark.parametrize("f", [
    lambda x, y, c: x * y + c,
    lambda x, y, c: [space.exp(x * c), space.sum(x * y), space.sum(x + y + c)],
    lambda x, y, c: _sums(space.tanh(x * y) - c),
    lambda x, y, c: space.exp(x * y) / (space.sum(space.exp(x * y)) + c),
    lambda x, y, c: space.where(x > y, x * c, space.zero(x)),
    lambda x, y, c: [space.astype(x, "float32"), x > y, space.maximum(x, 1.0) + space.sum(y)],
    lambda x, y, c: [space.sqrt(space.sum(x) * 2.0) * x, space.sum(c) * y],
    lambda x, y, c: space.sum(space.sort(x) * x) * x,
])  # fmt: skip
@pytest.mark.parametrize("arrays", [FLAT, ROWS, NARROW, DEEP])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_loops(f: Callable[..., Any], arrays: list[Any], dtype: str) -> None:
    given = [a.astype(dtype) for a in arrays]
    program = traced(f, *given)
    plan, exact = Plan(program), Plan(program, exact=True)
    assert "for " in plan.source
    for _ in range(2):
        for got, bits, node in zip(plan(given), exact(given), program.outputs, strict=True):
            want = node.value
            assert (got.dtype, got.shape) == (want.dtype, want.shape)
            np.testing.assert_allclose(got, want, rtol=1e-11 if want.dtype == "float64" else 2e-4, atol=1e-6)
            np.testing.assert_array_equal(bits, want)


@pytest.mark.parametrize("layout", [np.asfortranarray, lambda x: np.tile(x, 2)[:, ::2], lambda x: x[::-1]])
def test_other_layouts(layout: Callable[[Any], Any]) -> None:
    x = layout(ROWS[0])
    program = traced(lambda x, y: [x * y, space.sum(x * y), space.sum(x * y, axis=(0,))], ROWS[0], ROWS[1])
    program.inputs[0].value = x
    plan = Plan(program)
    for got, want in zip(plan([x, ROWS[1]]), [z := x * ROWS[1], z.sum(), z.sum(0)], strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)


def test_inputs_are_written_piece_by_piece() -> None:
    program = traced(lambda p, g: [p - g * 0.1, space.sum(p * g)], FLAT[0], FLAT[1])
    program.writes[0] = 0
    plan = Plan(program)
    assert "copyto(x0" not in plan.source
    p = FLAT[0].copy()
    assert np.isclose(plan([p, FLAT[1]])[1], (FLAT[0] * FLAT[1]).sum(), rtol=1e-12)
    np.testing.assert_allclose(p, FLAT[0] - FLAT[1] * 0.1, rtol=1e-12)
