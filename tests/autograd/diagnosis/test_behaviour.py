"""The hypotheses of this file fit nothing in a right function, nor in one wrong in another way."""

import pytest

from gradwright.autograd.diagnosis import behaviour
from gradwright.autograd.diagnosis.case import Case
from gradwright.autograd.diagnosis.context import Context
from gradwright.autograd.diagnosis.hypotheses import TABLE
from gradwright.autograd.diagnosis.measure import measure
from gradwright.autograd.diagnosis.probes import experiments, repeat
from tests.autograd.diagnosis.right import RIGHT
from tests.autograd.diagnosis.wrong import function, t

MINE = [fit for fit in TABLE if fit.__module__ == behaviour.__name__]


def context(f, inputs):
    case = Case(f, inputs)
    found = repeat(case)
    residuals, _ = measure(case)
    return Context(case, residuals, experiments(case, residuals, found))


def test_the_table_has_them():
    assert MINE


@pytest.mark.parametrize(
    "name", ["softmax", "linear", "two outputs", "complex product", "broadcasting", "float32", "0-d"]
)
def test_none_fits_what_is_right(name):
    c = context(*RIGHT[name])
    assert [fit(r, c) for fit in MINE for r in c.residuals] == [None] * len(MINE) * len(c.residuals)


def test_none_fits_what_is_wrong_in_no_known_way():
    odd = function(
        lambda x, w: (x @ w).sin(), lambda g, x, w: (((g + g.roll(1, 0)) * (x @ w)).exp() @ w.mT - w.mT[:1], None)
    )
    c = context(odd, (t(2, 4), t(4, 3).detach()))
    assert [fit(c.residuals[0], c) for fit in MINE if fit.__name__ != "cotangent"] == [None] * len(
        [fit for fit in MINE if fit.__name__ != "cotangent"]
    )


def test_a_gradient_of_nan_does_not_ignore_its_cotangent():
    c = context(function(lambda x: x * x, lambda g, x: g * float("nan")), (t(3),))
    assert behaviour.cotangent(c.residuals[0], c) is None
