"""Forward and backward write to nothing and depend on nothing but their arguments."""

import random

import numpy as np
import pytest

from gradwright.verify.check.attempt import Attempt
from gradwright.verify.check.battery.behaviour import deterministic, independent_calls, inputs_unchanged, runs, state
from gradwright.verify.check.battery.findings import broken
from tests.corpus.right import Double
from tests.verify.check.functions import trial, x


class Counts(Double):
    calls = 0

    @staticmethod
    def forward(ctx, x):
        Counts.calls += 1
        return x * Counts.calls


class Seeded(Double):
    @staticmethod
    def forward(ctx, x):
        ctx.n = random.random()
        return x * ctx.n

    @staticmethod
    def backward(ctx, g):
        return g * ctx.n


class DrawsOntoTheClass(Double):
    """Of which the same seed before each call would show nothing."""

    @staticmethod
    def forward(ctx, x):
        DrawsOntoTheClass.n = random.random()
        return x * DrawsOntoTheClass.n

    @staticmethod
    def backward(ctx, g):
        return g * DrawsOntoTheClass.n


class ChangesCtx(Double):
    @staticmethod
    def forward(ctx, x):
        ctx.n = 1
        return x * 2

    @staticmethod
    def backward(ctx, g):
        ctx.n += 1
        return g * ctx.n


class Flat(Double):
    @staticmethod
    def forward(ctx, x):
        y = x * 2
        ctx.mark_non_differentiable(y)
        return y


class Nothing(Double):
    @staticmethod
    def forward(ctx, x):
        return 3.0


class Warns(Double):
    @staticmethod
    def forward(ctx, x):
        return x * (2 + 0 * float(x))


class Dirty(Double):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)


@pytest.mark.parametrize("check", [runs, inputs_unchanged, deterministic, independent_calls])
@pytest.mark.parametrize("function", [Double, Seeded])
def test_right(check, function):
    assert check(trial(function, x)).outcome == "PASS"


@pytest.mark.parametrize(("check", "function", "cause"), [
    (runs, Nothing, "wrong type"), (runs, Flat, "zero"), (deterministic, Counts, "stale state"),
    (independent_calls, ChangesCtx, "stale state"), (independent_calls, DrawsOntoTheClass, "stale state"),
])  # fmt: skip
def test_wrong(check, function, cause):
    finding = check(trial(function, x))
    assert (finding.outcome, finding.cause) == ("FAIL", cause)


def test_state_is_named():
    assert list(state(trial(Counts, x))) == ["Counts.calls"]
    assert "Counts.calls" in deterministic(trial(Counts, x)).sentence


def test_what_gradwright_warns_of_is_passed_on():
    finding = runs(trial(Warns, x[:1]))
    assert (finding.outcome, finding.cause) == ("ADVICE", "warning")


def test_a_declared_change_is_allowed():
    one = trial(Dirty, x)
    one.cloned = True
    assert inputs_unchanged(one).outcome == "PASS"


def test_an_undeclared_one_is_told_by_the_engine():
    class Writes(Double):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            return x * 1

    one = trial(Writes, x)
    attempt = Attempt()
    with attempt:
        runs(one)
    finding = broken(attempt, one)
    assert (finding.check, finding.cause) == ("inputs unchanged", "changed input")


def test_an_undeclared_one_in_pytorch(torch):
    class Writes(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g.mul_(2)

    class Cotangent(Writes):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    assert inputs_unchanged(trial(Writes, x)).cause == "changed input"
    assert inputs_unchanged(trial(Cotangent, x)).cause == "changed grad_output"




def test_a_second_pass_that_fails_is_named():
    class Frees(Double):
        @staticmethod
        def forward(ctx, x):
            ctx.held = [2.0]
            return 2 * x

        @staticmethod
        def backward(ctx, g):
            return g * ctx.held.pop()

    finding = runs(trial(Frees, x))
    assert (finding.outcome, finding.cause) == ("ADVICE", "IndexError")  # a single pass is right
    assert finding.sentence.startswith("a second backward pass over the same graph (retain_graph=True) raises Index")
    assert "do not pop" in finding.mend


def test_random_numbers_in_backward(T):
    class Dropout(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * (T.rand(x.shape) > 0.4)

        @staticmethod
        def backward(ctx, g):
            return g * (T.rand(g.shape) > 0.4)

    finding = deterministic(trial(Dropout, np.ones(9)))
    assert (finding.outcome, finding.cause) == ("FAIL", "non-determinism")
    assert finding.sentence.startswith("backward draws random numbers")


def test_what_backward_raises_elsewhere_is_advice():
    it = trial(Double, x)
    it.doubt = "with b, which forward takes, backward raised ValueError: no"
    assert (runs(it).outcome, runs(it).cause, runs(it).sentence) == ("ADVICE", "backward raises", it.doubt)
