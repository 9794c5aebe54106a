"""The source that `load_inline` makes of C++ in strings."""

from __future__ import annotations

import json
import linecache
import re
from collections.abc import Mapping, Sequence

from gradwright.engine.source_line import here

REGISTERED = "load_inline(functions=...)"
"""The place of what registers a function whose definition is not found."""


def label(k: int) -> str:
    """What a text is called: its place in the user's file does not matter to what is built."""
    return f"cpp_sources[{k}]"


def joined(texts: Sequence[str]) -> str:
    """All texts, each under its label."""
    return "".join(f'#line 1 "{label(k)}"\n{text}\n' for k, text in enumerate(texts))


def source(texts: Sequence[str], functions: Mapping[str, str]) -> str:
    """One source with all texts, each under its label, and the registration of the functions."""
    parts = ["#include <gradwright/extension.h>", joined(texts)]
    codes = [_without_comments(text) for text in texts]
    for name, doc in functions.items():
        last = name.rpartition("::")[2]
        if not any(re.search(rf"\b{re.escape(last)}\b", code) for code in codes):
            raise ValueError(f"functions names {name!r}, which is nowhere in cpp_sources")
        at, arguments = (REGISTERED, 1), list[str]()
        for k, code in enumerate(codes):
            if found := definition(code, last):
                at, arguments = (label(k), 1 + code.count("\n", 0, found[0])), found[1]
                break
        parts += [f'#line {at[1]} "{at[0]}"',
                  f"GRADWRIGHT_DEF_DOC({name}, {json.dumps(doc)}, {', '.join(arguments)})"]  # fmt: skip
    return "\n".join([*parts, ""])


def found(texts: Sequence[str], depth: int) -> dict[str, tuple[str, int]]:
    """Where each text is written, by its label, in the file of the user's that runs now, if it is there."""
    place = here(depth + 1)
    file = place[0].co_filename if place else ""
    program = "".join(linecache.getlines(file))
    starts = [program.find(text) if text.strip() else -1 for text in texts]
    return {label(k): (file, program.count("\n", 0, start) + 1) for k, start in enumerate(starts) if start >= 0}


def definition(code: str, function: str) -> tuple[int, list[str]] | None:
    """Where a function is defined or declared, and the names of its parameters; None if that is not to be found."""
    for match in re.finditer(rf"[\w>&*\]]\s+[&*]*({re.escape(function)})\s*\(", code):
        inside = _balanced(code[match.end() :])
        if inside is None:
            continue
        names = [re.search(r"(\w+)\s*(?:\[\w*\]\s*)*$", part.partition("=")[0]) for part in _split(inside)]
        typed = [" " in part.strip() or ">" in part or "&" in part for part in _split(inside)]
        if all(names) and all(typed):
            return match.start(1), [name[1] for name in names if name]
    return None


def _without_comments(code: str) -> str:
    """The code, of as many lines."""
    blank = lambda match: match[1] or re.sub(r"[^\n]", " ", match[0])
    return re.sub(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', blank, code, flags=re.DOTALL)


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
