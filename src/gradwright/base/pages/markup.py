"""HTML, and SVG, made of Python calls: whatever is not markup already is escaped."""

from __future__ import annotations

import html
import json
import re
from typing import Any

_VOID = {"br", "col", "hr", "input"}
_UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&"}


class Markup(str):
    """Text that is HTML, and goes into a page as it is."""

    __slots__ = ()


def tag(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """An element.

    Args:
        name: of the element. children: strings, which are escaped; `Markup`, which is not; lists of these; None is left
            out.
        attributes: ``class_`` and ``for_`` for the words that Python keeps, ``aria_label`` for ``aria-label``; those
            that are None or False are left out, and one that is True has no value.

    >>> tag("a", "1 < 2", href="#a", class_="x", hidden=False)
    '<a href="#a" class="x">1 &lt; 2</a>'
    """
    given = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{html.escape(printable(str(value)))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    return Markup(f"<{name}{given}>" if name in _VOID else f"<{name}{given}>{join(children)}</{name}>")


def join(children: Any) -> Markup:
    """Children one after the other."""
    if isinstance(children, (list, tuple)):
        return Markup("".join(map(join, children)))
    if children is None or isinstance(children, Markup):
        return Markup(children or "")
    return Markup(html.escape(printable(str(children))))


def prose(sentence: str) -> Markup:
    """A sentence; what stands in backquotes is code.

    >>> prose("`x` < 1")
    '<code>x</code> &lt; 1'
    """
    parts = sentence.split("`")
    if len(parts) % 2 == 0:  # one of them stands alone
        return join(sentence)
    return join([tag("code", part) if k % 2 else part for k, part in enumerate(parts)])


def data(value: Any) -> Markup:
    """A value as JSON that cannot end the script element it stands in."""
    return Markup(json.dumps(value, allow_nan=False, separators=(",", ":")).translate(_UNSAFE))


def printable(text: str) -> str:
    """A text without the characters that have no place in HTML or XML: controls, halves of pairs, and no characters."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]", "\N{REPLACEMENT CHARACTER}", text)
