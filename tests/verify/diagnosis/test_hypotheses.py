"""Each wrong Function is found wrong, and its true cause named first."""

import warnings

import numpy as np
import pytest

from gradwright.autograd import diagnose
from gradwright.verify.diagnosis import Hypothesis, Verdict
from gradwright.verify.diagnosis.case import Case
from gradwright.verify.diagnosis.context import Context
from gradwright.verify.diagnosis.hypotheses import TABLE, hypotheses
from gradwright.verify.diagnosis.measure import measure
from gradwright.verify.diagnosis.probes import Probes
from tests.verify.diagnosis.right import UNSETTLED
from tests.verify.diagnosis.wrong import WRONG, Scale, t


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
