"""Where results go: to inputs that they replace, or to new memory."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradwright.compilation.by_numpy.buffers import Buffers, Pool, escaping, inside, written_in_place
from gradwright.compilation.by_numpy.layout import Layout, steps
from gradwright.compilation.node import HOST
from gradwright.compilation.trace.traced import Notes, space, traced


def _buffers(f: Callable[..., Any], x: Any) -> tuple[Buffers, list[Any]]:
    program = traced(f, x)
    layout = Layout(program, False, {n: n.value for n in program.inputs})
    found = Buffers(program, layout, steps(program, layout), set(), set())
    return found, [found.arrays[n] for n in program.nodes if n in found.arrays]


def test_a_pool_gives_the_smallest_block_that_fits() -> None:
    pool = Pool()
    large, small = pool.take(4000), pool.take(100)
    pool.give(large)
    pool.give(small)
    assert pool.take(80) is small
    assert pool.take(3000) is large
    assert pool.take(10) is not small
    assert small.__array_interface__["data"][0] % 64 == 0


def test_an_operand_that_ends_is_written_over() -> None:
    _, (a, b, c) = _buffers(lambda x: space.exp(space.exp(space.exp(x))), np.ones(9))
    assert np.shares_memory(a, b)
    assert np.shares_memory(b, c)


def test_an_operand_that_is_needed_is_not() -> None:
    _, (a, b, _) = _buffers(lambda x: (y := space.exp(x)) + space.exp(y), np.ones(9))
    assert not np.shares_memory(a, b)


def test_nothing_is_written_under_a_view() -> None:
    _, (a, b, c) = _buffers(lambda x: [y := space.exp(x), z := y[::-1], space.exp(y) + z][2], np.ones(9))
    assert not np.shares_memory(a, b)
    assert c.shape == (9,)


def test_memory_is_used_again() -> None:
    few, _ = _buffers(lambda x: space.exp(x + 1.0) @ x, np.ones((50, 50)))
    more, _ = _buffers(lambda x: (space.exp(space.tanh(x + 1.0)) @ x) @ x, np.ones((50, 50)))
    assert more.bytes <= few.bytes + 100


def test_other_dtypes_and_layouts_are_not_written_over() -> None:
    _, (a, b) = _buffers(lambda x: (x + 1.0) > 1.5, np.ones(9))
    assert not np.shares_memory(a, b)


X = np.ones((3, 4))
LONG = np.ones(100_000)


@pytest.mark.parametrize("x", [X, LONG])
@pytest.mark.parametrize(("f", "in_place"), [
    (lambda x: [x - x * 0.1], True),
    (lambda x: [x - x * 0.1, space.sort(space.exp(x - x * 0.1)) + x], False),  # it is read later
    (lambda x: [x - x[::-1]], None),  # by NumPy at once; not piece by piece
    (lambda x: [x - 1.0, x[:1]], False),  # what it was is a result
    (lambda x: [space.astype(x > 0, x.dtype)], False),  # no ufunc
])  # fmt: skip
def test_results_replace_inputs_that_nothing_reads_later(f: Callable[..., Any], x: Any, in_place: bool | None) -> None:
    program = traced(f, x)
    program.writes[0] = 0
    layout = Layout(program, False, {n: n.value for n in program.inputs})
    found = written_in_place(program, layout, steps(program, layout))
    want = x is X if in_place is None else in_place
    assert found == ({program.outputs[0]: program.inputs[0]} if want else {})


def test_what_leaves_the_program_is_new_memory() -> None:
    notes = Notes()
    x = notes.input(X)
    kept, seen, out = x + 1.0, x + 2.0, x + 3.0
    notes.enter(HOST, (len, seen[1:].node), {}, 2)
    program = notes.program([x], [out.T, kept * 2.0], [None, None])
    layout = Layout(program, False, {n: n.value for n in program.inputs})
    assert escaping(program, layout) >= {seen.node, out.node, program.outputs[1]}
    assert kept.node not in escaping(program, layout)


def test_what_only_a_loop_needs() -> None:
    program = traced(lambda x: [space.sum(space.exp(x)), space.tanh(x), space.sort(space.cos(x))], LONG)
    layout = Layout(program, False, {n: n.value for n in program.inputs})
    assert [n.op for n in inside(program, layout, steps(program, layout))] == ["exp"]
