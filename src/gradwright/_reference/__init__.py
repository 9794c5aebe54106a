"""What the docstrings of the functions at the top level say beyond their first lines: arguments, edges, an example.

The first lines stand where a function is written, and what follows from its declaration is added where it is made. The
rest is as long as the code itself. So it stands here, by name, and is joined to that when gradwright is imported:
`help`, editors and notebooks read ``__doc__``, and a function's cannot be made when it is asked for.
"""

from __future__ import annotations

from typing import Any

from gradwright._reference import (
    arithmetic,
    compare,
    elementary,
    indexing,
    order,
    reductions,
    shape,
    special,
    views,
)

PARTS = tuple(
    part.TEXTS for part in (arithmetic, elementary, compare, reductions, order, shape, views, indexing, special)
)


def attach(scope: dict[str, Any]) -> None:
    """Join what stands here to the docstrings of the functions in ``scope``, the names of a module."""
    tensor = scope["Tensor"]
    for texts in PARTS:
        for name, text in texts.items():
            function = scope[name]
            about = function.__doc__
            if about is None:  # python -OO
                return
            if about.endswith("\n    "):  # of several lines, before Python 3.13 with the spaces that begin them
                about = about.replace("\n    ", "\n").rstrip()
            facts, _, example = text.partition(">>> ")
            facts = f"{facts}\n" if facts else ""
            written = f"In place: `Tensor.{name}_`.\n\n" if hasattr(tensor, f"{name}_") else ""
            function.__doc__ = f"{about}\n\n{facts}{written}>>> import gradwright as gw\n>>> {example}"
