"""Names that a module offers and imports when they are first asked for, so that importing it stays quick."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

_Functions = tuple[Callable[[str], Any], Callable[[], list[str]]]


def later(module: str, names: Mapping[str, str], absent: str = "has no {!r}") -> _Functions:
    """The ``__getattr__`` and ``__dir__`` of ``module``, given for each such name the module that holds it.

    A name that is the end of its module's is that module.
    """
    here = sys.modules[module]
    scope = vars(here)

    def find(name: str) -> Any:
        home = names.get(name)
        if home is None:
            words = f"{module} {absent.format(name)}"
            raise AttributeError(words, name=name, obj=here)  # Python suggests one that there is
        found = import_module(home)
        scope[name] = found if home == f"{module}.{name}" else getattr(found, name)
        return scope[name]

    return find, lambda: sorted({*scope, *names})
