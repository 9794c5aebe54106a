"""Which functions of windows C does, and how much of them at a time."""

from typing import Any

import numpy as np
import pytest

from gradwright.backends.windows import Lattice
from gradwright.compilation.by_c.places import Place
from gradwright.compilation.by_c.windows import as_view, windows_of, without_padding
from gradwright.compilation.node import Node, Program
from gradwright.compilation.trace.traced import space, traced

LATTICE = Lattice((3, 3), (1, 1), (1, 1), ((1, 1), (1, 1)))


def convolved(n: int = 2, dtype: Any = np.float32) -> Program:
    def f(rows: Any, x: Any) -> Any:
        y = space.times_windows(rows, x, None, lattice=LATTICE)
        weighed = space.weigh_windows(space.reshape(y, (n, 1, 4, 64)), x, lattice=LATTICE)
        return [y, space.sum(weighed, axis=0), space.sum(weighed, axis=1)]

    return traced(f, np.ones((1, 4, 18), dtype), np.ones((n, 2, 8, 8), dtype))


def ways(program: Program) -> list[Any]:
    return [(node.op, None if (w := windows_of(node)) is None else w.kind) for node in program.nodes[2:]]


def test_products_and_the_sum_of_products_of_all_images() -> None:
    assert ways(convolved()) == [("times_windows", "times"), ("reshape", None), ("weigh_windows", "weigh"),
                                 ("sum", "weighed"), ("sum", None)]  # fmt: skip


@pytest.mark.parametrize("program", [convolved(dtype=np.float16), convolved(dtype=np.complex64), convolved(n=0)])
def test_what_c_does_not_compute(program: Program) -> None:
    assert {kind for _, kind in ways(program)} == {None}


def test_what_is_laid_out_at_a_time_fits_in_the_cache() -> None:
    def of(width: int) -> Any:
        rows, x = np.ones((1, 4, 18), np.float32), np.ones((1, 2, 500, width), np.float32)
        program = traced(lambda rows, x: space.times_windows(rows, x, None, lattice=LATTICE), rows, x)
        return windows_of(program.outputs[0])

    assert of(4).step == 500
    assert of(100).step == 36
    assert of(100).scratch <= 1 << 18
    assert of(10_000).step == 1


def test_windows_are_a_view_unless_there_are_zeros_around() -> None:
    node = Node("input", (), {}, np.ones((2, 8, 8)))
    place = Place(node, (2, 8, 8), (64, 8, 1), 0)
    assert as_view(LATTICE, place, (2, 3, 3, 8, 8)) is None
    seen = as_view(without_padding(LATTICE), place, (2, 3, 3, 6, 6))
    assert seen is not None
    assert seen.strides == (64, 8, 1, 8, 1)
