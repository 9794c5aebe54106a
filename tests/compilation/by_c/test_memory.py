"""Memory is used again once nobody reads it."""

import numpy as np

from gradwright.compilation.by_c.lowered import Lowered
from gradwright.compilation.by_c.memory import Memory, Spot, pointer
from gradwright.compilation.by_c.steps import Steps
from gradwright.compilation.node import Node
from gradwright.compilation.trace.traced import space, traced


def test_a_chain_of_products_needs_two_buffers() -> None:
    def f(x: object) -> object:
        y = x
        for _ in range(8):
            y = space.matmul(y, x)
        return space.sum(y)

    lowered = Lowered(traced(f, np.ones((16, 16))), [None])
    memory = Memory(lowered, Steps(lowered), False)
    assert memory.size == 2 * 16 * 16 * 8


def test_lives_that_overlap_have_places_apart() -> None:
    def f(x: object) -> object:
        made = [space.matmul(x, x * float(k)) for k in range(5)]
        return space.matmul(made[0] + made[4], made[1] + made[2] + made[3])

    lowered = Lowered(traced(f, np.ones((5, 7, 7))), [None])
    steps = Steps(lowered)
    memory = Memory(lowered, steps, False)
    materialized = steps.materialized()

    def span(node: Node) -> tuple[int, int]:
        return steps.where[node], materialized[node]

    inside = [n for n in materialized if memory.spots[n].pointer == memory.OWN]
    for a in inside:
        for b in inside:
            if a is not b and span(a)[0] <= span(b)[1] and span(b)[0] <= span(a)[1]:
                x, y = (memory.spots[n].start for n in (a, b))
                assert abs(x - y) >= 5 * 7 * 7 * 8


def test_pointers() -> None:
    assert pointer(Spot(9), "float", 0, 4, False) == "(float *) (P[9])"
    assert pointer(Spot(9, 64), "float", 3, 4, True) == "(const float *) (P[9] + 76)"
    assert pointer(Spot(9), "double", -3, 8, True) == "(const double *) (P[9] - 24)"
