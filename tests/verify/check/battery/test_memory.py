"""What is held on to, and what is taken from outside."""

import gc

import pytest

import gradwright as gw
from gradwright.verify.check.battery.memory import captured_tensors, no_leak
from tests.corpus.right import Double
from tests.verify.check.functions import trial, x

gain = gw.tensor(2.0, requires_grad=True)
constant = gw.tensor(2.0)
kept = []


class Holder:
    gain = gain


def helper(x):
    return x * globals()["ga" + "in"]


class Keeps(Double):
    @staticmethod
    def forward(ctx, x):
        y = x * 2
        kept.append(y)
        return y


class FromGlobal(Double):
    @staticmethod
    def forward(ctx, x):
        return x * gain


class FromClass(Double):
    @staticmethod
    def forward(ctx, x):
        return x * Holder.gain


class ThroughAHelper(Double):
    @staticmethod
    def forward(ctx, x):
        return helper(x)


class Constant(Double):
    @staticmethod
    def forward(ctx, x):
        return x * constant


def test_no_leak():
    assert no_leak(trial(Double, x)).outcome == "PASS"
    assert gc.isenabled()


def test_held_from_outside():
    finding = no_leak(trial(Keeps, x))
    kept.clear()
    assert (finding.outcome, finding.cause) == ("FAIL", "leak")
    assert "something outside holds them" in finding.sentence
    assert len(finding.lines) == 1


def test_a_cycle(T):
    class Cycle(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.me = [ctx]
            return y

        @staticmethod
        def backward(ctx, g):
            return g * 2

    finding = no_leak(trial(Cycle, x))
    assert (finding.outcome, finding.cause) == ("FAIL", "leak")


@pytest.mark.parametrize(("function", "name"), [
    (FromGlobal, "`gain`"), (FromClass, "`Holder.gain`"), (ThroughAHelper, "gain"),
])  # fmt: skip
def test_captured(function, name):
    finding = captured_tensors(trial(function, x))
    assert (finding.outcome, finding.cause) == ("FAIL", "captured tensor")
    assert name in finding.sentence


def test_captured_in_a_closure(T):
    weight = T.tensor(2.0, requires_grad=True)

    class F(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * weight

    assert "`weight`" in captured_tensors(trial(F, x)).sentence


@pytest.mark.parametrize("function", [Double, Constant])
def test_not_captured(function):
    assert captured_tensors(trial(function, x)).outcome == "PASS"
