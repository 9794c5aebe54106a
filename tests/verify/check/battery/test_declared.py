"""The rules for forward mode and vmap, if there are any."""

import numpy as np
import pytest

from gradwright.verify.check.battery.declared import forward_mode, vmap
from tests.corpus.right import Double
from tests.verify.check.functions import trial, x


def moving(T, rule):
    class F(T.autograd.Function):
        @staticmethod
        def forward(ctx, a, n, b):
            ctx.n = n
            ctx.save_for_backward(a, b)
            ctx.save_for_forward(a, b)
            return a * b * n

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            return g * b * ctx.n, None, g * a * ctx.n

        @staticmethod
        def jvp(ctx, a_t, _, b_t):
            return rule(ctx, *ctx.saved_tensors, a_t, b_t)

    return trial(F, x, 2.0, x + 3)


def test_right(T):
    assert forward_mode(moving(T, lambda ctx, a, b, da, db: ctx.n * (da * b + a * db))).outcome == "PASS"


@pytest.mark.parametrize(("rule", "says"), [
    (lambda ctx, a, b, da, db: da * b + a * db, "0.5 times"),
    (lambda ctx, a, b, da, db: -ctx.n * (da * b + a * db), "-1 times"),
    (lambda ctx, a, b, da, db: ctx.n * da * b, "off from finite differences"),
    (lambda ctx, a, b, da, db: 1 / 0, "ZeroDivisionError"),
])  # fmt: skip
def test_wrong(T, rule, says):
    finding = forward_mode(moving(T, rule))
    assert (finding.outcome, finding.cause) == ("FAIL", "jvp")
    assert says in finding.sentence


@pytest.mark.parametrize("size", [1e-6, 1e-9])
def test_errors_that_differences_do_not_see_show_between_jvp_and_backward(T, size):
    finding = forward_mode(moving(T, lambda ctx, a, b, da, db: ctx.n * (da * b + a * db) * (1 + size)))
    assert (finding.outcome, finding.cause) == ("FAIL", "small error")
    assert "not adjoint" in finding.sentence


def test_none_declared():
    assert forward_mode(trial(Double, x)).outcome == "SKIPPED"
    assert vmap(trial(Double, x)).outcome == "SKIPPED"


def test_a_right_one_beside_a_wrong_backward():
    class F(Double):
        @staticmethod
        def forward(ctx, x):
            return x * 3

        @staticmethod
        def jvp(ctx, dx):
            return dx * 3

    assert "backward, which is wrong" in forward_mode(trial(F, x)).sentence


def batching(T, rule=None, generated=False):
    class F(T.autograd.Function):
        generate_vmap_rule = generated

        @staticmethod
        def forward(x, n):
            return x * n

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.n = inputs[1]

        @staticmethod
        def backward(ctx, g):
            return g * ctx.n, None

    if rule is not None:
        F.vmap = staticmethod(lambda info, in_dims, x, n: rule(F, in_dims, x, n))
    return trial(F, x, 2.0)


def test_vmap(T):
    assert vmap(batching(T, lambda F, in_dims, x, n: (F.apply(x, n), in_dims[0]))).outcome == "PASS"
    assert vmap(batching(T, lambda F, in_dims, x, n: (F.apply(x, n).mT, 1 - in_dims[0]))).outcome == "PASS"
    assert vmap(batching(T, generated=True)).outcome == "PASS"


@pytest.mark.parametrize(("rule", "says"), [
    (lambda F, in_dims, x, n: (F.apply(x, 3.0), 0), "other results"),
    (lambda F, in_dims, x, n: F.apply(x, n)[0, 0], "fails"),
])  # fmt: skip
def test_wrong_vmap(T, rule, says):
    finding = vmap(batching(T, rule))
    assert (finding.outcome, finding.cause) == ("FAIL", "vmap")
    assert says in finding.sentence


def moved(x, d):
    return x if d is None else x.movedim(d, 0)


@pytest.mark.parametrize("rule", [
    lambda d, x, y: (y - x, d[1]) if d[0] is None else (x - y, d[0]),
    lambda d, x, y: (moved(y, d[1]) - x, 0) if d[0] is None else (moved(x, d[0]) - moved(y, d[1]), 0),
    lambda d, x, y: (x - y, 0),
    lambda d, x, y: ((moved(x, d[0]) - moved(y, d[1])) * (2 if d[1] is None else 1), 0),
    lambda d, x, y: (moved(x, d[0]) - moved(y, d[1]), 0) if 0 in d else (x - y, 0),
])  # fmt: skip
def test_a_vmap_rule_that_is_right_for_some_places_of_the_samples_alone(T, rule):
    def made(rule):
        class Difference(T.autograd.Function):
            forward = staticmethod(lambda x, y: x - y)
            setup_context = staticmethod(lambda ctx, inputs, output: None)
            backward = staticmethod(lambda ctx, g: (g, -g))
            vmap = staticmethod(lambda info, in_dims, x, y: rule(in_dims, x, y))

        return trial(Difference, *(np.array([row, 2 * x]) for row in (x, 3 - x)))

    finding = vmap(made(rule))
    assert (finding.outcome, finding.cause) == ("FAIL", "vmap")
    assert "dimension" in finding.sentence
    assert vmap(made(lambda d, x, y: (moved(x, d[0]) - moved(y, d[1]), 0))).outcome == "PASS"
