"""What the docstrings of the functions at the top level say beyond their first lines: arguments, edges, an example.

The first lines stand where a function is written, and what follows from its declaration is added where it is made. The
rest is as long as the code itself. So it stands here, by name, and is joined to that when gradwright is imported:
`help`, editors and notebooks read ``__doc__``, and a function's cannot be made when it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradwright._reference import (
    arithmetic,
    compare,
    elementary,
    indexing,
    order,
    reductions,
    settings,
    shape,
    special,
    views,
)

_AT_ONCE = arithmetic, compare, elementary, indexing, order, reductions, settings, shape, special, views
PARTS = [part.TEXTS for part in _AT_ONCE]
"""Those of what `import gradwright` loads. The others are attached by the modules that they are about."""


def attach(scope: Mapping[str, Any], *parts: Mapping[str, str]) -> None:
    """Join these texts to the docstrings of the functions that have their names in ``scope``, a module's names."""
    tensor = scope.get("Tensor")
    for texts in parts:
        for name in texts.keys() & scope.keys():
            function, text = scope[name], texts[name]
            about = function.__doc__
            if about is None:  # python -OO
                return
            if about.endswith("\n    "):  # of several lines, before Python 3.13 with the spaces that begin them
                about = about.replace("\n    ", "\n").rstrip()
            facts, _, example = text.partition(">>> ")
            facts = f"{facts}\n" if facts else ""
            written = f"In place: `Tensor.{name}_`.\n\n" if hasattr(tensor, f"{name}_") else ""
            function.__doc__ = f"{about}\n\n{facts}{written}>>> import gradwright as gw\n>>> {example}"
