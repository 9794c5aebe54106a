"""gradwright's callable for an entry of the database.

It is the function of the same name, or else the method. An entry whose operation is a Python function of the database
itself (``lambda x, other: x.reshape_as(other)``) is that same code, with gradwright wherever it says ``torch``.
"""

from __future__ import annotations

import dis
import functools
import importlib
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch

import gradwright
from oracle import special_cases
from oracle.entries import group_of, name_of


class MissingError(AttributeError):
    """gradwright has nothing of this name."""


class Shim:
    """gradwright, or a module of it, under the name ``torch``: an attribute that is not there raises `MissingError`."""

    def __init__(self, path: str = "") -> None:
        self._path = path

    def __getattr__(self, name: str) -> Any:
        path = f"{self._path}.{name}".lstrip(".")
        found = lookup(path)
        if found is None:
            raise MissingError(path)
        return Shim(path) if isinstance(found, types.ModuleType) else found


def lookup(path: str) -> Any:
    """``gradwright.<path>``, importing modules on the way; None if there is none."""
    found: Any = gradwright
    done = "gradwright"
    for name in path.split("."):
        done = f"{done}.{name}"
        if isinstance(found, types.ModuleType) and not hasattr(found, name):
            try:
                found = importlib.import_module(done)
            except ModuleNotFoundError:
                return None
        else:
            found = getattr(found, name, None)
        if found is None:
            return None
    return found


def callable_for(entry: Any) -> Callable[..., Any] | None:
    """The gradwright callable that takes an entry's samples; None if gradwright does not have it."""
    if group_of(entry) in ("modules", "optimizers"):
        return lookup(name_of(entry))
    special = special_cases.CALLABLES.get(entry.name)
    if special is not None:
        return special()
    if from_database(entry.op):
        return rewritten(entry.op) if all(map(_exists, _uses(entry.op.__code__))) else None
    found = lookup(entry.name)
    if found is None or isinstance(found, types.ModuleType):
        found = getattr(gradwright.Tensor, entry.name, None)
    return found if callable(found) else None


def form(variant: Any) -> Callable[..., Any] | None:
    """gradwright's counterpart of a method, in-place or operator variant; None if there is none."""
    if from_database(variant):
        return rewritten(variant) if all(map(_exists, _uses(variant.__code__))) else None
    if isinstance(variant, functools.partial):  # a function of torch.nn.functional with inplace=True
        found = lookup(f"{variant.func.__module__.removeprefix('torch.')}.{variant.func.__name__}")
        return found and functools.partial(found, *variant.args, **variant.keywords)
    if getattr(variant, "__module__", None) in ("_operator", "operator"):
        return variant
    return getattr(gradwright.Tensor, variant.__name__, None)


def from_database(function: Any) -> bool:
    """Whether it is a Python function that the database itself defines."""
    return isinstance(function, types.FunctionType) and function.__module__.startswith("torch.testing.")


def rewritten(function: Any) -> Any:
    """A copy of a Python function of the database, and of those in its closure, in which ``torch`` is gradwright."""
    if not from_database(function):
        return function
    names = function.__globals__ | {"torch": Shim(), "wrapper_set_seed": _unseeded}
    cells = tuple(types.CellType(rewritten(c.cell_contents)) for c in function.__closure__ or ())
    copy = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__, cells)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _unseeded(op: Any, *args: Any, **kwargs: Any) -> Any:
    """The database's way to call a random operation, without setting PyTorch's seed."""
    return op(*args, **kwargs)


def _uses(code: types.CodeType) -> Iterator[str]:
    """What a piece of code asks of PyTorch: ``torch.nn.functional.pad``, or ``.expand`` for a tensor's attribute."""
    chain = ""
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            chain = f"{chain}.{step.argval}"
            continue
        yield from _closed(chain)
        chain = "torch" if step.opname == "LOAD_GLOBAL" and step.argval == "torch" else ""
        if isinstance(step.argval, types.CodeType):
            yield from _uses(step.argval)
    yield from _closed(chain)


def _closed(chain: str) -> list[str]:
    return [chain] if "." in chain else []


def _exists(use: str) -> bool:
    if use.startswith("torch."):
        return lookup(use.removeprefix("torch.")) is not None
    name = use.split(".")[1]
    return hasattr(gradwright.Tensor, name) or not hasattr(torch.Tensor, name)
