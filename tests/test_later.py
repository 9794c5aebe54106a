"""What is imported only when it is asked for."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import gradwright as gw
from gradwright.nn.functional import aten, top

LOADED = {
    "_reference", "autograd", "backends", "contract", "creation", "dtypes", "engine", "errors", "face", "fft",
    "formatting", "function", "guards", "interpreter", "later", "linalg", "methods", "neighbours", "op", "ops",
    "pages", "random", "reading", "special", "tensor", "transform", "watchers", "xp",
}  # fmt: skip
"""The parts that `import gradwright` loads. Before you add one: it is time that every program pays."""


def _fresh(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_what_an_import_loads() -> None:
    parts = _fresh("""if True:
        import sys, gradwright
        print(*{m.split(".")[1] for m in sys.modules if m.startswith("gradwright.")})
        """)
    assert set(parts.split()) <= LOADED


@pytest.mark.parametrize("module", [aten, top])
def test_functions_of_layers_are_listed(module: Any) -> None:
    assert set(module.__all__) <= set(dir(gw))
    assert all(inspect.unwrap(getattr(gw, name)) is inspect.unwrap(getattr(module, name)) for name in module.__all__)


@pytest.mark.parametrize("name", ["nn", "optim", "viz", "check", "save", "conv2d"])
def test_it_is_offered_and_comes_when_asked_for(name: str) -> None:
    assert _fresh(f"import gradwright as g; print({name!r} in dir(g), g.{name}.__name__)").startswith("True")


def test_all_is_what_a_star_gives() -> None:
    scope: dict[str, Any] = {}
    exec("from gradwright import *", scope)  # noqa: S102 - written here
    assert {"nn", "conv2d", "Tensor", "save", "autograd"} <= set(scope)
    assert not {"viz", "engine", "later", "typing"} & set(scope)


def test_a_module_with_the_name_of_its_function() -> None:
    out = _fresh("""if True:
        import gradwright.autograd.gradcheck
        from gradwright.autograd.gradcheck import gradcheck, GradcheckError
        print(gradwright.autograd.gradcheck is gradcheck, callable(gradcheck))
        """)
    assert out.split() == ["True", "True"]


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match=r"gradwright has no 'conv2q': docs/operators.md"):
        gw.conv2q
    with pytest.raises(AttributeError, match=r"gradwright.autograd has no 'gradchek'"):
        gw.autograd.gradchek


def test_type_checkers_know_what_is_imported_later() -> None:
    """All but private names, and what functions make in a loop: those that write into their argument, or take lists."""
    tree = ast.parse(Path(gw.__file__).read_text())
    known = {alias.asname for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    starred = [node.module for node in ast.walk(tree)
               if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"]  # fmt: skip
    offered = {name for module in starred for name in import_module(str(module)).__all__}
    made = {"gradwright.around.in_place", "gradwright.around.foreach"}
    later = {name for name, home in gw._LATER.items() if name[0] != "_" and home not in made}
    assert later - known - offered == set()
