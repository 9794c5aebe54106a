"""The second witness: tiny errors are seen, right rules raise no alarm, and where there is no witness it says why."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradwright as gw
from gradwright.autograd import Function, custom_op
from gradwright.op import op, table
from gradwright.verify import second_witness
from gradwright.verify.testing import draw

X, Y = gw.tensor(np.linspace(-2, 1.5, 12).reshape(3, 4)), gw.tensor(np.linspace(0.3, 2, 12).reshape(3, 4))


class Cosine(Function):
    """cos(x), whose derivative has a relative error of 1e-9."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return gw.cos(x)

    @staticmethod
    def backward(ctx, g):
        return -g * gw.sin(ctx.saved_tensors[0]) * (1 + 1e-9)


def product(error=0.0, cos=gw.cos):
    """sin(x) y, with a relative error in the gradient of x, or another cosine there."""

    class Product(Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return gw.sin(x) * y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * cos(x) * y * (1 + error), g * gw.sin(x)

    return Product


class SetUp(Function):
    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        return 2 * g * ctx.saved_tensors[0]


@custom_op
def soft(x: gw.Tensor, *, b: float = 2.0) -> gw.Tensor:
    return gw.log(1 + gw.exp(x * b)) / b


soft.vjp(x=lambda xp, g, x, b: g / (1 + xp.exp(-b * x)))


@op(kind="elementwise")
def sech(xp, x):
    """1/cosh."""
    return 2 / (xp.exp(x) + xp.exp(-x))


sech.vjp(x=lambda xp, g, x, out: -g * out * xp.tanh(x))


@pytest.mark.parametrize(("f", "arguments", "static"), [
    (product(), (X, Y), {}), (SetUp, (X,), {}), (soft, (X,), {"b": 1.5}), (sech, (X,), {}),
])  # fmt: skip
def test_what_is_right_agrees(f, arguments, static):
    found = second_witness(f, *arguments, **static)
    assert found.agrees is True
    assert found.order == 2
    assert found.seen < 1e-10


@given(st.floats(-10.3, -1), st.sampled_from([-1, 1]))
def test_small_errors_are_seen(power, sign):
    found = second_witness(product(sign * 10.0**power), X, Y)
    assert found.agrees is False
    assert found.order == 1
    assert found.error == pytest.approx(10.0**power, rel=0.2)
    assert "by input 0" in str(found)


def test_errors_of_the_second_derivative_are_seen():
    found = second_witness(product(cos=Cosine.apply), X, Y)
    assert found.agrees is False
    assert found.order == 2


class Numbers(Function):
    @staticmethod
    def forward(ctx, x):
        return gw.from_numpy(np.sin(x.numpy()))

    @staticmethod
    def backward(ctx, g):
        return g


class Detached(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x.detach()

    @staticmethod
    def backward(ctx, g):
        return 2 * g * ctx.saved_tensors[0]


class Random(Function):
    @staticmethod
    def forward(ctx, x):
        return x * gw.rand(())

    @staticmethod
    def backward(ctx, g):
        return g


def test_without_a_second_derivative_the_first_is_compared():
    class Once(product()):
        backward = gw.autograd.function.once_differentiable(product().backward)

    assert second_witness(Once, X, Y).order == 1


@pytest.mark.parametrize(("f", "words"), [
    (Numbers, "forward cannot be recorded"), (Detached, "a part of forward is not recorded"),
    (Random, "another result"), (table["fft_r2h"], "complex"),
    (table["tanh"], "it is itself what the engine would record"),
])  # fmt: skip
def test_where_there_is_no_witness_it_says_why(f, words):
    f = partial(f, axes=(1,), norm="backward") if f is table["fft_r2h"] else f
    found = second_witness(f, X)
    assert found.agrees is None
    assert not found
    assert words in str(found)


def test_what_is_no_function_is_refused():
    with pytest.raises(TypeError, match="expected a Function, a custom_op or an Op"):
        second_witness(gw.sin, X)


@pytest.mark.parametrize("name", [n for n, one in table.items() if one.rules])
def test_no_built_in_rule_raises_an_alarm(name):
    arrays, static = draw(table[name].samples[0])
    given = [gw.tensor(a) if isinstance(a, (np.ndarray, np.generic)) else a for a in arrays]
    assert second_witness(table[name], *given, **static).agrees is not False
