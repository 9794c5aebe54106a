"""The source that `load_inline` makes of C++ in strings."""

from __future__ import annotations

import json
import linecache
import re
from collections.abc import Mapping, Sequence

from gradwright.autograd.place import here


def source(texts: Sequence[str], functions: Mapping[str, str], places: Sequence[tuple[str, int]]) -> str:
    """One source with all texts, each said to begin at its place, and the registration of the functions."""
    parts = ["#include <gradwright/extension.h>"]
    for text, (file, line) in zip(texts, places, strict=True):
        parts += [f"#line {line} {json.dumps(file)}", text]
    if functions:
        parts.append('#line 1 "load_inline(functions=...)"')
    whole = _without_comments("\n".join(texts))
    for name, doc in functions.items():
        if not re.search(rf"\b{re.escape(name.rpartition('::')[2])}\b", whole):
            raise ValueError(f"functions names {name!r}, which is nowhere in cpp_sources")
        arguments = ", ".join(parameters(whole, name))
        parts.append(f"GRADWRIGHT_DEF_DOC({name}, {json.dumps(doc)}, {arguments})")
    return "\n".join([*parts, ""])


def labels(count: int) -> list[tuple[str, int]]:
    """What the texts are called where their places in the user's file do not matter."""
    return [(f"cpp_sources[{k}]", 1) for k in range(count)]


def found(texts: Sequence[str], depth: int) -> list[tuple[str, int]]:
    """Where each text is written in the file of the user's that runs now; `labels` for those that are not there."""
    place = here(depth + 1)
    file = place[0].co_filename if place else ""
    program = "".join(linecache.getlines(file))
    places = labels(len(texts))
    for k, text in enumerate(texts):
        start = program.find(text) if text.strip() else -1
        if start >= 0:
            places[k] = file, program.count("\n", 0, start) + 1
    return places


def parameters(code: str, function: str) -> list[str]:
    """The names of the parameters of a function, as it is defined or declared; none if it is not to be found."""
    for match in re.finditer(rf"[\w>&*\]]\s+[&*]*{re.escape(function)}\s*\(", code):
        inside = _balanced(code[match.end() :])
        if inside is None:
            continue
        names = [re.search(r"(\w+)\s*(?:\[\w*\]\s*)*$", part.partition("=")[0]) for part in _split(inside)]
        typed = [" " in part.strip() or ">" in part or "&" in part for part in _split(inside)]
        if all(names) and all(typed):
            return [name[1] for name in names if name]
    return []


def _without_comments(code: str) -> str:
    return re.sub(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', lambda m: m[1] or " ", code, flags=re.DOTALL)


def _balanced(code: str) -> str | None:
    """What comes before the parenthesis that closes."""
    depth = 1
    for k, c in enumerate(code):
        depth += (c == "(") - (c == ")")
        if not depth:
            return code[:k]
    return None


def _split(code: str) -> list[str]:
    """What commas separate that are in no brackets."""
    parts, depth = [""], 0
    for c in code:
        depth += (c in "(<[{") - (c in ")>]}")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return [part for part in parts if part.strip()]
