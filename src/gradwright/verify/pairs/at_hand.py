"""The numbers that a function has at hand: in its closure, its globals, its object; to name a wrong factor by."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

_DEEP = 4


class Number(NamedTuple):
    """A number with a name; ``size``: whether it is how many numbers there are of something."""

    name: str
    value: float
    size: bool


def numbers(*functions: Any) -> list[Number]:
    """Those of the functions, and of what they hold: each value once."""
    found: dict[float, Number] = {}
    for name, value in at_hand(*functions):
        for number in _of(name, value):
            if np.isfinite(number.value) and number.value not in (0.0, 1.0):
                found.setdefault(number.value, number)
    return list(found.values())


def _of(name: str, value: Any) -> Iterator[Number]:
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        yield Number(name, float(value), False)
    shape = np.shape(value) if isinstance(value, (np.ndarray, list, tuple)) and not _ragged(value) else ()
    if shape and shape[0] > 1:
        yield Number(f"len({name})", float(shape[0]), True)
    if shape and np.prod(shape) != shape[0]:
        yield Number(f"{name}.size", float(np.prod(shape)), True)


def _ragged(value: Any) -> bool:
    return not isinstance(value, np.ndarray) and any(isinstance(v, (list, tuple, dict)) for v in value)


def at_hand(*functions: Any) -> Iterator[tuple[str, Any]]:
    """What the functions hold, by name: what their closures, defaults, objects and globals have."""
    seen: set[int] = set()
    waiting = [("", f, 0) for f in functions]
    while waiting:
        name, value, deep = waiting.pop(0)
        if id(value) in seen:
            continue
        seen.add(id(value))
        inside = list(_held(value)) if deep < _DEEP else []
        if not inside and name:
            yield name, value
        waiting += [(n, v, deep + 1) for n, v in inside]


def written(functions: tuple[Any, ...], file: str, line: int) -> FunctionType | None:
    """The function among those held that is written at this place."""
    for f in _functions(functions):
        if f.__code__.co_filename == file and f.__code__.co_firstlineno == line:
            return f
    return None


def outermost(f: Any) -> FunctionType | None:
    """The user's function behind what calls it: the first that is not written in gradwright."""
    return next((g for g in _functions((f,)) if not g.__module__.startswith("gradwright.")), None)


def _functions(held: tuple[Any, ...]) -> Iterator[FunctionType]:
    seen: set[int] = set()
    waiting = [(f, 0) for f in held]
    while waiting:
        value, deep = waiting.pop(0)
        if id(value) in seen:
            continue
        seen.add(id(value))
        value = getattr(value, "__func__", value)
        if isinstance(value, FunctionType):
            yield value
        if deep < _DEEP:
            waiting += [(v, deep + 1) for _, v in _held(value)]


def _held(value: Any) -> Iterator[tuple[str, Any]]:
    """What a function, a partial, a bound method or an object of the user's holds."""
    if isinstance(value, functools.partial):
        yield "", value.func
        yield from ((f"args[{k}]", a) for k, a in enumerate(value.args))
        yield from value.keywords.items()
    elif isinstance(value, FunctionType):
        code = value.__code__
        for name, cell in zip(code.co_freevars, value.__closure__ or (), strict=True):
            if (content := _content(cell)) is not None:
                yield name, content
        names = set(_names(code))
        held = [(n, v) for n, v in value.__globals__.items() if n in names]
        yield from ((n, v) for n, v in held if not isinstance(v, (ModuleType, type)))
        if value.__defaults__:
            parameters = code.co_varnames[: code.co_argcount][-len(value.__defaults__) :]
            yield from zip(parameters, value.__defaults__, strict=True)
        yield from (("a number in it", k) for k in code.co_consts if type(k) in (int, float) and k not in (0, 1))
    elif hasattr(value, "__self__") and hasattr(value, "__func__"):
        yield "", value.__func__
        yield from ((f"self.{n}", v) for n, v in getattr(value.__self__, "__dict__", {}).items())
    elif isinstance(value, dict) and len(value) < 50:
        yield from ((f"[{k!r}]", v) for k, v in value.items())


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled
        return None


