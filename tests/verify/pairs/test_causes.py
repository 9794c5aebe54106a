"""Guesses: each is made where it holds, and not where it does not."""

import pytest

from gradwright.verify.pairs import causes
from gradwright.verify.pairs.at_hand import numbers
from gradwright.verify.pairs.calls import Budget, Calls
from gradwright.verify.pairs.causes import Found
from gradwright.verify.pairs.look import look
from gradwright.verify.pairs.pair import Pair
from tests.verify.pairs.cases import WRONG


def found(pair: Pair) -> Found:
    views = [look(Calls(pair, Budget()), k, 500).view for k in range(len(pair.points))]
    return Found(pair, [v for v in views if v is not None], numbers(pair.derivative, pair.value))


@pytest.mark.parametrize(("guess", "names"), [
    (causes.sign, {"sign", "negative"}),
    (causes.transposed, {"transposed", "turned", "no adjoint", "vjp", "by columns"}),
    (causes.zero, {"zero"}), (causes.not_a_number, {"not a number"}), (causes.conjugate, {"conjugate"}),
    (causes.block, {"diagonal", "triangle"}), (causes.region, {"region"}),
    (causes.exchanged, {"exchanged", "moved", "columns"}),
])  # fmt: skip
def test_a_guess_is_made_where_it_holds(guess: causes.Guess, names: set[str]) -> None:
    others = {"sign", "twice", "half lost", "transposed", "half", "conjugate", "column factor"} - names
    assert {n for n in names | others if guess(found(WRONG[n][1])) is not None} == names - {"turned"}


def test_a_factor_is_named_by_what_is_at_hand() -> None:
    told = causes.factor(found(WRONG["sum for mean"][1]))
    assert told is None or "len(DATA)" in told.sentence
