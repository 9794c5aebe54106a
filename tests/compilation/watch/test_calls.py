"""Calls that steps make."""

from __future__ import annotations

import abc
import typing
from types import FunctionType
from typing import Any

import pytest

import gradwright as gw
from gradwright.compilation.watch.calls import Made, Result
from gradwright.compilation.watch.reads import UNKNOWN
from tests.compilation.watch.seen import failed_guard, quiet

w = gw.ones(3, requires_grad=True)


def abstract():
    return abc.ABCMeta("Shape", (), {})


@pytest.mark.parametrize("name", ["forward", "backward"])
def test_a_method_of_a_function_is_replaced(name):
    class Square(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return 2 * g * ctx.saved_tensors[0]

    class Other(Square):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 7

        @staticmethod
        def backward(ctx, g):
            return 100 * g

    class Below(Square):
        pass

    def step(x):
        y = Below.apply(x * w)
        return gw.autograd.grad(y.sum(), w)[0] + y.detach()

    step, eager = gw.compile(step, backend="plan"), step
    for _ in range(4):
        assert (step(gw.ones(3)) == eager(gw.ones(3))).all()
    setattr(Square, name, Other.__dict__[name])
    assert (step(gw.ones(3)) == eager(gw.ones(3))).all()
    setattr(Below, name, Square.__dict__[name])  # nearer, and the same
    assert (step(gw.ones(3)) == eager(gw.ones(3))).all()


@pytest.mark.parametrize("ask", [
    lambda one, shape: isinstance(one, shape),
    lambda one, shape: isinstance(one, (dict, (shape,))),
    lambda one, shape: issubclass(type(one), shape),
])  # fmt: skip
def test_what_is_registered_with_an_abstract_class_fails_a_guard_if_the_step_asks_about_it(ask: Any) -> None:
    shape, one = abstract(), type("Square", (), {})()
    step = lambda: w * 2 if ask(one, shape) else w * 3  # noqa: E731
    assert failed_guard(step, lambda: abstract().register(type(one))) is None
    assert failed_guard(step, lambda: shape.register(int)) is None
    assert failed_guard(step, lambda: shape.register(type(one))) is not None


def test_so_it_does_of_a_union_from_outside() -> None:
    shape, one = abstract(), type("Square", (), {})()
    either = dict | shape
    step = lambda: w * 2 if isinstance(one, either) else w * 3  # noqa: E731
    assert failed_guard(step, lambda: abstract().register(type(one))) is None
    assert failed_guard(step, lambda: shape.register(type(one))) is not None


def test_a_protocol_of_attributes_is_asked_about_in_a_step() -> None:
    @typing.runtime_checkable
    class Sized(typing.Protocol):
        size: int

    one = type("Square", (), {"size": 1})()
    quiet(lambda: w * 2 if isinstance(one, Sized) else w * 3)


def test_nothing_is_known_unless_it_is_said():
    assert Result().value is UNKNOWN
    assert not UNKNOWN.made


def test_a_function_of_the_call_has_its_code():
    code = (lambda: 1).__code__
    assert Made(code).code is code
    assert Made(code).type is FunctionType
    assert Made(code).made
