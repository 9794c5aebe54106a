"""What is computed once more where it is read."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradwright.compilation.by_c.lowered import Lowered
from gradwright.compilation.by_c.runner import C
from gradwright.compilation.by_c.steps import Steps
from gradwright.compilation.node import Interpreted, Program
from gradwright.compilation.trace.traced import space, traced


def steps_of(f: Any, *arrays: Any, writes: Any = None) -> Steps:
    program = traced(f, *arrays)
    if writes is not None:
        program.writes = writes
    return Steps(Lowered(program, [None] * len(arrays)))


def spaces(steps: Steps) -> list[Any]:
    return [(s.space, [n.op for n in s.nodes]) for s in steps.steps]


X = np.ones((4, 3))


def test_one_space_is_one_loop() -> None:
    steps = steps_of(lambda x: [space.sum(space.exp(x)), space.expand_dims(space.sin(x), axis=0) * 2.0], X)
    assert spaces(steps) == [((4, 3), ["exp", "sum", "sin", "multiply"])]


def test_a_sum_is_complete_before_it_is_read() -> None:
    steps = steps_of(lambda x: x / space.sum(x, axis=1, keepdims=True), X)
    assert spaces(steps) == [((4, 3), ["sum"]), ((4, 3), ["divide"])]


def test_another_order_is_another_loop() -> None:
    steps = steps_of(lambda x: (x + 1.0) + (x + 1.0).T, np.ones((3, 3)))
    assert [s for s, _ in spaces(steps)] == [(3, 3), (3, 3)]


def test_only_what_another_step_reads_is_kept() -> None:
    steps = steps_of(lambda x: space.matmul(space.exp(x) + 1.0, x), np.ones((3, 3)))
    assert {n.op: k for n, k in steps.materialized().items() if n.op != "input"} == {"add": 1, "matmul": 2}


def test_an_update_is_made_in_place() -> None:
    p = np.ones(5)
    steps = steps_of(lambda p, g: p - 0.1 * g, p, p, writes=[0])
    ((new, old),) = steps.in_place().items()
    assert (new.op, old) == ("subtract", steps.lowered.program.inputs[0])


def test_not_while_the_old_values_are_read_later() -> None:
    p = np.ones((5, 5))
    assert not steps_of(lambda p: [p - 1.0, space.matmul(p - 1.0, p)], p, writes=[0, None]).in_place()


def test_not_where_entries_are_read_in_another_order() -> None:
    p = np.ones((5, 5))
    assert not steps_of(lambda p: p + p.T, p, writes=[0]).in_place()
    assert not steps_of(lambda p: p + p[::-1], p, writes=[0]).in_place()
    assert not steps_of(lambda p: p + p[0], p, writes=[0]).in_place()


def test_not_before_something_that_can_raise() -> None:
    def f(p: Any) -> Any:
        q = p + 1.0
        return q, space.linalg.inv(p * 2.0)

    assert not steps_of(f, np.eye(3), writes=[0, None]).in_place()


P, Q = np.random.default_rng(0).uniform(0.5, 2, (2, 64, 80))


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
    return any(node.op == op and node in form.memory.materialized for node in form.lowered.nodes)


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
    c = made(f, P, Q)
    assert not any(in_memory(c, op) for op in ("maximum", "greater", "subtract"))


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize(("op", "f"), [
    ("sqrt", lambda x, y: [total(m := space.sqrt(x)), m / total(m) * x]),  # not cheap
    ("negative", lambda x, y: [total(m := space.negative(x)), m / total(m) * y]),  # x would be read for it
    ("negative", lambda x, y: [total(m := space.negative(x)), m / total(m) * x, m]),  # a result
    ("negative", lambda x, y: [total(m := space.negative(x)), m.T / total(m) * x.T]),  # it lies across
])  # fmt: skip
def test_what_is_written_all_the_same(op: str, f: Callable[..., Any]) -> None:
    assert in_memory(made(f, P, Q), op)


def test_an_input_that_is_written_is_not_read_again(compiler: None) -> None:
    """It may be another one by then."""
    def f(x: Any, y: Any) -> Any:
        m = space.negative(x)
        return [x + y, m / total(m) * x]

    made(f, P, Q, writes=[0, None])
    made(f, P, Q, writes=[None, 1])


def test_chains_share_what_they_have_in_common(compiler: None) -> None:
    def f(x: Any, y: Any) -> Any:
        a = x - y
        b, c = a * 2.0, a * 3.0
        n = total(b + c)
        return [b / n * x + y, c / n * y + x]

    c = made(f, P, Q)
    assert not in_memory(c, "multiply")
    assert sum(node.op == "subtract" for node in c._form.lowered.nodes) <= 2
