"""What shares a loop, and what is written where it lies."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwright.compilation.by_c.lowered import Lowered
from gradwright.compilation.by_c.steps import Steps
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
    assert {n.op: k for n, k in steps.kept().items() if n.op != "input"} == {"add": 1, "matmul": 2}


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
