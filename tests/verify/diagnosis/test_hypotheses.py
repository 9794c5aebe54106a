"""What fits one sample is held on fresh inputs."""

import warnings

import numpy as np
import pytest

import gradwright as gw
from gradwright.autograd import diagnose
from gradwright.verify.diagnosis import Hypothesis, Verdict
from gradwright.verify.diagnosis.case import Case
from gradwright.verify.diagnosis.context import Context
from gradwright.verify.diagnosis.hypotheses import TABLE, hypotheses
from gradwright.verify.diagnosis.measure import measure
from gradwright.verify.diagnosis.probes import Probes
from tests.corpus.right import UNSETTLED
from tests.corpus.wrong import WRONG, Scale, function, t


def test_a_constant_that_fits_a_single_sample_is_not_told():
    """12 of the derivative of x**3 at 2, where backward gives 2: a sixth of it there, and only there."""
    x = gw.tensor([2.0], dtype=gw.float64, requires_grad=True)
    found = diagnose(function(lambda x: x**3, lambda g, x: g * x), x)
    assert (found.verdict, found.hypotheses) == ("WRONG", ())
    assert found.unexplained == ("x",)


def test_a_term_whose_constant_depends_on_the_inputs_is_not_told():
    def norm(x, eps):
        return ((x * x).sum() + eps).sqrt()

    def backward(g, x):
        return g / norm(x, 0) - x * (g * x).sum() / norm(x, 0) ** 3

    found = diagnose(function(lambda x: x / norm(x, 1e-5), backward), t(5))
    assert [h.name for h in found.hypotheses] == ["small error"]


def test_a_constant_that_counts_entries_of_a_kind_is_not_told():
    """The mean of the positive ones: how many there are is no constant, though moving them a little leaves it so."""
    x = gw.tensor([0.5, -1.1, 0.9, 1.3, -0.4, 0.8, 1.7], dtype=gw.float64, requires_grad=True)
    mean = lambda x: x.relu().sum() / (x > 0).sum()
    found = diagnose(function(mean, lambda g, x: g * (x > 0) / x.numel()), x)
    assert "factor" not in [h.name for h in found.hypotheses]


def test_a_constant_that_holds_is_told():
    found = diagnose(function(lambda x: x.exp(), lambda g, x: g * x.exp() * 0.37 - g * x * 0.0), t(1))
    assert found.hypotheses[0].name == "factor"
    found = diagnose(function(lambda x: x.exp(), lambda g, x: g * (x.exp() + 0.125 * x)), t(5))
    assert "subtract 0.125 * grad_output * `x`" in found.hypotheses[0].mend


def test_a_region_is_told_without_a_constant_that_does_not_hold():
    x = gw.tensor([-0.7, 0.5, 1.1, 0.9, 1.3], dtype=gw.float64, requires_grad=True)
    backward = lambda g, x: g * gw.where(x > 0, 2 * x, x * x)
    found = diagnose(function(lambda x: x * x, backward), x)
    assert found.hypotheses[0].sentence == "the gradient of `x` is wrong exactly where `x` < 0"
    halved = diagnose(function(lambda x: x * x, lambda g, x: g * gw.where(x > 0, 2 * x, x)), x)
    assert halved.hypotheses[0].sentence.endswith("`x` < 0: 0.5 times what it should be there")


def test_where_there_are_no_fresh_inputs_only_what_has_no_constant_is_told():
    def picky(x):
        if (x.detach() / gw.tensor([0.75, -2.0], dtype=gw.float64) - 1).abs().max() > 0.06:
            raise ValueError("only these")
        return x * x

    x = gw.tensor([0.75, -2.0], dtype=gw.float64, requires_grad=True)
    negated = diagnose(function(picky, lambda g, x: -2 * g * x), x)
    assert "sign" in [h.name for h in negated.hypotheses]
    scaled = diagnose(function(picky, lambda g, x: 0.37 * g * x), x)
    assert "factor" not in [h.name for h in scaled.hypotheses]


@pytest.mark.parametrize("name", WRONG)
def test_the_true_cause_is_named_first(name):
    case = WRONG[name]
    found = diagnose(case.f, case.inputs, order=case.order)
    assert found.verdict is Verdict.WRONG, str(found)
    assert found.reason == case.cause, str(found)
    assert case.says in found.hypotheses[0].sentence, str(found)
    assert found.order == case.order
    assert all(h.sentence and h.mend and 0.9 <= h.evidence <= 1 for h in found.hypotheses)


def test_every_hypothesis_has_a_case():
    causes = {c.cause for c in WRONG.values()} | {cause for *_, cause in UNSETTLED.values()}
    assert causes == {
        "clipped", "changed input", "conjugate", "cotangent ignored", "edge", "elsewhere", "empty", "factor",
        "gradient dtype", "kink", "missing factor", "missing sum", "missing term", "noise", "non-determinism",
        "not a number", "overlap", "part", "precision", "region", "reversed", "second derivative", "shifted", "sign",
        "stale state", "surrogate", "swapped", "transpose", "zero",
    }  # fmt: skip


def test_the_likeliest_comes_first_and_each_only_once():
    case = Case(Scale, (t(3), 2.5))
    residuals, _ = measure(case)
    weak, strong = (Hypothesis(n, "", e, "") for n, e in (("weak", 0.95), ("strong", 0.9999)))
    context = Context(case, residuals * 2, Probes())
    found = hypotheses(context, (lambda r, c: None, lambda r, c: weak, lambda r, c: strong))
    assert found == (strong, weak)


def test_a_hypothesis_is_one_function():
    def far_off(r, c):
        return Hypothesis("far off", "it is far off", r.explained(r.numeric * 2.5), "guess again", r.name)

    case = Case(Scale, (t(3), 2.5))
    context = Context(case, measure(case)[0], Probes())
    assert "far off" in {h.name for h in hypotheses(context, (*TABLE, far_off))}


def test_no_warning_gets_out():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for f, inputs, *_ in (*WRONG.values(), *UNSETTLED.values()):
            with np.errstate(all="warn"):
                diagnose(f, inputs)
