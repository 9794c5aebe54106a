"""Functions with arguments bound by `functools.partial`, told apart from what they are bound to."""

from __future__ import annotations

from functools import partial
from typing import Any


def unbound(f: Any, static: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """``f`` and its keyword arguments; those of ``partial(f, order=2)`` among them.

    So a function whose own arguments are called as those of a checker can be handed to it.

    >>> unbound(partial(round, ndigits=2), {})
    (<built-in function round>, {'ndigits': 2})
    """
    if isinstance(f, partial) and not f.args:
        return f.func, {**f.keywords, **static}
    return f, static
