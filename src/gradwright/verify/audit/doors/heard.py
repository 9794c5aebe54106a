"""A function of the user's, as a library gets it: it is called as it is, and copies of some of its calls are kept."""

from __future__ import annotations

import copy
import functools
import inspect
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from gradwright.base.cpython.redirected import hidden, unseen
from gradwright.verify.check.attempt import Attempt
from gradwright.verify.pairs import Point

FIRST, LATER, ENOUGH = 2, 6, 4
"""How many of the first calls are kept; of those after, spread over the run; and how many points are enough."""
_SMALL = 1 << 16
"""Arrays of so many bytes are copied at each call, to know what was called last."""
_ATOMS = (bool, int, float, complex, str, bytes, type(None))

here = threading.local()
"""Where this thread is: ``here.inside`` if in a library's door, and in none of the user's functions."""


@dataclass(frozen=True, eq=False)
class Kept:
    """One call: copies of what moves in it and of what it returned.

    Attributes:
        x: the argument that the derivative is taken by, a copy. extra: the others. kwargs: keywords.
        result: a copy. number: the how manieth it was.
        before: ``x`` of the call before; None if there was none. value: what the value was there, if known.
    """

    x: Any
    extra: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any
    number: int
    before: Any
    value: Any


class Heard:
    """A function in whose place the library has this.

    Attributes:
        function: the user's. moving: how many of the first arguments the library may change, and are copied.
        at: which of them is the one that the derivative is taken by.
        value: the `Heard` that this is the derivative of, if there is one. read: from the arguments and the result to
            what is kept as the result.
        calls: how many there were. kept: the first of them, and some of the others.
    """

    def __init__(self, function: Callable[..., Any], moving: int = 1, at: int = 0, read: Any = None, see: Any = None,
                 put: Any = None) -> None:  # fmt: skip
        self.function, self.read = function, read
        self.see = see or functools.partial(_seen, moving, at)
        self.put = put or functools.partial(_put, at)
        self.value: Heard | None = None
        self.begin()
        functools.update_wrapper(self, function, updated=())

    def begin(self) -> None:
        """Forget what was kept: the run of a library begins."""
        self.calls, self.every = 0, 1
        self.first: list[Kept] = []
        self.later: list[Kept] = []
        self.last: Any = None
        self.told: Any = None
        self.given: Any = None
        self.reused = False

    def __getattr__(self, name: str) -> Any:  # what the library asks the function for
        if name == "function":
            raise AttributeError(name)
        return getattr(self.function, name)

    def __reduce__(self) -> Any:  # another process has the function itself
        return _itself, (self.function,)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self if isinstance(self.function, FunctionType) else copy.deepcopy(self.function, memo)

    @hidden
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        number = self.calls = self.calls + 1
        x, *extra = self.see(args) or (None,)
        inside, here.inside = getattr(here, "inside", False), False
        try:
            with unseen:
                result = self.function(*args, **kwargs)
        finally:
            here.inside = inside
        with Attempt():
            self._keep(number, x, tuple(extra), kwargs, result if self.read is None else self.read(args, result))
        return result

    @property
    def kept(self) -> list[Kept]:
        """The calls that were kept, in order."""
        return [*self.first, *self.later]

    def _keep(self, number: int, x: Any, extra: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        small = getattr(x, "nbytes", 0) <= _SMALL
        due = number <= FIRST or (number - FIRST) % self.every == 0
        if due or (small and getattr(result, "nbytes", 0) <= _SMALL):
            held = copied(result)
            self.told = (x, held)
            if due:
                kept = Kept(x, extra, kwargs, held, number, self.last, self._at(x))
                if number <= FIRST:
                    self.first.append(kept)
                else:
                    self.later.append(kept)
                    if len(self.later) > LATER:
                        self.later, self.every = self.later[1::2], 2 * self.every
        self.last = x if small else None
        if number == 1:
            self.given = result
        elif self.given is not None:  # held, so that no other array can be the same object
            changed = result is self.given and isinstance(result, np.ndarray) and not same(result, self.first[0].result)
            self.reused |= changed
            self.given = None if changed or number >= ENOUGH else result

    def _at(self, x: Any) -> Any:
        """What the value was at this point, if that was what was called last."""
        told = self.value.told if self.value is not None else None
        return told[1] if told is not None and same(told[0], x) else None

    # ---- when the run has ended ---------------------------------------------------------------------------

    def points(self, value: Any = None) -> tuple[Point, ...]:
        """Where it was called; if that was seldom, also where the value was, to call it there, too."""
        found = [Point(k.x, k.extra, None, k.result, k.value, k.before, k.number) for k in self.kept]
        if value is not None:
            found += [Point(p.x, p.extra, value=p.returned) for p in value.points()[: ENOUGH - len(found)][::-1]
                      if not any(same(p.x, q.x) and _alike(p.extra, q.extra) for q in found)]  # fmt: skip
        return tuple(found)

    @property
    def again(self) -> Callable[..., Any]:
        """The function at another point, with keywords as in the program; it holds the user's and nothing of ours."""
        kept = self.kept[0] if self.kept else None
        number = type(kept.x) if kept is not None and isinstance(kept.x, float) else None
        return functools.partial(_again, self.function, self.put, kept.kwargs if kept is not None else {}, number)

    def after(self, value: Any) -> Callable[..., Any]:
        """The same, after the value has been called at the point, as in the program: they may share work."""
        return functools.partial(_after, self.again, value.again)

    @property
    def where(self) -> tuple[str, int]:
        """File and line of the function."""
        return place(self.function)

    @property
    def name(self) -> str:
        """What it is called."""
        return named(self.function)


def _put(at: int, x: Any, *extra: Any) -> tuple[Any, ...]:
    return (*extra[:at], x, *extra[at:])


def _again(function: Any, put: Any, kwargs: dict[str, Any], number: Any, x: Any, *extra: Any) -> Any:
    if number is not None:
        x = number(np.asarray(x).reshape(())[()])
    return copied(function(*put(x, *extra), **kwargs))


def _after(derivative: Any, value: Any, x: Any, *extra: Any) -> Any:
    value(copied(x), *extra)
    return derivative(x, *extra)


def _seen(moving: int, at: int, args: tuple[Any, ...]) -> tuple[Any, ...]:
    given = tuple(copied(a) for a in args[:moving]) + args[moving:]
    return given[at : at + 1] + given[:at] + given[at + 1 :]


def _alike(a: Sequence[Any], b: Sequence[Any]) -> bool:
    return len(a) == len(b) and all(x is y or same(x, y) for x, y in zip(a, b, strict=True))


def _itself(function: Any) -> Any:
    return function


def copied(value: Any) -> Any:
    """A copy of what may be written to later: arrays, dense and sparse, and what holds them."""
    if isinstance(value, np.ndarray):
        return value.copy(order="K")
    if isinstance(value, (*_ATOMS, np.generic)):
        return value
    if type(value) in (tuple, list):
        return type(value)(copied(v) for v in value)
    if hasattr(value, "tocsr") and hasattr(value, "copy"):
        return value.copy()
    return value


def same(a: Any, b: Any) -> bool:
    """Whether two arguments are the same numbers."""
    return np.shape(a) == np.shape(b) and bool(np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True))


