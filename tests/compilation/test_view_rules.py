"""The rules for copies, views, broadcasts and constants: each does what it is for, and keeps all bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradwright.compilation.passes import simplified
from gradwright.compilation.trace.traced import space, traced
from tests.compilation.checks import ops_of, same_bits

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
