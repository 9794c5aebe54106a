"""What is said of calls."""

import pytest

import gradwright as gw
from gradwright.verify.audit.session import audit
from gradwright.verify.audit.verdicts import AGAIN, OWN, WIDE
from gradwright.verify.check.records import Outcome
from tests.corpus.right import Scaled
from tests.corpus.wrong import Forgotten
from tests.verify.audit.functions import leaf


def said(function):
    with audit(shown=False) as found:
        function.apply(leaf(4), 3.0)
    return {f.check: f for f in found.report.checked[0].findings}


def test_sentences():
    right, wrong = said(Scaled), said(Forgotten)
    assert "to the bit" in right[AGAIN].sentence
    assert "missed with a chance below" in right[WIDE].sentence
    assert wrong[OWN].cause == "factor"
    assert wrong[OWN].lines


@pytest.mark.parametrize(("size", "outcome"), [(1e-8, Outcome.ADVICE), (1e-5, Outcome.FAIL)])
def test_what_is_slightly_off_as_after_a_solver_is_no_failure(size, outcome):
    class Off(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0].cos() * (1 + size)

    with audit(shown=False) as found:
        Off.apply(leaf(5, dtype=gw.float64))
    said = {f.check: f for f in found.report.checked[0].findings}
    assert said[OWN].outcome is outcome
