"""What code can reach besides its arguments: variables of closures, globals it names, attributes, parts of modules."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from gradwright.contract.contents import TENSORLESS, held, is_users
from gradwright.engine.base import TensorBase
from gradwright.engine.source_line import is_own
from gradwright.guards.outside_ctx import LIBRARIES, Spot, is_object
from gradwright.nn.module import Module

_MANY = 100
"""Lists and dictionaries that are longer are not looked into."""
_OBJECTS = 10_000
_PARTS = ("__func__", "__self__", "args", "func")


def spots(values: Sequence[tuple[str, Any]]) -> Iterator[Spot]:
    """The places that can be reached from these values, by name."""
    waiting = list(values)
    seen: set[int] = set()
    while waiting and len(seen) < _OBJECTS:
        name, value = waiting.pop()
        if value.__class__ in TENSORLESS or isinstance(value, TensorBase) or id(value) in seen:
            continue
        seen.add(id(value))
        for spot in _inside(name, value):
            yield spot
            waiting.append((spot.name, spot.get()))


def _inside(name: str, value: Any) -> Iterator[Spot]:
    if isinstance(value, FunctionType):
        for variable, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
            yield Spot(variable, cell, variable)
        defaults: dict[str, Any] = {str(k): part for k, part in enumerate(value.__defaults__ or ())}
        defaults |= value.__kwdefaults__ or {}
        yield from (Spot(name, defaults, key) for key in defaults)
        if not is_own(value.__code__.co_filename):
            yield from _globals(value)
    elif isinstance(value, Module):
        own = vars(value)
        for scope in (own["_parameters"], own["_buffers"], own["_modules"]):
            yield from (Spot(_joined(name, key), scope, key) for key in scope)
        if _asks_for_mode(type(value)):  # type: ignore[arg-type]
            yield Spot(_joined(name, "training"), own, "training")
        yield from (
            Spot(_joined(name, key), own, key) for key, part in own.items()
            if key[0] != "_" and (part is None or part.__class__ not in TENSORLESS)
        )  # fmt: skip
        cls = _owner(value, "forward")
        if is_users(cls):
            yield Spot(_joined(name, "forward"), vars(cls), "forward")
    elif isinstance(value, (list, tuple, deque)):
        if len(value) <= _MANY:
            items = {str(k): part for k, part in enumerate(value)}
            yield from (Spot(f"{name}[{k}]", items, k) for k in items)
    elif isinstance(value, dict):
        if len(value) <= _MANY:
            yield from (Spot(f"{name}[{key!r}]", value, key) for key in list(value))
    elif isinstance(value, (MethodType, partial)):
        parts = held(value)
        yield from (Spot(name if key in _PARTS else key, parts, key) for key in parts)
    elif is_object(value):
        own = vars(value) if hasattr(value, "__dict__") else held(value)
        yield from (Spot(_joined(name, key), own, key) for key in list(own))
        if callable(value):
            yield Spot(name, vars(_owner(value, "__call__")), "__call__")


@lru_cache(maxsize=1000)
def _asks_for_mode(cls: type) -> bool:
    """Whether the code of a kind of module reads whether that is training."""
    own = [f for c in cls.__mro__ if issubclass(c, Module) and c is not Module for f in vars(c).values()]
    return any("training" in _names(f.__code__) for f in own if isinstance(f, FunctionType))


def _owner(value: Any, name: str) -> type:
    """The class in which a method of ``value`` is written."""
    return next(cls for cls in type(value).__mro__ if name in vars(cls))


def _globals(function: FunctionType) -> Iterator[Spot]:
    scope, names = function.__globals__, _names(function.__code__)
    for name in names & scope.keys():
        value = scope[name]
        if not isinstance(value, ModuleType):
            yield Spot(name, scope, name)
        elif value.__name__.partition(".")[0] not in LIBRARIES:
            yield from (Spot(f"{name}.{key}", vars(value), key) for key in names & vars(value).keys())


@lru_cache(maxsize=1000)
def _names(code: CodeType) -> frozenset[str]:
    """The names in code, of globals and of attributes."""
    inner = [_names(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return frozenset(code.co_names).union(*inner)


def _joined(path: str, name: Any) -> str:
    return f"{path}.{name}" if path else str(name)
