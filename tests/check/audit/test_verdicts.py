"""What is said of calls."""

from gradwright.check.audit.session import audit
from gradwright.check.audit.verdicts import AGAIN, OWN, WIDE
from tests.check.audit.functions import Forgotten, Scaled, leaf


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