def inner(function: Any) -> Any:
    """The Python function behind a method, a partial, an object that is called, or a decorated one."""
    while True:
        if isinstance(function, functools.partial):
            function = function.func
        elif inspect.ismethod(function):
            function = function.__func__
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif not hasattr(function, "__code__") and hasattr(type(function).__call__, "__code__"):
            function = type(function).__call__
        else:
            return function


def parameters(function: Any) -> tuple[str, ...]:
    """The names of what a function takes by position; none if it takes any number of them."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ()
    if any(p.kind is p.VAR_POSITIONAL for p in found):
        return ()
    return tuple(p.name for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))


def place(function: Any) -> tuple[str, int]:
    """File and line of a function; ``("", 0)`` if it is not written in Python."""
    code = getattr(inner(function), "__code__", None)
    return ("", 0) if code is None else (code.co_filename, code.co_firstlineno)


def named(function: Any) -> str:
    """What a function is called: ``Model.loss``, ``lambda at line 7``, ``partial of f``."""
    if isinstance(function, functools.partial):
        return named(function.func)
    name = getattr(function, "__qualname__", None)
    if name is None:
        return type(function).__name__
    name = name.rpartition("<locals>.")[2]
    return f"lambda at line {place(function)[1]}" if name == "<lambda>" else name


def identity(function: Any) -> Any:
    """What tells a function from others: its code, and what it holds."""
    if isinstance(function, functools.partial):
        held = (*function.args, *function.keywords.values())
        return identity(function.func), tuple(map(_held, held))
    if inspect.ismethod(function):
        return identity(function.__func__), id(function.__self__)
    code = getattr(function, "__code__", None)
    if code is None:
        return id(function)
    return id(code), tuple(_held(c) for c in function.__closure__ or ()), tuple(map(_held, function.__defaults__ or ()))


def _held(value: Any) -> Any:
    if type(value).__name__ == "cell":
        try:
            value = value.cell_contents
        except ValueError:
            return None
    if callable(value) and hasattr(value, "__code__"):
        return id(value.__code__)
    return value if isinstance(value, (bool, int, float, str, type(None))) else id(value)
