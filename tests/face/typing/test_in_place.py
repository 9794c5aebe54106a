"""Every function that writes into its argument is known to type checkers, and no other."""

import ast
from pathlib import Path

import gradwright
from gradwright.pytorch.in_place import NAMES

DECLARED = Path(gradwright.__file__).with_name("_typing") / "in_place.py"


def test_the_names_are_those_of_the_functions():
    tree = ast.parse(DECLARED.read_text())
    stored = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    assert sorted(stored) == sorted(NAMES)
