"""gradcheck of gradients that are declared to be no derivatives; more in ../test_surrogate.py."""

from __future__ import annotations

import pytest

import gradwright as gw
from gradwright.autograd import Function, gradcheck
from gradwright.function.contract.surrogate import surrogate


@surrogate("reversal")
class Reversed(Function):
    @staticmethod
    def forward(ctx, x, y):
        return x * 1, y * 1

    @staticmethod
    def backward(ctx, g, h):
        return -g, Reversed.wide(h)

    wide = staticmethod(lambda h: -h)


def test_values_are_not_compared_and_it_says_so():
    x, y = (gw.tensor([v], dtype=gw.float64, requires_grad=True) for v in (1.0, 2.0))
    with pytest.warns(gw.GradientWarning, match=r"SURROGATE: ReversedBackward \(reversal\)") as caught:
        assert gradcheck(Reversed.apply, (x, y))
    assert caught[0].filename == __file__


def test_undefined_gradients_are_tried(monkeypatch):
    monkeypatch.setattr(Reversed, "wide", staticmethod(lambda h: h + 1))
    x, y = (gw.tensor([v], dtype=gw.float64, requires_grad=True) for v in (1.0, 2.0))
    with pytest.raises(gw.GradcheckError, match="Expected all input grads to be undefined or zero"):
        gradcheck(Reversed.apply, (x, y))
