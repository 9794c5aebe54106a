"""The chance that random directions miss an error: what is stated holds, by simulation."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.op import table
from gradwright.verify import sampled
from gradwright.verify.chance import Sampled
from gradwright.verify.testing import draw
from tests.thorough import WHOLE

X = gw.tensor(np.linspace(-1.0, 2.0, 6).reshape(2, 3))
W = np.random.default_rng(0).normal(size=(4, 6))


def linear(error):
    """W x, whose backward is that of W with an error."""

    class Linear(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return gw.from_numpy(W) @ x.reshape(-1)

        @staticmethod
        def backward(ctx, g):
            return (g @ gw.from_numpy(W + error)).reshape(2, 3)

    return Linear.apply


@pytest.mark.parametrize("f", [gw.tanh, lambda x: gw.softmax(x @ x.T, dim=1), lambda x: (x.sum(), gw.exp(x))])
def test_what_is_right_agrees(f):
    found = sampled(f, X, seed=0)
    assert found
    assert found.noticed() < 1e-6
    assert "is missed with a chance below 1e-06" in str(found)


@pytest.mark.parametrize("size", [1.0, 1e-3, 1e-6])
def test_an_error_in_one_entry_is_seen(size):
    error = np.zeros_like(W)
    error[1, 2] = size
    found = sampled(linear(error), X)
    assert not found
    assert "off in random directions" in str(found)


def test_a_jvp_or_no_second_derivative_hides_nothing():
    class Cube(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x**3

        @staticmethod
        @gw.autograd.function.once_differentiable
        def backward(ctx, g):
            return g * 3.01 * ctx.saved_tensors[0] ** 2

        @staticmethod
        def jvp(ctx, t):
            return t * 3 * ctx.saved_tensors[0] ** 2

    assert not sampled(Cube.apply, X)

    class Right(Cube):
        @staticmethod
        @gw.autograd.function.once_differentiable
        def backward(ctx, g):
            return g * 3 * ctx.saved_tensors[0] ** 2

    assert sampled(Right.apply, X)


def one_entry(size):
    error = np.zeros_like(W)
    error[1, 2] = size
    return error


def one_row(size):
    error = np.zeros_like(W)
    error[2] = size / np.sqrt(6)
    return error


def everywhere(size):
    return size * np.random.default_rng(4).choice([-1.0, 1.0], W.shape) / np.sqrt(6)


RUNS = 400 if WHOLE else 100


@pytest.mark.parametrize("error", [one_entry, one_row, everywhere])
@pytest.mark.parametrize("size", [0.15, 0.3])
def test_the_stated_chance_is_true(error, size):
    """With room 0.1 and two directions: as often as is stated, but for three standard deviations."""
    runs = [sampled(linear(error(size)), X, directions=2, room=0.1, seed=k) for k in range(RUNS)]
    stated = max(run.missing(size) for run in runs)
    missed = np.mean([bool(run) for run in runs])
    assert missed <= stated + 3 * np.sqrt(stated * (1 - stated) / RUNS)
    if error is not everywhere:  # there it is exact for small chances
        assert missed >= stated / 3 - 3 * np.sqrt(stated / RUNS)


def test_the_figures_belong_together():
    found = Sampled(True, (1e-9, 4e-9), 0.1)
    size = found.noticed(1e-4)
    assert found.missing(size) == pytest.approx(1e-4)
    assert found.missing(1e-12) == 1.0


def test_no_built_in_rule_raises_an_alarm():
    for name in ("logsumexp", "softmax", "matmul", "gelu_tanh", "var", "inv", "cumulative_prod"):
        arrays, static = draw(table[name].samples[0])
        given = [gw.tensor(a) for a in arrays]
        assert sampled(lambda *t, op=table[name], static=static: op(*t, **static), *given, seed=1), name


def test_bad_input():
    with pytest.raises(ValueError, match="expected a tensor of float64"):
        sampled(gw.tanh, gw.ones(2))
    with pytest.raises(ValueError, match="expected results of floating point"):
        sampled(lambda x: x > 0, X)


@pytest.mark.parametrize("f", [
    lambda x: x.float(),
    lambda x: (x * 1000).round() / 1000,
    lambda x: gw.where(x == X, x, 2 * x + 1.5),
    lambda x: (x - X).abs(),
], ids=["in float32", "a fine staircase", "another value at this point alone", "a kink"])
def test_what_differences_cannot_tell_is_no_alarm(f):
    assert all(sampled(f, X, directions=2, seed=k) for k in range(5))
