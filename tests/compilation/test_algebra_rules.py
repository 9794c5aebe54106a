"""The rules of signs, ones and zeros, powers, factors, sums and products: each does what it is for, rightly rounded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradwright.compilation.passes import simplified
from gradwright.compilation.trace.traced import space, traced
from tests.compilation.checks import ops_of, same_bits, same_but_rounded

CARE = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.3, -1.7, 5e-324, 1e300, 3.0]
X, Y = (a.reshape(12, 12) for a in np.meshgrid(CARE, CARE))  # all pairs of numbers that need care
A, B = np.random.default_rng(0).uniform(0.5, 2, (2, 12, 12))

EXACT: list[tuple[str, Callable[..., Any], list[str]]] = [
    ("numbers", lambda x, y: [x * 2.0, 2 * x], ["multiply", "multiply"]),
    ("twice_negative", lambda x, y: space.negative(-x), []),
    ("twice_negative", lambda x, y: -(x * np.float64(3)), ["multiply"]),
    ("add_negative", lambda x, y: x + (-y), ["subtract"]),
    ("add_negative", lambda x, y: x - (-y), ["add"]),
    ("add_negative", lambda x, y: (-x) + y, ["subtract"]),
    ("signs_outside", lambda x, y: (-x) * y, ["multiply", "negative"]),
    ("signs_outside", lambda x, y: x / (-y), ["divide", "negative"]),
    ("signs_outside", lambda x, y: (-x) * np.float64(3), ["multiply"]),
    ("times_one", lambda x, y: x * 1.0, []),
    ("times_one", lambda x, y: 1 * x, []),
    ("times_one", lambda x, y: x / 1.0, []),
    ("times_one", lambda x, y: space.power(x, 1), []),
    ("times_one", lambda x, y: x * np.float64(-1.0), ["negative"]),
    ("times_one", lambda x, y: x * 1.5, ["multiply"]),
    ("plus_zero", lambda x, y: x - 0.0, []),
    ("plus_zero", lambda x, y: x + np.float64(-0.0), []),
    ("plus_zero", lambda x, y: x + 0.0, ["add"]),
    ("plus_zero", lambda x, y: x - np.float64(-0.0), ["subtract"]),
    ("plus_zero", lambda x, y: 0.0 - x, ["subtract"]),
    ("power_zero", lambda x, y: space.power(x, 0), ["broadcast_to"]),
    ("squares", lambda x, y: x * x, ["square"]),
    ("squares", lambda x, y: x * y, ["multiply"]),
    ("reciprocals", lambda x, y: 1.0 / x, ["reciprocal"]),
    ("reciprocals", lambda x, y: x / 8.0, ["multiply"]),
    ("reciprocals", lambda x, y: x / 3.0, ["divide"]),
    ("doubles", lambda x, y: x + x, ["multiply"]),
]
ROUNDED: list[tuple[str, Callable[..., Any], list[str]]] = [
    ("signs_through", lambda x, y: (-x) - y, ["add", "negative"]),
    ("signs_through", lambda x, y: space.sum(-x, axis=(0,)), ["sum", "negative"]),
    ("powers", lambda x, y: space.power(x, 2), ["square"]),
    ("powers", lambda x, y: space.power(x, 3), ["square", "multiply"]),
    ("powers", lambda x, y: space.power(x, 4), ["square", "multiply"]),
    ("powers", lambda x, y: space.power(x, -1), ["reciprocal"]),
    ("powers", lambda x, y: space.power(x, 5), ["power"]),
    ("factors", lambda x, y: x * np.float64(0.3) * np.float64(7), ["multiply"]),
    ("factors", lambda x, y: x * np.float64(0.3) / np.float64(7), ["multiply"]),
    ("factors", lambda x, y: x / np.float64(0.3) * np.float64(7), ["multiply"]),
    ("factors", lambda x, y: (x * np.float64(0.3)) * y * np.float64(7), ["multiply", "multiply"]),
    ("factors_outside", lambda x, y: (x * np.float64(0.3)) * (y * np.float64(7)), ["multiply", "multiply"]),
    ("factors_to_few", lambda x, y: (x * np.float64(0.3)) * y[0, 0], ["getitem", "multiply", "multiply"]),
    ("factors_to_few", lambda x, y: np.float64(0.3) * (y[0, 0] * x), ["getitem", "multiply", "multiply"]),
    ("factors_to_few", lambda x, y: (x * np.float64(0.3)) * y, ["multiply", "multiply"]),
    ("factors_to_few", lambda x, y: (x * np.float64(100)) * y[0, 0], ["multiply", "getitem", "multiply"]),
    ("factors_to_few", lambda x, y: (x[0] * np.float64(0.3)) * y[0, 0],
     ["getitem", "multiply", "getitem", "multiply"]),
    ("shared_factors", lambda x, y: [(x * y) * np.float64(0.3), y * np.float64(0.3)],
     ["multiply", "multiply", "multiply"]),
    ("shared_factors", lambda x, y: [(x * y) * np.float64(0.3), y * np.float64(0.4)],
     ["multiply", "multiply", "multiply"]),
    ("factors_of_sums", lambda x, y: space.sum(x * np.float64(0.3)), ["sum", "multiply"]),
    ("factors_of_sums", lambda x, y: space.sum((x * np.float64(0.3)) * y), ["multiply", "sum", "multiply"]),
    ("sums_of_one", lambda x, y: space.sum(space.expand_dims(x, axis=1), axis=(1,)), ["expand_dims", "reshape"]),
    ("transposed_products", lambda x, y: space.permute_dims(space.matmul(x, y), (1, 0)),
     ["permute_dims", "permute_dims", "matmul"]),
    ("products_at_once", lambda x, y: space.matmul(space.reshape(x, (3, 4, 12)), y),
     ["reshape", "reshape", "matmul", "reshape"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "f", "ops"), EXACT)
def test_rules_that_keep_all_bits(name: str, f: Callable[..., Any], ops: list[str]) -> None:
    program = traced(f, X, Y)
    found = simplified(program, only=[name])
    assert ops_of(simplified(program, only=[name, "numbers", "common"])) == ops
    same_bits(program, found, X, Y)
    same_bits(program, simplified(program, exact=True, only=[name]), X, Y)


@pytest.mark.parametrize(("name", "f", "ops"), ROUNDED)
def test_rules_that_round_otherwise(name: str, f: Callable[..., Any], ops: list[str]) -> None:
    program = traced(f, A, B)
    found = simplified(program, only=[name])
    assert ops_of(found) == ops
    same_but_rounded(program, found, A, B)
    same_bits(program, simplified(program, exact=True, only=[name]), A, B)


def test_a_factor_that_is_there_is_computed_once() -> None:
    def f(x: Any, y: Any) -> Any:
        return [(x * y) * 0.3, y * 0.3]

    found = simplified(traced(f, A, B), only=["numbers", "shared_factors", "common"])
    product, scaled = found.outputs
    assert scaled in product.args


def test_a_sum_of_one_number_is_a_product() -> None:
    program = traced(lambda x: space.sum(space.broadcast_to(x, (3, 5)), axis=(1,)), np.array(0.3))
    found = simplified(program)
    assert "sum" not in ops_of(found)
    same_but_rounded(program, found, np.array(0.3))


def test_numbers_of_another_dtype_stay() -> None:
    """Whole numbers times 0.5 are float64, and so a product of theirs is cast."""
    program = traced(lambda x: x * 1.0, np.arange(3))
    assert ops_of(simplified(program)) == ["multiply"]
    x = np.arange(3, dtype=np.int8)
    program = traced(lambda x: (x + 0, x - 0, x * 1), x)
    assert ops_of(simplified(program)) == []
    same_bits(program, simplified(program), x)


def test_extreme_factors_stay_apart() -> None:
    """Their product would overflow."""
    program = traced(lambda x: x * np.float64(1e200) * np.float64(1e200), np.ones(3))
    assert ops_of(simplified(program)) == ["multiply", "multiply"]
