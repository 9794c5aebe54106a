"""`gradwright.audit`: what it finds, and that it changes nothing."""

import random

import numpy as np
import pytest

import gradwright as gw
from gradwright.check.audit import audit
from gradwright.check.records import Outcome
from tests.check.audit.functions import Forgotten, Scaled, leaf


def train(f):
    gw.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    w = leaf(5)
    for _ in range(6):
        f(w, 3.0).sum().backward()
        with gw.no_grad():
            w -= 0.01 * w.grad * gw.rand(5) * random.random()
    return w.tolist(), gw.rand(2).tolist(), random.random(), np.random.rand()


@pytest.mark.parametrize(("function", "outcome"), [(Scaled, Outcome.PASS), (Forgotten, Outcome.FAIL)])
def test_verdicts_and_that_numbers_stay(function, outcome):
    before = train(function.apply)
    with audit(shown=False) as found:
        assert train(function.apply) == before
    (checked,) = found.report.checked
    assert (checked.name, checked.verdict) == (function.__name__, outcome)
    if outcome is Outcome.FAIL:
        assert "0.333333 times what it should be" in checked.failures[0].sentence


def test_what_python_code_counts_is_put_back():
    Scaled.calls = 0
    with audit(shown=False):
        Scaled.apply(leaf(3), 2.0)
    assert Scaled.calls == 1


def test_nothing_called():
    with audit(shown=False) as found:
        gw.ones(3).sum()
    assert found.report.exit_code == 2
    assert "no Function" in found.report.problems[0][1]


def test_what_is_refused():
    with pytest.raises(ValueError, match="above 0"):
        audit(budget=0)
    with pytest.raises(ValueError, match="whole number"):
        audit(every=-1)
    with audit(shown=False), pytest.raises(RuntimeError, match="on already"), audit():
        pass
