"""Where each value that must lie in memory does: in the program's own memory, laid out by how long values live."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from gradwright.compilation.by_c.lowered import Lowered
from gradwright.compilation.by_c.steps import Steps
from gradwright.compilation.by_c.windows import Windows
from gradwright.compilation.node import CONSTANT, INPUT, Node

_LINE = 64


class Spot(NamedTuple):
    """The place of a root: which pointer of the table, and how many bytes from there."""

    pointer: int
    start: int = 0


class Memory:
    """The table of pointers, and what it points to.

    Attributes:
        spots: of each root that lies in memory.
        size: of the program's own memory, in bytes.
        materialized: the nodes there, or in memory of their own, that Python must find: see `Steps.materialized`.
        in_place: the outputs that are written where an input lies.
        columns: for windows that are laid out, one function's after another's.
        owners: for each pointer of the table after the first few its node, or None for `OWN`.
    """

    FIRST = 8
    """Pointers before those of nodes: functions, and at `OWN` the program's own memory."""
    OWN = 7

    def __init__(self, lowered: Lowered, steps: Steps, aside: bool) -> None:
        self.materialized = steps.materialized()
        self.in_place = {} if aside else steps.in_place()
        self.spots: dict[Node, Spot] = {}
        self.owners: list[Node] = []
        self._free: list[tuple[int, int]] = []
        self.size = 0
        for node, place in lowered.places.items():
            if place.root is node and node.op in (INPUT, CONSTANT):
                self._own(node)
        self._how = lowered.how
        self._writes = dict(zip(lowered.outputs, lowered.program.writes, strict=True))
        ends: dict[int, list[tuple[int, int]]] = {}
        for k, step in enumerate(steps.steps):
            for node in step.nodes:
                whole = lowered.part_of.get(node)
                if whole is not None:
                    if whole not in self.spots:
                        self._place(whole, ends)
                    self.spots[node] = self.spots[whole]
                elif node in self.materialized and node.shape is not None:
                    self._place(node, ends)
            for block in ends.pop(k, ()):
                self._give(block)

        most = max((w.scratch for w in self._how.values() if isinstance(w, Windows)), default=0)
        self.columns = self.scratch(most)

    def _place(self, node: Node, ends: dict[int, list[tuple[int, int]]]) -> None:
        if self._how[node] is None or (node in self._writes and self._writes[node] is None):
            self._own(node)
        elif node in self.in_place:
            self.spots[node] = self.spots[self.in_place[node]]
        else:
            block = self._take(math.prod(node.shape) * node.dtype.itemsize)
            self.spots[node] = Spot(self.OWN, block[0])
            ends.setdefault(self.materialized[node], []).append(block)

    def scratch(self, size: int) -> Spot:
        """Memory for a loop, that nothing else has."""
        start = self.size
        self.size += -(-size // _LINE) * _LINE
        return Spot(self.OWN, start)

    def _own(self, node: Node) -> None:
        self.spots[node] = Spot(self.FIRST + len(self.owners))
        self.owners.append(node)

    def _take(self, size: int) -> tuple[int, int]:
        size = max(-(-size // _LINE) * _LINE, _LINE)
        fit = min((b for b in self._free if _fits(size, b[1])), key=lambda b: b[1], default=None)
        if fit is None:
            self.size += size
            return self.size - size, size
        self._free.remove(fit)
        if fit[1] > size:
            self._free.append((fit[0] + size, fit[1] - size))
        return fit[0], size

    def _give(self, block: tuple[int, int]) -> None:
        start, size = block
        for other in list(self._free):
            if other[0] + other[1] == start or start + size == other[0]:
                self._free.remove(other)
                start, size = min(start, other[0]), size + other[1]
        self._free.append((start, size))


def _fits(size: int, free: int) -> bool:
    """Whether so many bytes fit into those that are free: of a size that is a variable, only into as many."""
    plain = type(size) is type(free) is int
    return free >= size if plain else str(free) == str(size)


def pointer(spot: Spot, name: Any, start: int, size: int, const: bool) -> str:
    """The C expression for entry ``start`` of what lies at a spot, as a pointer to a type."""
    at = spot.start + start * size
    plus = f" + {at}" if at > 0 else f" - {-at}" if at else ""
    return f"({'const ' * const}{name} *) (P[{spot.pointer}]{plus})"
