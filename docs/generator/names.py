"""What is public: the modules that users import, and the names that each offers, asked of the package itself."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, TypeVar

import gradwright
from gradwright.base.paths import PUBLIC_NAMES
from gradwright.pytorch import known, served

OWN = ("verify", *(name for name in dir(gradwright) if name[0] != "_" and name not in gradwright.__all__))
"""Modules for users that ``gradwright.__all__`` leaves out."""
_CONSTANTS = (float, str, type(None), type(gradwright.float32))


@dataclass(frozen=True)
class Name:
    """A public name: where it is offered, and what it stands for."""

    namespace: str
    name: str
    value: Any = field(compare=False)

    @property
    def path(self) -> str:
        """The name in full."""
        return f"{self.namespace}.{self.name}"


def public(module: ModuleType) -> list[str]:
    """The names that a module offers: its ``__all__``, or else what is made in it or below it, and constants."""
    declared = getattr(module, "__all__", None)
    if declared is None:
        parts = [set(getattr(importlib.import_module(path), "__all__", ())) for path in _below(module.__name__)]
        shared, there = set().union(*parts), torch_path(module.__name__)
        declared = [
            name for name in dir(module)
            if (name in shared or _is_made(getattr(module, name), module.__name__))
            and (there is None or known.is_known(f"{there}.{name}"))
        ]  # fmt: skip
    return [name for name in declared if name[0] != "_" and not inspect.ismodule(getattr(module, name))]


def _is_made(value: Any, where: str) -> bool:
    home = getattr(value, "__module__", None) or ""
    return isinstance(value, _CONSTANTS) or (f"{home}.".startswith(f"{where}.") and not isinstance(value, TypeVar))


def torch_path(namespace: str) -> str | None:
    """PyTorch's module at which the names of one of gradwright's are PyTorch's, too, if there is one."""
    path = "torch" + namespace.removeprefix("gradwright")
    if path in served.SHARED:
        return path
    return next((there for there, here in served.ELSEWHERE.items() if here == namespace), None)


@functools.cache
def namespaces() -> tuple[str, ...]:
    """The modules that users import, the upper ones first, with the names that they offer."""
    rooms = [name for name in gradwright.__all__ if inspect.ismodule(getattr(gradwright, name))]
    found = {"gradwright" + path.removeprefix("torch") for path in served.SHARED}
    found |= {here for there, here in served.ELSEWHERE.items() if "._" not in there and "._" not in here}
    found = {path for path in found if "._" not in path and importlib.util.find_spec(path)}
    for room in (*rooms, *OWN):
        found |= {path for path in _below(f"gradwright.{room}") if hasattr(importlib.import_module(path), "__all__")}
        found.add(f"gradwright.{room}")
    found |= {path for path in PUBLIC_NAMES.values() if path.count(".") > 1}
    places = (*PUBLIC_NAMES, "gradwright.nn.modules.")  # what they offer has a shorter path
    found = {path for path in found if not path.startswith(places) or path in served.ELSEWHERE.values()}
    return tuple(sorted(found, key=lambda path: (path.count("."), "pytorch" in path, path)))


def _below(path: str) -> Iterator[str]:
    module = importlib.import_module(path)
    for found in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{path}."):
        if not any(part.startswith("_") for part in found.name.split(".")):
            yield found.name


def names() -> list[Name]:
    """All public names, namespace by namespace."""
    found = []
    for namespace in namespaces():
        module = importlib.import_module(namespace)
        found += [Name(namespace, name, getattr(module, name)) for name in public(module)]
    return found


def first_of_each(found: list[Name]) -> dict[Name, Name]:
    """For each name that under which its value is described: of the first module that has it, the shortest there.

    A function that is written out has the name that it was given there, and a dtype the name that it prints.
    """
    groups: dict[Any, list[Name]] = {}
    for name in found:
        plain = isinstance(name.value, (bool, int, float, str, type(None)))  # equal by chance
        groups.setdefault((name.name, repr(name.value)) if plain else id(name.value), []).append(name)
    return {name: _main(group) for group in groups.values() for name in group}


def _main(group: list[Name]) -> Name:
    beside = [name for name in group if name.namespace == group[0].namespace]
    value = group[0].value
    code = getattr(inspect.unwrap(value) if inspect.isfunction(value) else None, "__code__", None)
    given = code.co_name if code else repr(value).rpartition(".")[2]
    return min(beside, key=lambda name: (name.name != given, len(name.name)))
