"""Signatures as they are written: annotations without quotes, each overload on a line of its own."""

from __future__ import annotations

import ast
import inspect
import re
from typing import Any, get_overloads


class _Written(str):
    """An annotation or a default that is shown as it is written."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def signatures(value: Any, bound: bool = False) -> list[str]:
    """One for each overload; none if Python knows none. ``bound``: without the argument that stands before the dot."""
    overloads = get_overloads(inspect.unwrap(value)) if inspect.isfunction(value) else []
    return [text for each in overloads or [value] if (text := _signature(each, bound))]


def _signature(value: Any, bound: bool) -> str | None:
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return None
    parameters = [p.replace(annotation=_annotation(p.annotation), default=_default(p.default))
                  for p in found.parameters.values()]  # fmt: skip
    if bound and parameters and parameters[0].kind in (inspect.Parameter.POSITIONAL_ONLY,
                                                       inspect.Parameter.POSITIONAL_OR_KEYWORD):  # fmt: skip
        parameters = parameters[1:]
    returns = found.empty if inspect.isclass(value) else _annotation(found.return_annotation)
    return str(found.replace(parameters=parameters, return_annotation=returns))


def _annotation(value: Any) -> Any:
    if value is inspect.Signature.empty:
        return value
    text = value if isinstance(value, str) else inspect.formatannotation(value)
    text = re.sub(r"\b(?:typing|collections\.abc|gradwright(?:\.\w+)*)\.(?=\w)", "", text.replace("'", ""))
    return _Written(re.sub(r"(?<=\w)_co\b", "", text))  # the end of a covariant type variable's name


def _default(value: Any) -> Any:
    """A default; one whose text is no Python by its name, or as three dots."""
    if value is inspect.Parameter.empty:
        return value
    try:
        ast.parse(repr(value), mode="eval")
    except SyntaxError:
        return _Written(getattr(value, "__name__", "..."))
    return value
