"""Directions in which a series in several variables is taken, and what they say of all others.

Each term of degree k is a homogeneous polynomial of the distances d from the middle of a box. Where the i-th is the
largest, it is at most that of d/d_i, a polynomial of degree k in each of the others, between -1 and 1; and such a
polynomial is at most the Lebesgue constant of points there times its largest value at these points. So a bound along
finitely many lines, each of which ball arithmetic takes exactly, is one for the box.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from math import cos, pi

from gradwright.verify.proof.library import flint, working

Direction = tuple[float, ...]
_PARTS = 64


@cache
def lines(variables: int, order: int) -> tuple[list[Direction], float]:
    """Directions, with entries between -1 and 1, and the factor by which a term may be larger than along these."""
    if variables == 1:
        return [(1.0,)], 1.0
    nodes = [cos(pi * (2 * j + 1) / (2 * order + 2)) for j in range(order + 1)]
    found = [(*rest[:i], 1.0, *rest[i:]) for i in range(variables) for rest in product(nodes, repeat=variables - 1)]
    return found, _lebesgue(tuple(nodes)) ** (variables - 1)


def units(variables: int) -> list[Direction]:
    """The directions of the axes."""
    return [tuple(float(i == j) for j in range(variables)) for i in range(variables)]


@cache
def _lebesgue(nodes: tuple[float, ...]) -> float:
    """A bound on the sum of |l_j| over [-1, 1], of the polynomials that are 1 at one node and 0 at the others."""
    worst = 0.0
    with working(bits=64):
        for k in range(_PARTS):
            at = flint.arb((2 * k + 1) / _PARTS - 1, 1 / _PARTS)
            total = flint.arb(0)
            for j, a in enumerate(nodes):
                value = flint.arb(1)
                for i, b in enumerate(nodes):
                    value = value * (at - b) / (flint.arb(a) - b) if i != j else value
                total += abs(value)
            worst = max(worst, float(total.upper()))
    return worst * (1 + 2.0**-50)
