"""Sizes and numbers that are not known when C text is written: whole numbers and floats that stand there by a name.

Each has a sample value, a prime or a product of such, by which everything that makes text goes. So the value of a size
says which size it is: what has come by another way, of NumPy's shapes or strides, is told by its factors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from gradwright.compilation.node import Node


class Symbols:
    """Those of one text.

    Attributes:
        sizes: a prime for each size, in order.
        numbers: a value for each number.
        expressions: what the names s0, s1, ... stand for: each may name those before it.
    """

    def __init__(self, sizes: tuple[int, ...], numbers: tuple[float, ...] = ()) -> None:
        self.sizes, self.numbers = sizes, numbers
        self.expressions: list[str] = []
        self._names: dict[str, str] = {}
        self.plain = {f"N[{k}]": n for k, n in enumerate(sizes)}
        self._atoms = {**self.plain, ALL: sizes[0]}

    def size(self, factors: tuple[str, ...], times: int = 1) -> Size | int:
        """A product of sizes and a number."""
        if not factors or times == 0:
            return times
        made = Size(times * prod(self._atoms[name] for name in factors))
        made.symbols, made.factors, made.times = self, factors, times
        return made

    def other(self, text: str, value: int) -> Size | int:
        """What is no product, as one."""
        self._atoms[text] = value
        return self.size((text,))

    def name(self, text: str) -> str:
        """The name of an expression."""
        if text not in self._names:
            self._names[text] = f"s{len(self.expressions)}"
            self.expressions.append(text)
        return self._names[text]

    def known(self, value: Any) -> Any:
        """A number as the size, or the number, that it is; itself if it is none."""
        if type(value) is int and value:
            factors, rest = [], value
            for k, prime in enumerate(self.sizes):
                while rest % prime == 0:
                    factors.append(f"N[{k}]")
                    rest //= prime
            return self.size(tuple(sorted(factors)), rest) if factors else value
        if type(value) is float and value:
            return self._float(value)
        return value

    def _float(self, value: float) -> float:
        for k, number in enumerate(self.numbers):
            if number == value:
                return Number(value).of(f"e{k}")
        for count in (*self.sizes, *map(prod, combinations(self.sizes, 2))):
            for scale in (1, 2, 4):
                if value in (scale / count, float(np.float32(scale / count))):
                    return Number(value).of(f"({scale}.0 / {self.known(count).number})")
            if value == count:
                return Number(value).of(self.known(count).number)
        if value * 64 % 1:
            raise ValueError(f"what is {value}?")
        return value

    def named(self, value: Any) -> Any:
        """An argument of a node with the sizes and numbers in it as such."""
        if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
            return type(value)(map(self.named, value))
        if isinstance(value, dict):
            return {name: self.named(v) for name, v in value.items()}
        return value if isinstance(value, Node) else self.known(value)


class Size(int):
    """A size: in C text a name."""

    symbols: Symbols
    factors: tuple[str, ...]
    times: int

    def __str__(self) -> str:
        names = [self.symbols.name(f) for f in self.factors]
        whole = " * ".join([*[str(self.times)] * (self.times != 1), *names])
        return names[0] if whole == names[0] else self.symbols.name(whole)

    def __format__(self, spec: str) -> str:
        return str(self)

    @property
    def number(self) -> str:
        """It as a number in a formula, where as many rows as there are in all are meant, of which some are at hand."""
        if not {*self.factors} <= {*self.symbols.plain}:
            raise ValueError(f"{self.factors} as a number")
        factors = tuple(ALL if f == "N[0]" else f for f in self.factors)
        return f"((double) {self.symbols.size(factors, self.times)})"

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Size):
            return self.symbols.size(tuple(sorted(self.factors + other.factors)), self.times * other.times)
        return self.symbols.size(self.factors, self.times * other) if type(other) is int else NotImplemented

    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return self * -1

    def __add__(self, other: Any) -> Any:
        return self if other == 0 else self.symbols.other(f"({self} + {other})", int(self) + int(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self if other == 0 else self.symbols.other(f"({self} - {other})", int(self) - int(other))

    def __rsub__(self, other: Any) -> Any:
        return self.symbols.other(f"({other} - {self})", int(other) - int(self))

    def __floordiv__(self, other: Any) -> Any:
        if type(other) is int and self.times % other == 0:
            return self.symbols.size(self.factors, self.times // other)
        return self.symbols.other(f"FLOOR({self}, {other})", int(self) // int(other))


class Number(float):
    """A number: in C text an expression."""

    text: str

    def of(self, text: str) -> Number:
        """Itself, with its expression."""
        self.text = text
        return self

    @property
    def number(self) -> str:
        """It in a formula."""
        return self.text


ALL = "N[2]"
"""Of how many rows there are in all; a text is run on some of them at a time."""
FLOOR = "#define FLOOR(a, b) ((a) / (b) - ((a) % (b) < 0))\n"
"""What text with names has before it: a quotient rounded down."""
SIZES, NUMBERS = 5, 6
"""The pointers of a program's table that lead to the values of sizes and of numbers."""
_now: ContextVar[Symbols | None] = ContextVar("symbols", default=None)


def known() -> Callable[[int], int]:
    """What makes sizes of numbers, where a text with names is written; elsewhere it leaves them."""
    found = _now.get()
    return _same if found is None else found.known


@contextmanager
def written(by: Symbols) -> Iterator[None]:
    """A text with these names is written meanwhile."""
    token = _now.set(by)
    try:
        yield
    finally:
        _now.reset(token)


def _same(value: int) -> int:
    return value
