"""What can be reached from a value, such as an attribute of ctx: the tensors, arrays and numbers somewhere in it."""

from __future__ import annotations

import dataclasses
import functools
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from types import CellType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from gradwright.contract import containers
from gradwright.engine.base import TensorBase
from gradwright.errors import home

TENSORLESS = containers.TENSORLESS - {FunctionType}
"""The classes of most values from which nothing can be reached."""
_DEPTH = 8
"""Lists in lists deeper than this are not looked into."""
_OBJECTS = 100
"""More objects in one value than this are not looked into."""
_OWN = ("gradwright", "builtins", "numpy", "logging")
_LISTS = (list, tuple, deque)
_EMPTY = CellType()


def reachable(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The tensors, arrays, and numbers of floating point in a value, with the names of their places.

    Of the user's objects, and what is in closures, the tensors and arrays alone.
    """
    return ((n, part) for n, part, _ in _parts(name, value, _DEPTH, set(), True, True))


def arrays(values: Iterable[Any], numbers: bool = False) -> Iterator[Any]:
    """The arrays among inputs or results, in lists and dictionaries, too; with ``numbers``, floats as such."""
    for value in values:
        if isinstance(value, TensorBase):
            yield value.array
        elif hasattr(value, "dtype") and hasattr(value, "shape"):
            yield value
        elif numbers and isinstance(value, (float, complex)):
            yield np.asarray(value)
        elif isinstance(value, (list, tuple, dict)):
            yield from arrays(value.values() if isinstance(value, dict) else value, numbers)


def kept(name: str, value: Any) -> Iterator[tuple[str, Any, bool]]:
    """The tensors and arrays in a value, and whether they are there to stay: not in an object, which may get others."""
    return _parts(name, value, _DEPTH, set(), False, True)


def _parts(name: str, value: Any, depth: int, seen: set[int], numbers: bool, sure: bool) -> Iterator[Any]:
    if isinstance(value, (TensorBase, np.ndarray)):
        yield name, value, sure
    elif isinstance(value, (float, complex, np.floating)):
        if numbers:
            yield name, value, sure
    elif depth and value.__class__ not in TENSORLESS:
        if isinstance(value, (set, frozenset)):
            value = sorted(value, key=_order)
        if isinstance(value, _LISTS):
            for k, v in enumerate(value):
                yield from _parts(f"{name}[{k}]", v, depth - 1, seen, numbers, sure)
        elif isinstance(value, dict):
            for key, v in list(value.items()):
                yield from _parts(f"{name}[{key!r}]", v, depth - 1, seen, numbers, sure)
        elif id(value) not in seen and len(seen) < _OBJECTS:
            seen.add(id(value))
            record = isinstance(value, SimpleNamespace) or dataclasses.is_dataclass(value)
            sure = sure and (record or isinstance(value, (FunctionType, functools.partial)))
            for key, v in held(value).items():
                yield from _parts(f"{name}.{key}", v, depth - 1, seen, numbers and record, sure)


def _order(value: Any) -> bytes:
    """A set has no order; this is one that it has again when it is made again."""
    array = getattr(value, "array", value)
    return array.tobytes() if isinstance(array, (np.ndarray, np.generic)) else b""


def held(value: Any) -> dict[str, Any]:
    """What is in a function's closure, or in an object."""
    if isinstance(value, FunctionType):
        cells = zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
        return {name: cell.cell_contents for name, cell in cells if cell != _EMPTY}
    if isinstance(value, MethodType):
        return {"__self__": value.__self__, "__func__": value.__func__}
    if isinstance(value, functools.partial):
        return {"func": value.func, "args": value.args, **value.keywords}
    if isinstance(value, (type, ModuleType)) or not is_users(type(value)):
        return {}
    slots = [name for name in getattr(type(value), "__slots__", ()) if name != "__dict__"]
    return getattr(value, "__dict__", {}) | {name: getattr(value, name, None) for name in slots}


def is_users(cls: type) -> bool:
    """Whether a class is the user's."""
    return home(cls) not in _OWN


def only_tensors(values: Any) -> bool:
    """Whether a value is a tuple of tensors and nothing else."""
    if values.__class__ is not tuple:
        return False
    for value in values:  # noqa: SIM110 - a generator would cost more than the loop, on every call
        if not isinstance(value, TensorBase):
            return False
    return True


def among(t: Any, many: Sequence[Any]) -> bool:
    """Whether ``t`` itself is one of ``many`` (``in`` would compare values)."""
    for other in many:  # noqa: SIM110 - a generator would cost more than the loop, on every call
        if other is t:
            return True
    return False
