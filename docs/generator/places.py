"""Where in the source a public name is made, and where the formula is that it computes."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docs.generator.names import Name
from gradwright.op import Op

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "gradwright"
_DEPTH = 4  # of functions in functions in which a formula is looked for
_MANY = 3  # formulas; of a function with more none is its own

Place = tuple[str, int]
"""A file, as a path in the repository, and a line of it; 0 where no line makes it."""


def place(name: Name) -> Place:
    """Where a name is made: the definition in the file that has it, or the assignment there."""
    home = _home(name)
    word = getattr(name.value, "__name__", name.name)
    lines = _lines(home)
    return relative(home), lines.get(name.name) or lines.get(word) or 0


def formulas(value: Any) -> list[Place]:
    """Where the formulas are that a function computes: of the operation it is made from, or of those that it names."""
    made = operation(value)
    codes = [inspect.unwrap(op.forward).__code__ for op in ([made] if made else _named(value))]
    found = [(relative(Path(code.co_filename)), code.co_firstlineno) for code in codes
             if code.co_filename.startswith(str(PACKAGE))]  # fmt: skip
    return list(dict.fromkeys(found)) if len(found) <= _MANY else []


def _named(value: Any) -> Iterator[Op]:
    """The operations that the code of a function, or of a module's ``forward``, names."""
    function = inspect.unwrap(getattr(value, "forward", value) if inspect.isclass(value) else value)
    code, scope = getattr(function, "__code__", None), getattr(function, "__globals__", {})
    names = code.co_names if code else ()
    for name in names:
        held = scope.get(name)
        if isinstance(held, Op):
            yield held
        elif inspect.ismodule(held) and held.__name__.startswith("gradwright.ops."):
            yield from (op for word in names if isinstance(op := vars(held).get(word), Op))


def relative(file: Path) -> str:
    """Its path in the repository."""
    return file.relative_to(ROOT).as_posix()


def _home(name: Name) -> Path:
    """The file in which a name is made: its value's module, or one that declares it and is no package."""
    code = getattr(inspect.unwrap(name.value) if inspect.isfunction(name.value) else None, "__code__", None)
    at = getattr(name.value, "__module__", None) or ""
    candidates = [at] if at.startswith("gradwright") else []
    candidates += [path for path in _declaring().get(name.name, ()) if vars(sys.modules[path])[name.name] is name.value]
    for path in [*candidates, name.namespace]:
        file = Path(importlib.import_module(path).__file__ or "")
        if name.name in _lines(file) or getattr(name.value, "__name__", "") in _lines(file):
            return file
    if code is not None and code.co_filename.startswith(str(PACKAGE)):
        return Path(code.co_filename)
    return Path(importlib.import_module(name.namespace).__file__ or "")


@functools.cache
def _declaring() -> dict[str, list[str]]:
    """The loaded modules that have a name in ``__all__``, packages last."""
    found: dict[str, list[str]] = {}
    loaded = [path for path in sys.modules if path.startswith("gradwright.")]
    for path in sorted(loaded, key=lambda path: (hasattr(sys.modules[path], "__path__"), path)):
        for name in getattr(sys.modules[path], "__all__", ()):
            if name in vars(sys.modules[path]):
                found.setdefault(name, []).append(path)
    return found


@functools.cache
def _lines(file: Path) -> dict[str, int]:
    """The line on which each name at the top of a file is made."""
    found: dict[str, int] = {}
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node.lineno
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            for part in ast.walk(target) if target else ():
                if isinstance(part, ast.Name):
                    found.setdefault(part.id, node.lineno)
    return found


def operation(value: Any, depth: int = _DEPTH) -> Op | None:
    """The one operation that a callable is made from, if it is."""
    if isinstance(value, Op):
        return value
    for cell in (getattr(value, "__closure__", None) or ()) if depth else ():
        found = operation(cell.cell_contents, depth - 1)
        if found:
            return found
    return None
