"""Every function of `gradwright.xp` that is made by its name is known to type checkers, and so is every dtype."""

import ast
from pathlib import Path

import gradwright
from gradwright.face.xp import elementwise, info

DECLARED = Path(gradwright.__file__).with_name("_typing") / "standard.py"


def test_the_names_are_those_of_the_functions_and_dtypes():
    tree = ast.parse(DECLARED.read_text())
    declared = {node.target.id: node.annotation.id for node in ast.walk(tree) if isinstance(node, ast.AnnAssign)}
    ones, twos = elementwise._FLOATING + elementwise._SIMPLE, elementwise._FLOATING_PAIRS + elementwise._PAIRS
    dtypes = [d.name for d in info.STANDARD]
    assert declared == dict.fromkeys(ones, "_One") | dict.fromkeys(twos, "_Two") | dict.fromkeys(dtypes, "_dtype")
