"""Random numbers under vmap: what is drawn for each example.

"different" numbers are those of a loop: each example draws all of its own before the next. A function that draws
several times is therefore run once more before, on one example, to learn what it draws; then all is drawn ahead, in the
order of the loop. What one example draws by numbers of its own (the rates of `poisson`) cannot be known ahead: beside
other draws it is made where it stands, with a GradientWarning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import Any

import numpy as np

from gradwright.backends.generator import Source
from gradwright.base.source_line import Place, here
from gradwright.engine.apply import apply
from gradwright.engine.base import wrap
from gradwright.engine.levels import LevelArray
from gradwright.engine.strict import warn
from gradwright.engine.watch import drawing
from gradwright.ops.shape import stack

_SIZE_AT = {"random": 0, "standard_normal": 0, "standard_cauchy": 0, "exponential": 1, "geometric": 1,
            "integers": 2, "lognormal": 2, "bernoulli": 1}  # fmt: skip
"""Where the size stands among the arguments of those of NumPy's methods that draw for several examples at once what
they draw for one after another."""


class Draws:
    """What is drawn at a level, in place of NumPy's generator behind ``source``.

    Attributes:
        made: what has been drawn by so far: a method of the generator and its arguments each.
        ahead: for each of these, if known, the method, and what all examples draw.
        drawn: what they have drawn, as in ``ahead``.

    For a ``trial`` they are drawn from a copy of the source.
    """

    def __init__(self, level: Any, source: Any, trial: bool = False) -> None:
        self.level, self.source = level, source
        self.made: list[tuple[Any, ...]] = []
        self.ahead: list[Any] = []
        self.drawn: list[Any] = []
        if trial:
            self.source = Source()
            self.source.set_state(source.get_state())
        self._generator = self.source.generator if trial else partial(drawing, source)

    def at(self, level: Any) -> Draws:
        """The same for another level of these examples."""
        other = copy(self)
        other.level, other.drawn = level, []
        return other

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        return partial(self._draw, name)

    def _draw(self, name: str, *args: Any) -> Any:
        self.made.append((name, args))
        if not self.ahead:
            values = self.level.outside(self._all, name, args)
        elif len(self.made) > len(self.ahead) or self.ahead[len(self.made) - 1][0] != name:
            raise RuntimeError("vmap: with randomness='different' a function that draws several times must draw the "
                               "same kinds of random numbers each time it is run, but this one does not")  # fmt: skip
        else:
            values = self.ahead[len(self.made) - 1][1]
        self.drawn.append((name, values))
        return self.level.batch(wrap(values)).array

    def again(self, level: Any) -> Draws:
        """What draws the same once more."""
        other = self.at(level)
        other.made, other.ahead = [], self.drawn
        return other

    def since(self, k: int) -> Draws:
        """What draws once more all that has been drawn after the first ``k``; itself if that is nothing."""
        if k == len(self.drawn):
            return self
        other = self.at(self.level)
        other.made, other.ahead = [], self.drawn[k:]
        return other

    def _all(self, name: str, args: tuple[Any, ...]) -> Any:
        """What each example draws, one after another."""
        draw, n = getattr(self._generator(), name), self.level.size
        at = _SIZE_AT.get(name, len(args))
        if at < len(args):
            return draw(*args[:at], (n, *_shape(args[at])), *args[at + 1 :])
        return _stacked([draw(*[_example(self.level, a, k) for a in args]) for k in range(n)])

    def draw_ahead(self, made: Sequence[tuple[Any, ...]]) -> None:
        """Draw what each example will draw, all of one before the next."""
        generator = self._generator()
        rows = [[getattr(generator, name)(*args) for name, args in made] for _ in range(self.level.size)]
        self.ahead = [(name, _stacked(column)) for (name, _), column in zip(made, zip(*rows, strict=True), strict=True)]


class Same:
    """A generator by which all examples draw the same, or, by numbers of each one's own, from where the others did."""

    def __init__(self, level: Any, source: Any, generator: Any) -> None:
        self._level, self._source, self._generator = level, source, generator

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(self._draw, getattr(self._generator, name))

    def _draw(self, draw: Callable[..., Any], *args: Any) -> Any:
        if not any(isinstance(a, LevelArray) for a in args):
            return draw(*args)
        state, rows = self._source.get_state(), []
        for k in range(self._level.size):
            self._source.set_state(state)
            rows.append(draw(*[_example(self._level, a, k) for a in args]))
        return self._level.batch(wrap(_stacked(rows))).array


def _shape(size: Any) -> tuple[int, ...]:
    return tuple(size) if isinstance(size, (tuple, list)) else (size,)


def _example(level: Any, a: Any, k: int) -> Any:
    if not isinstance(a, LevelArray):
        return a
    x, own = level.unpack(wrap(a))
    return (x[k] if own else x).array


def _stacked(column: Sequence[Any]) -> Any:
    if isinstance(column[0], LevelArray):
        return apply(stack, [wrap(a) for a in column], {"axis": 0}).array
    return np.stack(column)


def plan(level: Any, learnt: Any) -> None:
    """Draw ahead at a level the numbers drawn at another, of one example, where that is more than one draw."""
    for source, one in learnt.draws.items():
        if len(one.made) < 2:
            continue
        if any(isinstance(a, LevelArray) for _, args in one.made for a in args):
            warn("vmap: the random numbers are others than those of a loop: some are drawn by numbers of each "
                 "example's own, beside others")  # fmt: skip
            continue
        level.draws[source] = Draws(level, source)
        level.draws[source].draw_ahead(one.made)


def refused() -> RuntimeError:
    """The error of random numbers where ``randomness`` is "error"."""
    found = here(2)
    line = Place(*found) if found else "a line that is not known"
    return RuntimeError(
        f"vmap: called random operation while in randomness error mode ({line}). Please either use the 'same' or "
        "'different' randomness flags on vmap or perform the randomness operation out of vmap"
    )
