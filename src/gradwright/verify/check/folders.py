"""The files of a folder in which derivatives are written: what `gradwright check FOLDER` looks at."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

_DECORATORS = frozenset({"op", "custom_op", "vjp", "jvp", "defjvp", "defjvps", "defvjp", "custom_vjp", "custom_jvp"})
_DERIVATIVES = frozenset({"backward", "vjp", "jvp"})
_LEFT_OUT = frozenset({"__pycache__", "node_modules", "site-packages"})


def files_in(folder: str) -> list[str]:
    """The Python files of a folder, and of those in it, that write a derivative, by their text; none is imported.

    Hidden folders and virtual environments are left out. A file that cannot be parsed is taken if it says "Function".
    """
    return [str(path) for path in sorted(_python(Path(folder))) if _writes(path)]


def _python(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.is_dir():
            if path.name[0] != "." and path.name not in _LEFT_OUT and not (path / "pyvenv.cfg").exists():
                yield from _python(path)
        elif path.suffix == ".py":
            yield path


def _writes(path: Path) -> bool:
    source = path.read_bytes()
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return b"Function" in source
    return any(_is_one(node) for node in ast.walk(tree))


def _is_one(node: ast.AST) -> bool:
    if isinstance(node, ast.ClassDef):
        own = {f.name for f in node.body if isinstance(f, ast.FunctionDef)}
        return any(_last(b).endswith("Function") for b in node.bases) or ("forward" in own and bool(own & _DERIVATIVES))
    if isinstance(node, ast.FunctionDef):
        return any(_last(d) in _DECORATORS for d in node.decorator_list)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _DECORATORS


def _last(node: ast.expr) -> str:
    """The last name of what is named: ``Function`` of ``torch.autograd.Function`` and of a call of it."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
