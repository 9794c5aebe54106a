"""What a call may count up, as Python code keeps it: noted, and put back."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from gradwright.engine.base import TensorBase
from gradwright.verify.numeric.streams import known_torch


class State:
    """What the code of some functions names and may change: globals, closed-over values and attributes of both.

    Numbers, strings, lists, dictionaries, sets, arrays, tensors and generators of random numbers are put back; what
    objects of other kinds hold deeper inside, and what is written to files, is not.
    """

    def __init__(self, functions: Any) -> None:
        self.undo: list[Callable[[], None]] = []
        seen: set[tuple[int, str]] = set()
        for function in functions:
            for scope, name in _places(function):
                if (id(scope), name) not in seen:
                    seen.add((id(scope), name))
                    self._keep(scope, name)

    def _keep(self, scope: Any, name: str) -> None:
        value = scope.cell_contents if name == "" else scope[name] if type(scope) is dict else vars(scope)[name]
        if value is None or isinstance(value, (bool, int, float, complex, str, tuple)):
            self.undo.append(lambda: _set(scope, name, value))
        elif isinstance(value, (list, set, dict)):
            inside = value.copy()
            self.undo.append(lambda: _set(scope, name, value))
            self.undo.append(lambda: _refill(value, inside))
        elif (change := _content(value)) is not None:
            self.undo.append(lambda: _set(scope, name, value))
            self.undo.append(change)

    def put_back(self) -> None:
        """Make it as it was."""
        for change in self.undo:
            change()


def _set(scope: Any, name: str, value: Any) -> None:
    if name == "":
        if scope.cell_contents is not value:
            scope.cell_contents = value
    elif type(scope) is dict:
        if scope.get(name, scope) is not value:
            scope[name] = value
    elif vars(scope).get(name, scope) is not value:
        setattr(scope, name, value)


def _refill(value: Any, inside: Any) -> None:
    if isinstance(value, list):
        value[:] = inside
    elif value != inside:
        value.clear()
        value.update(inside)


def _content(value: Any) -> Callable[[], None] | None:
    """What puts back the content of an array, a tensor or a generator."""
    if isinstance(value, np.ndarray) and value.dtype.kind != "O" and value.flags.writeable:
        before = value.copy()
        return lambda: _write(value, before)
    if isinstance(value, TensorBase) and isinstance(value.array, np.ndarray) and value.array.flags.writeable:
        array, before = value.array, value.array.copy()
        return lambda: _write(array, before)
    if isinstance(value, np.random.Generator):
        at = value.bit_generator.state
        return lambda: setattr(value.bit_generator, "state", at)
    if isinstance(value, np.random.RandomState):
        legacy = value.get_state()
        return lambda: value.set_state(legacy)
    if isinstance(value, random.Random):
        there = value.getstate()
        return lambda: value.setstate(there)
    torch = known_torch()
    if torch is not None and type(value) in (torch.Tensor, torch.nn.Parameter) and value.layout == torch.strided:
        held = value.detach().clone()
        return lambda: None if torch.equal(value.data, held) else value.data.copy_(held)
    return None


def _write(array: Any, before: Any) -> None:
    if array.tobytes() != before.tobytes():
        array[...] = before


def _places(function: Any) -> Iterator[tuple[Any, str]]:
    """Where the values live that a function names: a scope and a name in it; of a cell, the name ``""``."""
    function = inspect.unwrap(function) if callable(function) else None
    if not isinstance(function, FunctionType):
        return
    names = set(_named(function.__code__))
    holders = []
    for name in names & function.__globals__.keys():
        yield function.__globals__, name
        holders.append(function.__globals__[name])
    for cell in function.__closure__ or ():
        try:
            holders.append(cell.cell_contents)
        except ValueError:  # not filled yet
            continue
        yield cell, ""
    for holder in holders:
        if isinstance(holder, ModuleType) and holder.__name__.partition(".")[0] in ("gradwright", "torch", "numpy"):
            continue
        for name in names & getattr(holder, "__dict__", {}).keys():
            yield holder, name


def _named(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _named(inner)
