"""What a wing asks of the wings above it stands in one list."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import gradwright
from gradwright.base.errors import GradientWarning
from gradwright.base.upward import ABOVE, Slots, above, slots

ROOT = Path(__file__).parents[2]
HOME = ROOT / "src" / "gradwright"


@pytest.mark.parametrize("name", ABOVE)
def test_every_row_leads_somewhere_and_is_asked_for(name: str) -> None:
    assert above(name).__name__.rpartition(".")[2] == name
    asked = f'above("{name}")'
    assert any(asked in path.read_text(encoding="utf-8") for path in HOME.rglob("*.py"))


def test_slots_are_filled_once_the_package_is_loaded() -> None:
    assert slots.tensor is gradwright.Tensor
    assert all(hasattr(slots, name) for name in Slots.__slots__)
    assert all(f"        {name}:" in (Slots.__doc__ or "") for name in Slots.__slots__)


def test_an_empty_slot_has_a_plain_answer() -> None:
    empty = Slots()
    assert empty.operand(None, 1, 2) is NotImplemented
    assert empty.applied is None
    with pytest.warns(GradientWarning, match="doubt"):
        empty.warn("doubt")


def _imports_by_text() -> Iterator[tuple[str, str]]:
    for path in HOME.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(node, "func", None)
            if isinstance(node, ast.Call) and getattr(name, "attr", getattr(name, "id", "")) in (
                "import_module", "__import__",
            ):  # fmt: skip
                text = getattr(node.args[0], "value", None)
                if isinstance(text, str) and text.startswith("gradwright."):
                    yield path.relative_to(HOME).parts[0].removesuffix(".py"), text.split(".")[1]


def test_no_other_import_goes_up() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = next(c["layers"] for c in contracts["contracts"] if c["id"] == "layers")
    height = {wing: -k for k, layer in enumerate(layers) for wing in re.findall(r"\w+", layer)}
    found = [(lower, upper) for lower, upper in _imports_by_text() if lower != upper and height[lower] <= height[upper]]
    assert found == []
