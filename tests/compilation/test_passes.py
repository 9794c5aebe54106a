"""All passes together, on random programs: the same results, to the bit where that is asked for, with fewer nodes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradwright.compilation.node import Interpreted
from gradwright.compilation.passes import passes, simplified
from gradwright.compilation.trace.traced import space, traced
from tests.compilation.checks import ops_of, same_bits, same_but_rounded
from tests.compilation.random_programs import Making, bits, close

X = np.linspace(-2, 2, 12).reshape(3, 4)

CASES: list[tuple[str, Callable[[Any], Any], list[str]]] = [
    ("copies", lambda x: space.asarray(x), []),
    ("copies", lambda x: space.astype(x, "float64"), []),
    ("copies", lambda x: space.positive(x), []),
    ("copies", lambda x: space.conj(x), []),
    ("copies", lambda x: space.broadcast_to(x, (3, 4)), []),
    ("copies", lambda x: space.reshape(x, (3, 4)), []),
    ("copies", lambda x: space.permute_dims(x, (0, 1)), []),
    ("copies", lambda x: x[...], []),
    ("copies", lambda x: x[:, :], []),
    ("copies", lambda x: x[::-1], ["getitem"]),
    ("copies", lambda x: x[0:3, ::-1], ["getitem"]),
    ("casts", lambda x: space.asarray(x, dtype="float32"), ["astype"]),
    ("reshapes", lambda x: space.reshape(space.reshape(x, (12,)), (4, 3)), ["reshape"]),
    ("reshapes", lambda x: space.squeeze(space.expand_dims(x, axis=1), (1,)), ["reshape"]),
    ("permutations", lambda x: space.permute_dims(space.permute_dims(x[None], (2, 0, 1)), (1, 0, 2)),
     ["getitem", "permute_dims"]),
    ("broadcasts", lambda x: space.broadcast_to(space.broadcast_to(x, (2, 3, 4)), (5, 2, 3, 4)), ["broadcast_to"]),
    ("uniform", lambda x: space.zeros_like(x), ["broadcast_to"]),
    ("uniform", lambda x: space.ones_like(x, dtype="float32"), ["broadcast_to"]),
    ("uniform", lambda x: space.maximum(x, space.zero(x)), ["maximum"]),
    ("triangles", lambda x: space.tril(x, k=0), ["where"]),
    ("triangles", lambda x: space.triu(x, k=1), ["where"]),
    ("triangles", lambda x: space.triu(space.broadcast_to(x * np.inf, (2, 3, 4)), k=-1),
     ["multiply", "broadcast_to", "where"]),
    ("rolls", lambda x: space.roll(x, (1,), axis=(0,)), ["getitem", "getitem", "concat"]),
    ("rolls", lambda x: space.roll(x, shift=(2,), axis=(1,)), ["getitem", "getitem", "concat"]),
    ("rolls", lambda x: space.roll(x, (-9,), axis=(-1,)), ["getitem", "getitem", "concat"]),
    ("rolls", lambda x: space.roll(x, (4,), axis=(1,)), ["roll"]),
    ("rolls", lambda x: space.roll(x, (1, 2), axis=(0, 1)), ["roll"]),
    ("constants", lambda x: x + (space.zero(x) + 3.0) * 2.0, ["zero", "add", "multiply", "add"]),
    ("broadcast_operands", lambda x: x * space.broadcast_to(space.sum(x), (3, 4)), ["sum", "multiply"]),
    ("broadcast_results", lambda x: space.exp(space.broadcast_to(space.sum(x), (3, 4))),
     ["sum", "exp", "broadcast_to"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "f", "ops"), CASES)
def test_rule(name: str, f: Callable[[Any], Any], ops: list[str]) -> None:
    program = traced(f, X)
    found = simplified(program, only=[name])
    assert ops_of(found) == ops
    same_bits(program, found, X)


def test_views_of_one_number() -> None:
    program = traced(lambda x: space.permute_dims(space.reshape(space.zeros_like(x), (4, 3)), (1, 0))[1:], X)
    found = simplified(program, only=["uniform", "views_of_one_number", "copies", "broadcasts", "constants"])
    assert ops_of(found) == ["broadcast_to"]
    same_bits(program, found, X)


def test_constants_alone_are_computed_once_for_all() -> None:
    program = traced(lambda x: x + (space.zero(x) + 3.0) * 2.0, X)
    assert ops_of(simplified(program)) == ["add"]
    same_bits(program, simplified(program), X)


def test_large_constants_are_not_made() -> None:
    program = traced(lambda x: space.zeros_like(x) + 1.0, np.ones(100_000))
    assert ops_of(simplified(program)) == ["broadcast_to"]
    assert ops_of(simplified(program, exact=True)) == ["zeros_like", "add"]


def test_a_complex_conjugate_is_no_copy() -> None:
    program = traced(lambda x: space.conj(x), X + 1j)
    assert ops_of(simplified(program)) == ["conj"]


def test_a_broadcast_that_makes_the_shape_stays() -> None:
    program = traced(lambda x: x[0] * space.broadcast_to(space.sum(x), (3, 4)), X)
    same_bits(program, simplified(program, only=["broadcast_operands", "broadcast_results"]), X)


CARE = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.3, -1.7, 5e-324, 1e300, 3.0]
P, Q = (a.reshape(12, 12) for a in np.meshgrid(CARE, CARE))  # all pairs of numbers that need care
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
    program = traced(f, P, Q)
    found = simplified(program, only=[name])
    assert ops_of(simplified(program, only=[name, "numbers", "common"])) == ops
    same_bits(program, found, P, Q)
    same_bits(program, simplified(program, exact=True, only=[name]), P, Q)


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


@given(seed=st.integers(0, 2**32), long=st.sampled_from([False] * 4 + [True]))
@settings(max_examples=settings.default.max_examples * 150 // 100, deadline=None)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_exactly_simplified_programs_give_the_same_bits(seed: int, long: bool) -> None:
    made = Making(seed, long=long, outside=bool(seed % 2))
    first, second = made.inputs(), made.inputs()
    want = Interpreted(made.program)(first) + first
    found = simplified(made.program, exact=True)
    for a, b in zip(want, Interpreted(found)(second) + second, strict=True):
        assert (a is None) == (b is None)
        assert a is None or bits(a) == bits(b)


@given(seed=st.integers(0, 2**32), long=st.sampled_from([False] * 4 + [True]))
@settings(max_examples=settings.default.max_examples * 150 // 100, deadline=None)
def test_simplified_programs_give_the_same_numbers(seed: int, long: bool) -> None:
    made = Making(seed, special=False, long=long, outside=bool(seed % 2))
    first, second = made.inputs(), made.inputs()
    want = Interpreted(made.program)(first) + first
    for a, b in zip(want, Interpreted(simplified(made.program))(second) + second, strict=True):
        assert (a is None) == (b is None)
        assert a is None or close(b, a)


@given(seed=st.integers(0, 2**32), name=st.sampled_from(passes()))
@settings(max_examples=settings.default.max_examples * 150 // 100, deadline=None)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_each_pass_alone_keeps_bits(seed: int, name: str) -> None:
    made = Making(seed)
    want = Interpreted(made.program)(made.inputs())
    for a, b in zip(want, Interpreted(simplified(made.program, exact=True, only=[name]))(made.inputs()), strict=True):
        assert bits(a) == bits(b)


def test_what_is_computed_twice_is_computed_once() -> None:
    program = traced(lambda x: [space.exp(x) + 1.0, space.exp(x) + 1.0, space.exp(x) + 2.0], np.ones(3))
    assert ops_of(simplified(program, only=["common"])) == ["exp", "add", "add"]


def test_what_nothing_needs_is_not_computed() -> None:
    program = traced(lambda x: [space.exp(x), space.exp(x) * 2.0][0], np.ones(3))
    assert ops_of(simplified(program, only=["dead"])) == ["exp"]


def test_a_seed_of_backward_leaves_nothing() -> None:
    """What backward starts from, ones that are broadcast, times a slope is that slope."""
    program = traced(lambda x: space.broadcast_to(space.ones_like(space.sum(x)), (3,)) * (x + x), np.ones(3))
    assert ops_of(simplified(program)) == ["multiply"]
