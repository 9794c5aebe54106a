"""The order of steps, and what is computed piece by piece together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradwright.transform.program.layout import PIECE, SHORT, Layout
from gradwright.transform.program.node import HOST
from gradwright.transform.program.schedule import Step, steps
from gradwright.transform.program.tracing.traced import Notes, space, traced

LONG = np.ones(100_000)
WIDE = np.ones((1000, 100))


def _steps(f: Callable[..., Any], *arrays: Any, exact: bool = False) -> list[list[str]]:
    return [[n.op for n in step.nodes] for step in _made(f, *arrays, exact=exact)]


def _made(f: Callable[..., Any], *arrays: Any, exact: bool = False) -> list[Step]:
    program = traced(f, *arrays)
    return steps(program, Layout(program, exact, {n: n.value for n in program.inputs}))


def test_short_arrays_are_computed_at_once() -> None:
    assert _steps(lambda x: space.exp(x + 1.0), np.ones(9)) == [["add"], ["exp"]]


def test_long_arrays_share_a_loop() -> None:
    found = _made(lambda x: [space.sum(space.exp(x)), x + 1.0], LONG)
    assert [[n.op for n in s.nodes] for s in found] == [["exp", "sum", "add"]]
    assert found[0].flat
    assert [s.stop - s.start for s in found[0].pieces()] == [PIECE] * 6 + [100_000 - 6 * PIECE]


def test_what_waits_for_a_sum_is_a_loop_of_its_own() -> None:
    assert _steps(lambda x: space.exp(x) / space.sum(space.exp(x)), LONG) == [["exp", "exp", "sum"], ["divide"]]


def test_exact_sums_are_no_part_of_loops() -> None:
    assert _steps(lambda x: space.sum(space.exp(x)), LONG, exact=True) == [["exp"], ["sum"]]


def test_scalar_products_take_shorter_pieces() -> None:
    found = _made(lambda x, y: space.sum(x * y), LONG, LONG)
    assert [n.op for n in found[0].nodes] == ["sum"]
    assert found[0].pieces()[0].stop == SHORT


def test_broadcast_arrays_are_cut_into_rows() -> None:
    found = _made(lambda x, y: x * y, WIDE, np.ones((1000, 1)))
    assert not found[0].flat
    assert found[0].pieces()[0].stop == PIECE // 100
    assert [s.shape for s in _made(lambda x, y: x * y, WIDE, np.ones(100), exact=True)] == [None]


def test_checks_and_host_calls_keep_their_order() -> None:
    notes = Notes()
    x = notes.input(LONG)
    y = notes.enter(HOST, (np.copy, space.exp(x).node), {}, LONG)  # type: ignore[attr-defined]
    notes.enter(HOST, (np.copy, x.node), {}, LONG)
    notes.read(x)
    program = notes.program([x], [x], [None])
    found = steps(program, Layout(program, False, {n: n.value for n in program.inputs}))
    assert [n.op for s in found for n in s.nodes] == ["exp", "host", "host", "check"]
    assert found[1].nodes == [y]
