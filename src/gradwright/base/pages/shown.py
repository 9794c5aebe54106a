"""What a notebook, or IPython in a terminal, shows of a value: what `print` shows of it, in type of one width."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from gradwright.base.pages.files import write
from gradwright.base.pages.markup import Markup, tag

STYLE = "font-family:monospace;line-height:1.25;overflow-x:auto;white-space:pre;margin:0;padding:0;background:none"
QUIET = "font-size:0.85em;opacity:0.7"


def block(text: str) -> Markup:
    """Text as it stands."""
    return tag("pre", text, style=STYLE)


class Page:
    """A page that is one file, as `str` gives it: a notebook shows it in a frame, and `save` writes it."""

    def __init__(self, text: str, height: int = 640) -> None:
        self.text, self.height = text, height

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Page of {len(self.text):,} characters: a notebook shows it, .save(path) writes it>"

    def _repr_html_(self) -> str:
        style = f"width:100%;height:{self.height}px;border:1px solid #8884;box-sizing:border-box"
        return tag("iframe", srcdoc=self.text, style=style, sandbox="allow-scripts")

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it to a file; OSError where that cannot be."""
        return write(self.text, path)


class Shown:
    """A report whose string is what there is to see."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._repr_pretty_ = Shown._repr_pretty_  # type: ignore[method-assign]  # IPython asks the class that has __repr__

    def _repr_html_(self) -> str:
        return block(str(self))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))
