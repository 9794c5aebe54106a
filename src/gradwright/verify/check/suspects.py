"""Which lines of a Function are to be looked at, given what is wrong."""

from __future__ import annotations

import ast
import inspect
import linecache
import os
import re
import textwrap
from types import FunctionType
from typing import Any

from gradwright.base.source_line import is_own
from gradwright.verify.check.discover import Subject
from gradwright.verify.check.trial import Trial, source


def suspects(trial: Trial, cause: Any, argument: str) -> tuple[int, ...]:
    """The lines of forward or backward that a hypothesis is about.

    Those that compute the gradient of the argument whose gradient is wrong; of state, those that name it.
    """
    if trial.subject.kind in ("op", "custom_op"):
        return _formula(trial, (cause.argument if cause is not None else "") or argument)
    sentence = cause.sentence if cause is not None else ""
    if found := named(trial.subject, sentence):
        return found
    if cause is not None and cause.name in ("stale state", "non-determinism", "second derivative"):
        names = [n.rpartition(".")[2] for n in re.findall(r"\b\w+\.\w+", sentence)]
        for part in ("backward", "forward") if names else ():
            if found := trial.lines(part, "|".join(rf"\b{n}\b" for n in names)):
                return found
    if cause is not None and cause.name == "changed input":
        return trial.lines("forward", r"\w_\(|\[[^]]*\]\s*[-+*/@]?=[^=]|[-+*/@|&]=|\.data\b|\.array\b|out=")
    name = (cause.argument if cause is not None else "") or argument
    labels = [n.partition("[")[0] for n in trial.call.names]
    position = labels.index(name.partition("[")[0]) if name.partition("[")[0] in labels else None
    return gradient(trial, position)


def named(subject: Subject, text: str) -> tuple[int, ...]:
    """The line of the subject's file that a text names."""
    near = re.search(re.escape(subject.file) + r":(\d+)", text)
    line = int(near[1]) if near else 0
    while linecache.getline(subject.file, line).lstrip().startswith("@"):  # a function is said to begin there
        line += 1
    return (line,) if line else ()


def gradient(trial: Trial, position: int | None) -> tuple[int, ...]:
    """The lines of backward that compute the gradient of argument number ``position``; of all, if that is None."""
    if trial.subject.kind in ("op", "custom_op"):
        return _formula(trial, trial.call.names[position]) if position is not None else ()
    return returned(trial.subject, position)


def returned(subject: Subject, position: int | None) -> tuple[int, ...]:
    """The same of a Function, given which it is."""
    _, tree, offset = _backward(subject)
    if tree is None:
        return ()
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Return) and node.value is not None:
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            exact = position is not None and position < len(values)
            for value in [values[position]] if exact else values:  # type: ignore[index]
                found |= {value.lineno + offset}
                found |= {n + offset for n in _made(tree, value)}
    return tuple(sorted(found))


def helpers(subject: Subject, lines: tuple[int, ...]) -> list[str]:
    """The user's functions that are called in these lines of backward, each with the line where it is written."""
    backward, tree, offset = _backward(subject)
    found = []
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Call) and node.lineno + offset in lines:
            called = inspect.unwrap(_value(node.func, inspect.unwrap(backward).__globals__))
            if isinstance(called, FunctionType) and _is_users(file := called.__code__.co_filename):
                found.append(f"{called.__name__} ({os.path.basename(file)}:{called.__code__.co_firstlineno})")
    return list(dict.fromkeys(found))


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    """The value of a name, or a name with dots; None for all else."""
    if isinstance(node, ast.Attribute):
        held = _value(node.value, names)
        return inspect.getattr_static(held, node.attr, None) if held is not None else None
    return names.get(node.id) if isinstance(node, ast.Name) else None


def _is_users(file: str) -> bool:
    return not is_own(file) and "site-packages" not in file and os.path.isfile(file)


def _backward(subject: Subject) -> tuple[Any, ast.Module | None, int]:
    """The backward of a Function, its body, or None, and what is to be added to the numbers of its lines."""
    function = subject.function
    vjp = "vjp" if "vjp" in vars(function) and "backward" not in vars(function) else "backward"
    backward = getattr(function, vjp, None)
    body = source(backward, subject.file)
    try:
        # return statements outside a function still parse
        tree = ast.parse(textwrap.dedent("".join(text for _, text in body))) if body else None
    except (SyntaxError, ValueError):
        tree = None
    return backward, tree, body[0][0] - 1 if body else 0


def _formula(trial: Trial, argument: str) -> tuple[int, ...]:
    """The place of the derivative that an Op or a custom_op declares for an argument."""
    function, name = trial.subject.function, argument.partition("[")[0]
    if function is not None:
        fn = function._formula(name)
    else:
        rule = trial.subject.target.rules.get(name)
        fn = rule and rule.fn
    code = getattr(fn, "__code__", None)
    return (code.co_firstlineno,) if code is not None and code.co_filename == trial.subject.file else ()


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
