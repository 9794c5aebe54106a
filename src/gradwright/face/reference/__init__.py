"""What the docstrings of functions at the top level say beyond their first lines: arguments, edges, an example.

The first lines stand where a function is written, and what follows from its declaration is added where it is made. The
rest is as long as the code itself. So it stands beside this file, by family and name, and is joined to that when the
functions are imported: `help`, editors and notebooks read ``__doc__``, and a function's cannot be made on demand.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

FAMILIES = ("arithmetic", "compare", "elementary", "indexing", "order", "reductions", "settings", "shape", "special",
            "views")  # fmt: skip
"""Those of what `import gradwright` loads. The others are attached by the modules that they are about."""


def texts(family: str) -> dict[str, str]:
    """The texts of a family, by name: each begins with a line ``@name``."""
    with open(os.path.join(os.path.dirname(__file__), f"{family}.txt"), encoding="utf-8") as file:
        return dict(text.split("\n", 1) for text in file.read().removeprefix("@").split("\n@"))


def methods(cls: type | None) -> dict[str, Any]:
    """What a class has, its own and what it inherits, by name."""
    return {name: found for part in reversed(getattr(cls, "__mro__", ())) for name, found in vars(part).items()}


def attach(scope: Mapping[str, Any], *families: str) -> None:
    """Join the texts of these families to the docstrings of the functions that ``scope``, a module's names, has."""
    written = methods(scope.get("Tensor"))
    for name, text in [pair for family in families for pair in texts(family).items()]:
        function = scope.get(name)
        about = getattr(function, "__doc__", None)
        if about is None:  # another module's, or python -OO
            continue
        margin = about.rpartition("\n")[2]
        if margin.isspace():  # of several lines, before Python 3.13 with the spaces that begin them
            about = about.replace(f"\n{margin}", "\n")
        facts, _, example = text.partition(">>> ")
        facts = f"{facts}\n" if facts else ""
        form = f"In place: `Tensor.{name}_`.\n\n" if f"{name}_" in written else ""
        function.__doc__ = f"{about.rstrip()}\n\n{facts}{form}>>> {example}"


def document(scope: Mapping[str, Any], family: str) -> None:
    """Give the functions of ``scope`` the texts of a family as docstrings, where all of them are made by builders."""
    for name, text in texts(family).items():
        about, _, example = text.partition(">>> ")
        scope[name].__doc__ = f"{about.rstrip()}\n\n>>> {example}"
