"""The lists of public names that type checkers and ``import gradwright`` read, made of the one place where each stands.

``python -m docs.generator.stubs`` writes them anew; a test holds them.

- What `gradwright` imports when it is first asked for stands under ``TYPE_CHECKING`` in its ``__init__.py``, a module's
  names in that module's ``__all__``. From there comes `gradwright.base.lazy_names`.
- The public paths of modules that lie elsewhere stand in `gradwright.base.paths`. From there come the stubs, ``.pyi``.
- The functions that are made by their names stand where they are made. From there come the modules of their types.
"""

from __future__ import annotations

import ast
import functools
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import gradwright
from gradwright.base.paths import PUBLIC, PUBLIC_NAMES
from gradwright.face.xp import elementwise, info
from gradwright.pytorch import foreach, in_place

PACKAGE = Path(gradwright.__file__).parent
_TYPED = {"gradwright.face.typing.in_place": in_place}
"""The modules whose functions are made by their names, by the modules that have the types of those."""


def _imports(*, lazy: bool) -> Iterator[ast.ImportFrom]:
    """The imports in ``gradwright/__init__.py`` that run with it, or those that only type checkers follow."""
    body = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8")).body
    if lazy:
        body = next(n.body for n in body if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.unparse(n.test))
    return (node for node in body if isinstance(node, ast.ImportFrom))


def lazy_names() -> dict[str, list[str]]:
    """What `gradwright` imports when it is first asked for, by the module that holds it."""
    found: dict[str, list[str]] = {foreach.__name__: sorted(foreach.NAMES)}
    for node in _imports(lazy=True):
        path = str(node.module)
        module = _TYPED.get(path) or import_module(path)
        for alias in node.names:
            if alias.name == "*":
                found.setdefault(module.__name__, []).extend(getattr(module, "__all__", None) or module.NAMES)
            elif not hasattr(module, alias.name) or isinstance(getattr(module, alias.name), ModuleType):
                found[f"gradwright.{alias.name}"] = [alias.name]
            else:
                found.setdefault(path, []).append(alias.name)
    return {path: sorted(names) for path, names in sorted(found.items())}


_MADE = "Made by ``python -m docs.generator.stubs``."


def _lazy_module() -> str:
    rows = []
    for path, names in lazy_names().items():
        *lines, last = textwrap.wrap(" ".join(names), 108)
        rows += [f'    "{path}":', *(f'        "{line} "' for line in lines), f'        "{last}",']
    about = ['"""What `gradwright` imports when it is first asked for, by the module that holds it.', "", _MADE, '"""']
    return "\n".join([*about, "", "LAZY = {", *rows, "}  # fmt: skip", ""])


@functools.cache
def _homes() -> dict[str, str]:
    """The module of each function that is at the top when `gradwright` has been imported."""
    stars = [str(node.module) for node in _imports(lazy=False) if node.names[0].name == "*"]
    return {name: path for path in stars for name in import_module(path).__all__}


def _in_place_types() -> str:
    about = ['"""The functions that write into their first argument: each takes what its twin takes.', "", _MADE, '"""']
    twins = sorted((_homes()[name.removesuffix("_")], name) for name in in_place.NAMES)
    lines = [f"from {home} import {name.removesuffix('_')} as {name}" for home, name in twins]
    names = textwrap.wrap(" ".join(f'"{name}",' for name in in_place.NAMES), 112)
    declared = ["__all__ = [", *(f"    {line}" for line in names), "]  # fmt: skip"]
    return "\n".join([*about, "# ruff: noqa: I001", "", *lines, "", *declared, ""])


def _standard_types() -> str:
    about = ['"""The functions of `gradwright.xp` that are made by their names, and its dtypes.', "", _MADE, '"""']
    lines = [
        "from __future__ import annotations", "", "from typing import cast as _cast", "",
        "from gradwright.base.dtypes import dtype as _dtype", "from gradwright.face import typing as _typing",
    ]  # fmt: skip
    for name, kind, names in (
        ("_one", "_typing.OfOne", elementwise.FLOATING + elementwise.SIMPLE),
        ("_two", "_typing.OfTwo", elementwise.FLOATING_PAIRS + elementwise.PAIRS),
        ("_any", "_dtype", [d.name for d in info.STANDARD]),
    ):
        lines += ["", f"{name} = _cast({kind}, None)"]
        lines += [" = ".join([*line.split(), name]) for line in textwrap.wrap(" ".join(sorted(names)), 80)]
    return "\n".join([*about, "", *lines, ""])


def _stub(path: str, home: str) -> str:
    """What type checkers read at a public path: the names of the module that it leads to, and the modules below it."""
    module = import_module(home)
    below = [name for name in getattr(module, "__all__", ()) if isinstance(getattr(module, name), ModuleType)]
    lines = [f"from {home} import {name} as {name}" for name in below]
    if len(below) < len(module.__all__ if hasattr(module, "__all__") else vars(module)):
        lines.insert(0, f"from {home} import *")
    if path == "gradwright.xp":
        lines.insert(0, "from gradwright.face.typing.standard import *")
    return "\n".join([f"# For type checkers: this path leads to {home}. {_MADE.replace('`', '')}", *lines, ""])


def _stubs() -> Iterator[tuple[Path, str]]:
    """The stubs at public paths, and at those below them that are modules of their own."""
    paths = {path: home for path, home in PUBLIC.items() if path in PUBLIC_NAMES.values() and path not in UNTYPED}
    for path, home in list(paths.items()):
        module = import_module(home)
        for name in getattr(module, "__all__", ()):
            if isinstance(getattr(module, name), ModuleType):
                paths[f"{path}.{name}"] = f"{home}.{name}"
    for path, home in paths.items():
        inside = path.removeprefix("gradwright.").split(".")
        package = any(other.startswith(f"{path}.") for other in paths)
        file = PACKAGE.joinpath(*inside, "__init__.pyi") if package else PACKAGE.joinpath(*inside).with_suffix(".pyi")
        yield file, _stub(path, home)


UNTYPED = tuple(f"gradwright.{name}" for name in ("creation", "formatting", "pytest_plugin", "tensor", "typed"))
"""Paths of 0.2 that its programs may import, and that the reference does not show."""


def made() -> dict[Path, str]:
    """The text of every file that is made here."""
    return {
        PACKAGE / "base" / "lazy_names.py": _lazy_module(),
        PACKAGE / "face" / "typing" / "in_place.pyi": _in_place_types(),
        PACKAGE / "face" / "typing" / "standard.pyi": _standard_types(),
        **dict(_stubs()),
    }


if __name__ == "__main__":
    for file, text in made().items():
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
