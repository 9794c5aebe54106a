"""Diagnoses as findings."""

import numpy as np

import gradwright as gw
from examples.right_functions import Product
from gradwright.op import A, Sample, op
from gradwright.verify.check.battery.orders import first_order, second_order, witness
from tests.corpus.right import Double, Sinh
from tests.corpus.wrong import Halved
from tests.verify.check.functions import trial, x


def test_right():
    for check in (first_order, second_order):
        finding, diagnosis = check(trial(Product, x, x + 3))
        assert (finding.outcome, diagnosis.verdict) == ("PASS", "VERIFIED")


def test_wrong():
    finding, diagnosis = first_order(trial(Halved, x))
    assert (finding.outcome, finding.cause, diagnosis.name) == ("FAIL", "factor", "Halved")
    assert "is 2 ± " in finding.sentence
    assert "and backward gives 1" in finding.sentence
    assert len(finding.lines) == 2


def test_no_second_order_before_the_first_is_right():
    finding, diagnosis = second_order(trial(Halved, x))
    assert (finding.outcome, diagnosis) == ("SKIPPED", None)


def test_declared_once_differentiable(T):
    class Sine(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        @T.autograd.function.once_differentiable
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * x.cos()

    assert first_order(trial(Sine, x))[0].outcome == "PASS"
    assert second_order(trial(Sine, x))[0].sentence == "declared once_differentiable"


def test_a_second_derivative_that_is_refused_is_no_fault():
    @gw.custom_op
    def cosine(x: gw.Tensor) -> gw.Tensor:
        return gw.from_numpy(np.cos(x.numpy()))

    @gw.custom_op
    def sine(x: gw.Tensor) -> gw.Tensor:
        return gw.from_numpy(np.sin(x.numpy()))

    sine.vjp(x=lambda xp, g, x: g * cosine(x))  # which has no derivative
    assert first_order(trial(sine, x))[0].outcome == "PASS"
    finding, _ = second_order(trial(sine, x))
    assert finding.outcome == "SKIPPED"
    assert "there is none: cosine(): the derivative for 'x' is not implemented" in finding.sentence


def test_a_kink_is_neither(T):
    class Relu(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clamp(min=0)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * (x > 0)

    finding, _ = first_order(trial(Relu, np.array([0.0, 1.5])))
    assert (finding.outcome, finding.cause) == ("INCONCLUSIVE", "kink")


def test_the_line_of_an_ops_derivative():
    @op(kind="elementwise", samples=[Sample(A(3))])
    def double(xp, x):
        return x * 2

    double.vjp(
        x=lambda xp, g: g  # the line
    )
    (line,) = first_order(trial(double, x))[0].lines
    with open(__file__) as file:
        assert file.read().splitlines()[line - 1].endswith("# the line")


def test_intermediates_of_forward_are_no_constants():
    assert second_order(trial(Sinh, x))[0].outcome == "PASS"


def test_double_is_right():
    assert first_order(trial(Double, x))[0].outcome == "PASS"


def test_the_second_witness_sees_what_differences_do_not():
    class Near(Double):
        @staticmethod
        def backward(ctx, g):
            return g * (2.0 + 1e-9)

    assert first_order(trial(Near, x))[0].outcome == "PASS"
    found = witness(trial(Near, x))
    assert (found.outcome, found.cause) == ("FAIL", "small error")
    assert "off from the engine's by 5e-10" in found.sentence
    assert witness(trial(Double, x)).outcome == "PASS"
