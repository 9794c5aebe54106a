"""Backward passes nested beyond Python's limit of recursion, and that nothing is lost on the way."""

import sys

import numpy as np
import pytest

import gradwright as gw
from gradwright.autograd import Function
from gradwright.base.cpython.deep import deepened, thread


def nested(depth, at_end=lambda: None):
    """x**2 of a pass within so many others."""

    class Nested(Function):
        @staticmethod
        def forward(ctx, x, n):
            ctx.n = n
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            with gw.enable_grad():
                inner = x.detach().requires_grad_()
                (Nested.apply(inner, ctx.n - 1) if ctx.n else inner**2 + (at_end() or 0)).sum().backward()
            return g * inner.grad, None

    return lambda x: Nested.apply(x, depth)


@pytest.mark.parametrize("depth", [0, 1, 15, 16, 17, 100, 1000])
def test_passes_nest_to_any_depth(depth):
    x = gw.tensor([3.0], requires_grad=True)
    y = nested(depth)(x)
    y.sum().backward()
    assert x.grad.tolist() == [6.0]
    assert sys.getrecursionlimit() >= 1000


def test_an_error_in_the_depth_is_its_own_and_nothing_stays_on():
    def fails():
        raise ZeroDivisionError("down there")

    x = gw.tensor([3.0], requires_grad=True)
    with pytest.raises(ZeroDivisionError, match="down there"):
        nested(50, fails)(x).sum().backward()
    assert gw.is_grad_enabled()
    assert x.grad is None
    test_passes_nest_to_any_depth(100)


def test_a_trace_goes_on_in_the_depth():
    """What a traced step does there is a part of its program, and no constant of the traced run."""
    f = nested(20)

    def step(x):
        leaf = x.detach().requires_grad_()
        f(leaf).sum().backward()
        return leaf.grad * x

    compiled = gw.compile(step)
    for k in range(4):
        x = gw.tensor([3.0 + k, -1.0])
        assert np.allclose(compiled(x), step(x))
        assert np.allclose(step(x), 2 * x * x)


def test_a_thread_that_another_waits_for_has_its_number():
    mine, seen = thread(), set()

    def down(n):
        seen.add(thread())
        return n and deepened(down, n - 1)

    down(40)
    assert seen == {mine}
