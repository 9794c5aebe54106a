"""Modules met where the program imports them, or has imported them: none is imported for this."""

from __future__ import annotations

import importlib.abc
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

Meet = Callable[[Any], None]


class Meeting(importlib.abc.MetaPathFinder):
    """A context manager: for each name a function that is called with the module of this name once it is loaded."""

    def __init__(self, wanted: Mapping[str, Meet]) -> None:
        self.wanted = wanted

    def __enter__(self) -> Meeting:
        for name, meet in self.wanted.items():
            module = sys.modules.get(name)
            if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
                meet(module)
        sys.meta_path.insert(0, self)
        return self

    def __exit__(self, *exc: object) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> Any:
        """What the other finders find; of a module that is waited for, one that tells when it is loaded."""
        meet = self.wanted.get(fullname)
        if meet is None:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None or (spec := find(fullname, path, target)) is None:
                continue
            if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                load = spec.loader.exec_module

                def exec_module(module: ModuleType, load: Any = load, meet: Meet = meet) -> None:
                    load(module)
                    meet(module)

                spec.loader.exec_module = exec_module
            return spec
        return None
