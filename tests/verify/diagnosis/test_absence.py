"""The hypotheses of absence.py."""

import gradwright as gw
from gradwright.autograd import diagnose
from gradwright.verify.diagnosis import absence
from tests.corpus.wrong import function, signed
from tests.verify.diagnosis.fits import Hypotheses


class TestAbsence(Hypotheses):
    module = absence


def test_nan_of_a_branch_that_where_drops_is_told_with_its_region():
    def backward(g, x):
        return g * (x > 0) * 0.5 * x**-0.5

    f = function(lambda x: gw.where(x > 0, x.abs().sqrt(), 0 * x), backward)
    first = diagnose(f, signed(6)).hypotheses[0]
    assert (first.name, first.argument) == ("not a number", "x")
    assert first.sentence.endswith("they are those where `x` < 0")
    assert "safe = where(taken, x, 1)" in first.mend


def test_how_to_declare_what_is_meant_is_said():
    for f in (function(lambda x: x.round(), lambda g, x: g), function(lambda x: 1 * x, lambda g, x: -g),
              function(lambda x: x.exp(), lambda g, x: (g * x.exp()).clamp(-1, 1))):  # fmt: skip
        assert '@gradwright.autograd.surrogate("why")' in diagnose(f, signed(6)).hypotheses[0].mend
