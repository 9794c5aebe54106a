"""Memory that is laid out before: nothing that is needed is written over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradwright.compilation.by_numpy.buffers import Buffers, Pool
from gradwright.compilation.by_numpy.layout import Layout
from gradwright.compilation.by_numpy.schedule import steps
from gradwright.compilation.trace.traced import space, traced


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
