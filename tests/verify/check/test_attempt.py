"""Whatever a block raises is kept."""

import sys

import pytest

import gradwright as gw
from gradwright.verify.check.attempt import Attempt


def test_nothing_raised():
    attempt = Attempt()
    with attempt:
        value = 3
    assert (attempt.error, value) == (None, 3)


def test_an_error_and_its_line():
    attempt = Attempt()
    with attempt:
        raise ValueError("two\n  lines")
    assert attempt.said() == "ValueError: two\n  lines"
    assert attempt.said(__file__) == f"ValueError: two at line {attempt.line(__file__)[0]}\n  lines"
    assert attempt.was_raised_in(__file__)
    assert not attempt.was_raised_in("elsewhere.py")
    assert len(attempt.line(__file__)) == 1
    assert attempt.line("elsewhere.py") == ()


def test_an_exit():
    attempt = Attempt()
    with attempt:
        sys.exit(3)
    assert attempt.said() == "exits the interpreter (SystemExit: 3)"


def test_ctrl_c_passes():
    with pytest.raises(KeyboardInterrupt), Attempt():
        raise KeyboardInterrupt


def test_an_attribute_that_ctx_has_not():
    class Typo(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensor
            return g * x

    attempt = Attempt()
    with attempt:
        Typo.apply(gw.ones(1, requires_grad=True)).backward()
    assert attempt.said().endswith("has no attribute 'saved_tensor'; did you mean 'saved_tensors'?")
    assert attempt.said(__file__).partition(" at line ")[0] == attempt.said()
