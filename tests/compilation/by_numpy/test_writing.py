"""The text of a program: the calls that stand in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradwright.compilation.by_numpy.plan import Plan
from gradwright.compilation.trace.traced import Notes, space, traced

X = np.ones((3, 4))


def _lines(f: Callable[..., Any], *arrays: Any, writes: list[int | None] | None = None) -> list[str]:
    program = traced(f, *arrays)
    program.writes = writes or program.writes
    return [line.strip() for line in Plan(program).source.splitlines()][3:-2]


@pytest.mark.parametrize(("f", "lines"), [
    (lambda x: x + 1.0, ["v2 = add(x0, c1)", "results = [v2]"]),
    (lambda x: space.tanh(x) * 2.0, ["tanh(x0, b1)", "v3 = multiply(b1, c2)", "results = [v3]"]),
    (lambda x: space.sum(x * x), ["v2 = x0.reshape(-1).dot(x0.reshape(-1))", "results = [asarray(v2)]"]),
    (lambda x: (space.exp(x) * 3.0).T @ x, ["exp(x0, b1)", "multiply(b1, c2, b3)", "v5 = matmul(b4, x0)",
                                            "results = [v5]"]),
    (lambda x: space.sum(x * x) + 3.0, ["v2 = x0.reshape(-1).dot(x0.reshape(-1))", "v4 = v2 + n4",
                                        "results = [asarray(v4)]"]),
    (lambda x: [x, x.T], ["v1 = x0.transpose((1, 0))", "o0 = array(x0, order='K')",
                          "o1 = array(v1, order='K')", "results = [o0, o1]"]),
])  # fmt: skip
def test_the_calls(f: Callable[..., Any], lines: list[str]) -> None:


    found = [re.sub(r"\bn\d+", "n4", line) for line in _lines(f, X)]
    assert found == lines


def test_what_is_written_is_computed_in_place() -> None:
    assert "subtract(x0, b3, x0)" in _lines(lambda p, g: p - g * 0.1, X, X, writes=[0])


def test_what_is_read_afterwards_is_not() -> None:
    lines = _lines(lambda p, g: [p - g * 0.1, p * 2.0], X, X, writes=[0, None])
    assert lines[-1].startswith("copyto(x0, ")


def test_a_check_between_puts_the_write_off() -> None:
    notes = Notes()
    p, g = notes.input(X), notes.input(X)
    new = p - g
    notes.read(space.sum(g))
    lines = Plan(notes.program([p, g], [new], [0])).source.splitlines()
    assert lines[-3].strip().startswith("copyto(x0, ")
