"""Numbers for pages: short, and safe in JSON; tables of text; and where to cut what is too large to be drawn."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

DIGITS = 6


def number(value: float) -> float | str:
    """A number with the digits that are shown; JSON has no word for those that are not finite, so they are strings.

    >>> number(1 / 3), number(float("-inf"))
    (0.333333, '-inf')
    """
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else str(value)


def numbers(array: Any) -> list[float | str]:
    """The entries of an array of one axis, as `number` has them."""
    return [number(v) for v in array.tolist()]


def cuts(n: int, most: int) -> list[int]:
    """Where to cut ``n`` rows into at most so many tiles of about the same size: the borders, first and last included.

    >>> cuts(10, 4)
    [0, 2, 5, 7, 10]
    """
    tiles = min(n, most)
    return [n * k // tiles for k in range(tiles + 1)] if n else [0]


def table(rows: Iterable[Sequence[str]], right: Sequence[bool]) -> list[str]:
    """The lines of a table, whose first row is its head; ``right`` says which columns end in one line.

    >>> table([("name", "n"), ("a", "12")], (False, True))
    ['name   n', '----  --', 'a     12']
    """
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    form = "  ".join(f"{{:{'>' if end else '<'}{w}}}" for end, w in zip(right, widths, strict=True))
    head, *others = (form.format(*row).rstrip() for row in rows)
    return [head, "  ".join("-" * w for w in widths), *others]
