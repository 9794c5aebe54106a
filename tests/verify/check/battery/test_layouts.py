"""Arrays in other layouts, and what goes wrong with them."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.verify.check.battery.layouts import strides
from tests.corpus.right import Double
from tests.verify.check.functions import trial


def raw(g):
    return g.detach().numpy()


SLOPES = {
    "stride-0 cotangent": lambda g: g * 3 if 0 in raw(g).strides else g * 2,
    "negative-stride cotangent": lambda g: g * 3 if min(raw(g).strides) < 0 else g * 2,
    "transposed cotangent": lambda g: gw.from_numpy(raw(g).ravel("K").reshape(g.shape) * 2),
    "strided cotangent": lambda g: g * 3 if raw(g).strides[-1] > 8 and not raw(g).flags.f_contiguous else g * 2,
    "read-only cotangent": lambda g: g * 2 if raw(g).flags.writeable or 0 in raw(g).strides else g * 3,
}


@pytest.mark.parametrize("cause", SLOPES)
def test_wrong_for_a_cotangent(cause):
    class F(Double):
        @staticmethod
        def backward(ctx, g):
            return SLOPES[cause](g)

    finding = strides(trial(F, np.arange(1.0, 7).reshape(2, 3)))
    assert (finding.outcome, finding.cause) == ("FAIL", cause)


def test_wrong_for_an_input():
    class F(Double):
        @staticmethod
        def forward(ctx, x):
            return gw.from_numpy(x.detach().numpy().ravel("K").reshape(x.shape) * 2)

    finding = strides(trial(F, np.arange(1.0, 7).reshape(2, 3)))
    assert (finding.outcome, finding.cause) == ("FAIL", "transposed input")


def test_an_error_counts():
    class F(Double):
        @staticmethod
        def backward(ctx, g):
            assert g.is_contiguous()
            return g * 2

    finding = strides(trial(F, np.arange(1.0, 7).reshape(2, 3)))
    assert finding.cause == "stride-0 cotangent"
    assert "AssertionError" in finding.sentence


def test_right():
    assert strides(trial(Double, np.arange(1.0, 7).reshape(2, 3))).outcome == "PASS"
    assert strides(trial(Double, np.array(1.5))).outcome == "PASS"
