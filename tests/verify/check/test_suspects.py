"""Which lines are suspected."""

import gradwright as gw
from gradwright.verify.check.suspects import helpers, suspects
from gradwright.verify.check.trial import source
from gradwright.verify.diagnosis import Hypothesis
from tests.verify.check.functions import trial, x


class Two(gw.autograd.Function):
    cache = None

    @staticmethod
    def forward(ctx, a, b):
        Two.cache = a
        return a * b

    @staticmethod
    def backward(ctx, g):
        grad_a = g * 2
        grad_b = g * Two.cache
        if g is None:
            return None, None
        return grad_a, grad_b


def texts(cause, argument=""):
    lines = dict(source(Two.backward, __file__))
    return [lines[n].strip() for n in suspects(trial(Two, x, x), cause, argument)]


def test_of_one_argument():
    cause = Hypothesis("factor", "the gradient of `b` is 2 times what it should be", 1.0, "", "b")
    assert texts(cause) == ["grad_b = g * Two.cache", "return None, None", "return grad_a, grad_b"]
    assert texts(None, "a[0]") == ["grad_a = g * 2", "return None, None", "return grad_a, grad_b"]


def doubled(g):
    return g * 2


class Helped(gw.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * gw.ones(1)

    @staticmethod
    def backward(ctx, g):
        grad_a = doubled(gw.neg(g))
        return grad_a


def test_of_a_gradient_that_another_function_computes():
    subject = trial(Helped, x).subject
    lines = suspects(trial(Helped, x), None, "a")
    assert [dict(source(Helped.backward, __file__))[n].strip() for n in lines] == [
        "grad_a = doubled(gw.neg(g))", "return grad_a",
    ]  # fmt: skip
    assert helpers(subject, lines) == [f"doubled (test_suspects.py:{doubled.__code__.co_firstlineno})"]
    assert helpers(subject, lines[1:]) == []


def test_of_state():
    cause = Hypothesis("stale state", "it uses what the last call left behind in Two.cache", 1.0, "")
    assert texts(cause) == ["grad_b = g * Two.cache"]
