"""What is computed once more where it is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradwright.compilation.by_c.runner import C
from gradwright.compilation.interpreted import Interpreted
from gradwright.compilation.node import Program
from gradwright.compilation.trace.traced import space, traced

X, Y = np.random.default_rng(0).uniform(0.5, 2, (2, 64, 80))


def made(f: Callable[..., Any], *arrays: Any, writes: list[int | None] | None = None) -> C:
    """The program in C, whose results are NumPy's but for rounding."""
    program = traced(f, *arrays)
    if writes is not None:
        program = Program(program.nodes, program.inputs, program.outputs, writes)
    c, found = C(program), []
    for run in (Interpreted(program), c):
        given = [a.copy() for a in arrays]
        results = run(given)
        found.append([given[at] if at is not None else a for a, at in zip(results, program.writes, strict=True)])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)
    return c


def in_memory(c: C, op: str) -> bool:
    """Whether what an operation makes is written."""
    form = c._form
    return any(node.op == op and node in form.memory.kept for node in form.lowered.nodes)


def total(x: Any) -> Any:
    """A number that Python must wait for, so that what comes after it is another loop."""
    return space.max(x)


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("f", [
    lambda x, y: [total(e := space.sqrt(x) + (m := space.maximum(x, y))), space.exp(m / total(e)) * x * y],
    lambda x, y: [total(m := x > y), space.where(m, x, y) * total(x * 2.0)],
    lambda x, y: [total(m := (x - y) * y), (m / total(m)) * x + y],
])  # fmt: skip
def test_what_is_cheap_is_not_written(f: Callable[..., Any]) -> None:
    c = made(f, X, Y)
    assert not any(in_memory(c, op) for op in ("maximum", "greater", "subtract"))


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize(("op", "f"), [
    ("sqrt", lambda x, y: [total(m := space.sqrt(x)), m / total(m) * x]),  # not cheap
    ("negative", lambda x, y: [total(m := space.negative(x)), m / total(m) * y]),  # x would be read for it
    ("negative", lambda x, y: [total(m := space.negative(x)), m / total(m) * x, m]),  # a result
    ("negative", lambda x, y: [total(m := space.negative(x)), m.T / total(m) * x.T]),  # it lies across
])  # fmt: skip
def test_what_is_written_all_the_same(op: str, f: Callable[..., Any]) -> None:
    assert in_memory(made(f, X, Y), op)


def test_an_input_that_is_written_is_not_read_again(compiler: None) -> None:
    """It may be another one by then."""
    def f(x: Any, y: Any) -> Any:
        m = space.negative(x)
        return [x + y, m / total(m) * x]

    made(f, X, Y, writes=[0, None])
    made(f, X, Y, writes=[None, 1])


def test_chains_share_what_they_have_in_common(compiler: None) -> None:
    def f(x: Any, y: Any) -> Any:
        a = x - y
        b, c = a * 2.0, a * 3.0
        n = total(b + c)
        return [b / n * x + y, c / n * y + x]

    c = made(f, X, Y)
    assert not in_memory(c, "multiply")
    assert sum(node.op == "subtract" for node in c._form.lowered.nodes) <= 2
