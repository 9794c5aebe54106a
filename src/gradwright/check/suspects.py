"""Which lines of a Function are to be looked at, given what is wrong."""

from __future__ import annotations

import ast
import linecache
import re
import textwrap
from typing import Any

from gradwright.check.discover import Subject
from gradwright.check.lab import Lab, source


def suspects(lab: Lab, cause: Any, argument: str) -> tuple[int, ...]:
    """The lines of forward or backward that a hypothesis is about.

    Those that compute the gradient of the argument whose gradient is wrong; of state, those that name it.
    """
    if lab.subject.kind in ("op", "custom_op"):
        return _formula(lab, (cause.argument if cause is not None else "") or argument)
    sentence = cause.sentence if cause is not None else ""
    if found := named(lab.subject, sentence):
        return found
    if cause is not None and cause.name in ("stale state", "non-determinism", "second derivative"):
        names = [n.rpartition(".")[2] for n in re.findall(r"\b\w+\.\w+", sentence)]
        for part in ("backward", "forward") if names else ():
            if found := lab.lines(part, "|".join(rf"\b{n}\b" for n in names)):
                return found
    if cause is not None and cause.name == "changed input":
        return lab.lines("forward", r"\w_\(|\[[^]]*\]\s*[-+*/@]?=[^=]|[-+*/@|&]=|\.data\b|\.array\b|out=")
    name = (cause.argument if cause is not None else "") or argument
    labels = [n.partition("[")[0] for n in lab.call.names]
    position = labels.index(name.partition("[")[0]) if name.partition("[")[0] in labels else None
    return gradient(lab, position)


def named(subject: Subject, text: str) -> tuple[int, ...]:
    """The line of the subject's file that a text names."""
    near = re.search(re.escape(subject.file) + r":(\d+)", text)
    line = int(near[1]) if near else 0
    while linecache.getline(subject.file, line).lstrip().startswith("@"):  # a function is said to begin there
        line += 1
    return (line,) if line else ()


def gradient(lab: Lab, position: int | None) -> tuple[int, ...]:
    """The lines of backward that compute the gradient of argument number ``position``; of all, if that is None."""
    if lab.subject.kind in ("op", "custom_op"):
        return _formula(lab, lab.call.names[position]) if position is not None else ()
    return returned(lab.subject, position)


def returned(subject: Subject, position: int | None) -> tuple[int, ...]:
    """The same of a Function, given which it is."""
    function = subject.function
    vjp = "vjp" if "vjp" in vars(function) and "backward" not in vars(function) else "backward"
    body = source(getattr(function, vjp, None), subject.file)
    if not body:
        return ()
    offset = body[0][0] - 1
    try:
        tree = ast.parse(textwrap.dedent("".join(text for _, text in body)))
    except (SyntaxError, ValueError):
        return ()
    # return statements outside a function still parse
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Return) and node.value is not None:
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            exact = position is not None and position < len(values)
            for value in [values[position]] if exact else values:  # type: ignore[index]
                found |= {value.lineno + offset}
                found |= {n + offset for n in _made(tree, value)}
    return tuple(sorted(found))


def _formula(lab: Lab, argument: str) -> tuple[int, ...]:
    """Where the derivative that an Op or a custom_op declares for an argument is written."""
    function, name = lab.subject.function, argument.partition("[")[0]
    if function is not None:
        fn = function._formula(name)
    else:
        rule = lab.subject.target.rules.get(name)
        fn = rule and rule.fn
    code = getattr(fn, "__code__", None)
    return (code.co_firstlineno,) if code is not None and code.co_filename == lab.subject.file else ()


def _made(tree: ast.Module, value: ast.expr) -> set[int]:
    """The lines that assign to the name that is returned, or to a part of it."""
    if not isinstance(value, ast.Name):
        return set()
    found = set()
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            names = [t for target in targets for t in (target.elts if isinstance(target, ast.Tuple) else [target])]
            wholes = [t.value if isinstance(t, ast.Subscript) else t for t in names]
            if any(isinstance(t, ast.Name) and t.id == value.id for t in wholes):
                found.add(node.lineno)
    return found
