"""Digits lost, of functions of one tensor, and of no others."""

import numpy as np

import gradwright as gw
from examples.right_functions import Product
from gradwright.verify.check.battery.digits import digits
from gradwright.verify.check.battery.run import examine
from gradwright.verify.check.discover import subject_of
from tests.corpus.right import Double
from tests.verify.check.functions import trial, x


class Less(gw.autograd.Function):
    """exp(x) - 1."""

    @staticmethod
    def forward(ctx, x):
        out = x.exp() - 1
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx, g):
        return g * (ctx.saved_tensors[0] + 1)


def test_what_loses_digits_is_told_of():
    found = digits(trial(Less, np.array([-1.0, 0.0, 1.0])))
    assert "digits near" in found["said"]
    assert found["sample"]


def test_a_right_function_has_them_in_its_record():
    class Sampled(Less):
        @staticmethod
        def samples():
            return [(gw.tensor([-1.0, 0.0, 1.0], dtype=gw.float64),)]

    found = examine(subject_of(Sampled))
    assert "digits near" in found.stability[0]["said"]


def test_of_others_nothing_is_said():
    assert digits(trial(Product, x, x + 3)) is None
    assert digits(trial(Double, np.array([1.0]))) is None
