"""The hypotheses of behaviour.py."""

from gradwright.verify.diagnosis import behaviour
from tests.verify.diagnosis.fits import Hypotheses, context
from tests.verify.diagnosis.wrong import function, t


class TestBehaviour(Hypotheses):
    module = behaviour


def test_a_gradient_of_nan_does_not_ignore_its_cotangent():
    c = context(function(lambda x: x * x, lambda g, x: g * float("nan")), (t(3),))
    assert behaviour.cotangent(c.residuals[0], c) is None
