"""Events added up to rows, and tables of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from gradwright.base.pages.numbers import table
from gradwright.base.pages.shown import Shown


@dataclass
class Row:
    """All events of one operation, or of one source line. Times are microseconds, sizes bytes.

    Attributes:
        key: the operation or the line.
        count: how often it ran; of what was only run backward, how often that was.
        forward, backward: the time it took, with everything that ran inside of it.
        self_forward, self_backward: without.
        saved: what it saved for backward.
        output: what its forward results hold.
    """

    key: str
    count: int = 0
    backward_count: int = 0
    forward: float = 0.0
    self_forward: float = 0.0
    backward: float = 0.0
    self_backward: float = 0.0
    saved: int = 0
    output: int = 0

    @property
    def total(self) -> float:
        """Forward and backward time."""
        return self.forward + self.backward

    @property
    def self_total(self) -> float:
        """Forward and backward time without what ran inside."""
        return self.self_forward + self.self_backward

    cpu_time_total = total
    self_cpu_time_total = self_total

    def add(self, event: Any, nested: bool) -> None:
        """Count an event; ``nested`` in one of the same row, whose time holds this one's."""
        time, own = event.duration / 1e3, (event.duration - event.within) / 1e3
        if event.kind == "backward":
            self.backward_count += 1
            self.backward += 0.0 if nested else time
            self.self_backward += own
        else:
            self.count += 1
            self.forward += 0.0 if nested else time
            self.self_forward += own
            self.saved += event.saved
            self.output += event.output


def rows(events: Iterable[Any], by_line: bool, wall: int) -> Rows:
    """Events added up, by operation or by line; ``wall``: the nanoseconds in which they ran."""
    found: dict[str, Row] = {}
    for event in events:
        key = _key(event, by_line)
        outer, nested = event.parent, False
        while outer is not None and not nested:
            nested = outer.kind == event.kind and _key(outer, by_line) == key
            outer = outer.parent
        found.setdefault(key, Row(key)).add(event, nested)
    for row in found.values():
        row.count = row.count or row.backward_count
    return Rows(found.values(), by_line, wall)


def _key(event: Any, by_line: bool) -> str:
    if by_line:
        here = os.path.join(os.getcwd(), "")
        return str(event.place or f"({event.name}, from a line that was not profiled)").removeprefix(here)
    return (event.made_by or event).name


_BY: dict[str, Callable[[Row], Any]] = {
    "total": lambda row: -row.total,
    "self": lambda row: -row.self_total,
    "forward": lambda row: -row.forward,
    "backward": lambda row: -row.backward,
    "count": lambda row: -row.count,
    "saved": lambda row: -row.saved,
    "output": lambda row: -row.output,
    "name": lambda row: row.key,
}
_ALSO = {"cpu_time_total": "total", "self_cpu_time_total": "self", "cpu_memory_usage": "output"}
_HEAD = ("calls", "total", "self", "self %", "forward", "backward", "saved", "output")


class Rows(list[Row], Shown):
    """The rows of a profile.

    Attributes:
        wall: the microseconds in which it all ran.
    """

    def __init__(self, found: Iterable[Row], by_line: bool, wall: int) -> None:
        super().__init__(found)
        self.by_line, self.wall = by_line, wall / 1e3

    def __getitem__(self, key: Any) -> Any:
        """The row of an operation or line, by its name; or one by its number."""
        if not isinstance(key, str):
            return super().__getitem__(key)
        for row in self:
            if row.key == key:
                return row
        known = ", ".join(row.key for row in self) or "nothing"
        raise KeyError(f"nothing named {key!r} was profiled; what was: {known}")

    def table(self, sort_by: str = "total", row_limit: int = 100) -> str:
        """A table to print.

        Args:
            sort_by: "total" (forward and backward), "self" (the same without what ran inside), "forward", "backward",
                "count", "saved", "output" (bytes), largest first, or "name"; PyTorch's "cpu_time_total",
                "self_cpu_time_total" and "cpu_memory_usage" are other names for "total", "self" and "output".
            row_limit: how many rows, -1 for all.

        Raises ValueError for another ``sort_by`` or ``row_limit``.
        """
        shown, rest = self._sorted(sort_by, row_limit)
        lines = table([self._head(), *map(self._cells, shown)], (False, *[True] * len(_HEAD)))
        return "\n".join([*lines, *([f"... and {rest} more"] if rest else []), self._foot()])

    __str__ = table

    def __rich__(self) -> Any:
        from rich.table import Table  # noqa: PLC0415 - only rich calls this

        shown, _ = self._sorted("total", 100)
        name, *others = self._head()
        made = Table(caption=self._foot())
        made.add_column(name, overflow="fold", min_width=20)
        for head in others:
            made.add_column(head, justify="right", no_wrap=True)
        for row in shown:
            made.add_row(*self._cells(row))
        return made

    def _sorted(self, sort_by: str, row_limit: int) -> tuple[list[Row], int]:
        by = _ALSO.get(sort_by, sort_by)
        if by not in _BY:
            raise ValueError(f"table: sort_by must be one of {', '.join([*_BY, *_ALSO])}, but got {sort_by!r}")
        if row_limit < -1:
            raise ValueError(f"table: row_limit must be a number of rows, or -1 for all, but got {row_limit}")
        ordered = sorted(self, key=_BY[by])
        limit = len(ordered) if row_limit == -1 else row_limit
        return ordered[:limit], len(ordered[limit:])

    def _head(self) -> tuple[str, ...]:
        return ("line" if self.by_line else "operation", *_HEAD)

    def _cells(self, row: Row) -> tuple[str, ...]:
        share = f"{100 * row.self_total / self.wall:.1f}" if self.wall else "-"
        times = [_time(t) for t in (row.total, row.self_total, row.forward, row.backward)]
        return (row.key, str(row.count), *times[:2], share, *times[2:], in_bytes(row.saved), in_bytes(row.output))

    def _foot(self) -> str:
        busy = sum(row.self_total for row in self)
        share = f" ({100 * busy / self.wall:.0f} %)" if self.wall else ""
        return f"all of it: {_time(self.wall)}, of which in the rows above: {_time(busy)}{share}"


def _time(us: float) -> str:
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if us >= 0.9995 * size:
            return f"{us / size:.3g} {unit}" if us < 999.5 * size else f"{us / size:.0f} {unit}"
    return f"{us:.3g} us" if us else "-"


def in_bytes(n: int) -> str:
    """A number of bytes, rounded; "-" for none.

    >>> in_bytes(240_000)
    '240 kB'
    """
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n >= 0.9995 * size:
            return f"{n / size:.3g} {unit}"
    return f"{n} B" if n else "-"
