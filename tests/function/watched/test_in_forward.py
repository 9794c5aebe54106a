"""A tensor that forward uses although it is no argument: named, with its line."""

import re
import types

import pytest

import gradwright as gw
from gradwright.autograd import grad
from gradwright.engine.strict import strict
from gradwright.errors import CapturedTensor, GradientWarning
from tests.functions import unnamed

OUTSIDE = gw.ones(2, requires_grad=True)
CONSTANT = gw.ones(2)


def x_():
    return gw.ones(2, requires_grad=True)


WAYS = {
    "OUTSIDE": lambda ctx, x: x * OUTSIDE,
    "OUTSIDE, unary": lambda ctx, x: x + OUTSIDE.exp(),
    "OUTSIDE, a reduction": lambda ctx, x: x * OUTSIDE.sum(),
    "OUTSIDE, several": lambda ctx, x: gw.cat([x, OUTSIDE]),
    "OUTSIDE, in place": lambda ctx, x: gw.zeros(2).add_(OUTSIDE),
    "OUTSIDE, by way of a view": lambda ctx, x: x * OUTSIDE.view(2),
}


@pytest.mark.parametrize("name", WAYS)
def test_a_global(name):
    F = unnamed(WAYS[name])
    with pytest.warns(CapturedTensor, match="F: forward uses 'OUTSIDE', which requires grad but") as found:
        F.apply(x_())
    text = str(found[0].message)
    assert re.search(rf"used at {re.escape(__file__)}:\d+: .*OUTSIDE", text)
    assert "Make it an argument of apply; or detach() it" in text
    assert (found[0].filename, issubclass(CapturedTensor, GradientWarning)) == (__file__, True)
    with strict(True), pytest.raises(RuntimeError, match="'OUTSIDE'"):
        F.apply(x_())


def test_what_it_is_called():
    w, many = gw.ones(2, requires_grad=True), [gw.ones(2, requires_grad=True)]
    layer, space = gw.nn.Linear(2, 2), types.SimpleNamespace(w=gw.ones(2, requires_grad=True))

    class Model:
        def __init__(self):
            self.w = gw.ones(2, requires_grad=True)

        def apply(self):
            return unnamed(lambda ctx, x: x * self.w).apply(x_())

    for call, name in {
        lambda: unnamed(lambda ctx, x: x * w).apply(x_()): "'w'",
        lambda: unnamed(lambda ctx, x: x * many[0]).apply(x_()): "'many[0]'",
        lambda: unnamed(lambda ctx, x: x * space.w).apply(x_()): "'space.w'",
        lambda: unnamed(lambda ctx, x: x @ layer.weight).apply(x_()): "'layer.weight'",
        lambda: Model().apply(): "'self.w'",
    }.items():
        with pytest.warns(CapturedTensor, match=re.escape(f"forward uses {name}, ")):
            call()


def test_it_is_said_where_nothing_else_requires_grad():
    with pytest.warns(CapturedTensor):
        unnamed(WAYS["OUTSIDE"]).apply(gw.ones(2))


def inner_graph(ctx, x):
    with gw.enable_grad():
        z = x.detach().requires_grad_() ** 2
    return z * 2


RIGHT = {
    "an argument": lambda ctx, x: x * x.view(2) + x[0],
    "a constant": lambda ctx, x: x * CONSTANT,
    "detached": lambda ctx, x: x * OUTSIDE.detach() * OUTSIDE.data,
    "only its values matter": lambda ctx, x: x * (OUTSIDE > 0) * OUTSIDE.shape[0],
    "a graph inside": inner_graph,
    "another Function": lambda ctx, x: unnamed(lambda ctx, x: x * 2).apply(x * 2),
    "no_grad": lambda ctx, x: gw.no_grad()(lambda: x * x)(),
}


@pytest.mark.parametrize("name", RIGHT)
def test_no_false_alarm(name):
    with strict(True):
        x = x_()
        grad(unnamed(RIGHT[name]).apply(x * 1).sum(), x, create_graph=True)


def test_a_function_may_say_that_it_sees_to_them():
    with strict(True):
        unnamed(WAYS["OUTSIDE"], captures_tensors=True).apply(x_())


def test_where_nothing_is_recorded():
    with strict(True), gw.no_grad():
        unnamed(WAYS["OUTSIDE"]).apply(x_())


def test_recording_is_as_it_was():
    F = unnamed(lambda ctx, x: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        F.apply(x_())
    assert gw.is_grad_enabled()
    seen = []
    unnamed(lambda ctx, x: seen.append(gw.is_grad_enabled()) or x * 2).apply(x_())
    assert seen == [False]
