"""What is known of values before a program runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradwright.compilation.by_numpy.layout import Layout
from gradwright.compilation.node import Node, Program
from gradwright.compilation.trace.traced import space, traced

X = np.ones((3, 4))


def _laid_out(f: Callable[..., Any], *arrays: Any, exact: bool = False) -> tuple[Program, Layout, Node]:
    program = traced(f, *arrays)
    return program, Layout(program, exact, {n: n.value for n in program.inputs}), program.outputs[0]


@pytest.mark.parametrize(("f", "way"), [
    (lambda x: x + 1.0, "ufunc"), (lambda x: space.astype(x, "float32"), "cast"), (lambda x: x[1:], "view"),
    (lambda x: space.reshape(x.T, (12,)), "copy"), (lambda x: space.sum(x), "sum"), (lambda x: x @ x.T, "product"),
    (lambda x: space.sum(x) * 2.0, "number"), (lambda x: space.sort(x), "call"), (lambda x: x, "given"),
    (lambda x: space.where(x > 0, x, x), "choice"), (lambda x: space.sum(x, axis=(1,)), "lines"),
    (lambda x: space.where(x > 0, space.astype(x, "int64"), 3), "call"),
    (lambda x: space.sum(x.T, axis=(1,)), "call"),
])  # fmt: skip
def test_how_nodes_are_computed(f: Callable[..., Any], way: str) -> None:
    _, layout, out = _laid_out(f, X)
    assert layout.way[out] == way


@pytest.mark.parametrize("f", [lambda x: space.sum(x), lambda x: x @ x.T])
def test_exact_sums_and_products_are_numpys(f: Callable[..., Any]) -> None:
    _, layout, out = _laid_out(f, X, exact=True)
    assert layout.way[out] == "call"


@pytest.mark.parametrize("x", [X, np.asfortranarray(X), X.T, np.ones((6, 4))[::2], X[:, ::2]])
def test_exact_results_lie_as_numpys_do(x: Any) -> None:
    _, layout, out = _laid_out(lambda x: space.tanh(x), x, exact=True)
    assert layout.shown[out].strides == out.value.strides


def test_owners() -> None:
    program, layout, out = _laid_out(lambda x, i: [(x + 1.0)[1:].T, space.take(x, i, axis=0), space.tril(x)], X, [0])
    added = program.nodes[2]
    assert layout.owners[out] == {added}
    assert layout.owners[program.outputs[1]] == {program.outputs[1]}
    assert layout.owners[program.outputs[2]] == {program.outputs[2], program.inputs[0]}, "it may be its argument"


def test_products_that_are_summed_are_not_computed() -> None:
    program, layout, out = _laid_out(lambda x, y: space.sum(x * y), X, X)
    assert layout.factors[out] == tuple(program.inputs)
    assert layout.reads(out) == program.inputs
    assert [n.op for n in layout.merged] == ["multiply"]


def test_products_that_are_needed_are_computed() -> None:
    _, layout, _ = _laid_out(lambda x, y: [space.sum(z := x * y), z], X, X)
    assert not layout.merged


def test_what_a_check_reads_is_exact() -> None:
    program, layout, out = _laid_out(lambda x: float(space.sum(x)) * space.sum(x), X)
    assert layout.exact(program.nodes[1])
    assert not layout.exact(out)
