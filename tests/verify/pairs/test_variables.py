"""Derivatives by other variables, and terms too many or too few: their sentences."""

import pytest

from gradwright.verify.pairs.judge import judge
from tests.verify.pairs.cases import WRONG


@pytest.mark.parametrize(("name", "words"), [
    ("log", "is the derivative by log(x), not by x"), ("one log", "is the derivative by log(x[1]), not by x[1]"),
    ("exp forgotten", "is the derivative by exp(x)"),
    ("exp twice", "is exp(x) times what it should be: the chain rule of"),
    ("bounds forgotten", "lacks the inner derivative cos(x), times [0.5, 0.5, 0.5]"),
    ("bounds twice", "has once too often the inner derivative cos(x)"), ("penalty", "lacks the term 0.4 * x"),
    ("once more", "has in the entry of x[2] that of x[1] once more"),
    ("constant", "has the term 0.1 too much"), ("half lost", "a term is lost"),
    ("raw score", "raw score for a probability"), ("float32", "is computed in float32"),
])  # fmt: skip
def test_the_variable_or_the_term_is_told(name: str, words: str) -> None:
    assert words in judge(WRONG[name][1]).sentence
