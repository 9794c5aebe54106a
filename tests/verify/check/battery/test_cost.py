"""What backward costs."""

import time

from gradwright.verify.check.battery.cost import cost
from tests.corpus.right import Double
from tests.verify.check.functions import trial, x


class Slow(Double):
    @staticmethod
    def backward(ctx, g):
        time.sleep(0.02)
        return g * 2


def test_cost():
    assert cost(trial(Double, x)).outcome == "PASS"
    finding = cost(trial(Slow, x))
    assert (finding.outcome, finding.cause) == ("ADVICE", "cost")
    assert "finite differences" in finding.sentence
