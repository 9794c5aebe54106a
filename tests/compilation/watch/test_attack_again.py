"""Steps that read, or do, what no other file here does: each is guarded, or refused with its line."""

from __future__ import annotations

import abc
import array
import ctypes
import dataclasses
import functools
import math
import sys
import types
import weakref
from typing import Any

import pytest

import gradwright as gw
import gradwright.nn.functional as F
from gradwright import nn
from tests.compilation.watch.seen import departure, refusals

w = gw.ones(3, requires_grad=True)
READS: dict[str, Any] = {}
EFFECTS: dict[str, Any] = {}
MOD: Any = types.ModuleType("mod_for_test_again")


def read(make):
    READS[make.__name__] = make
    return make


def effect(make):
    EFFECTS[make.__name__] = make
    return make


@read
def singledispatch_registered_later():
    @functools.singledispatch
    def scale(x, y):
        return y * 2

    scale.register(int, lambda x, y: y)
    return lambda: scale(1.0, w), lambda: scale.register(float, lambda x, y: y * 3)


@read
def singledispatchmethod_registered_later():
    class Scale:
        @functools.singledispatchmethod
        def by(self, x, y):
            return y * 2

    one = Scale()
    return lambda: one.by(1.0, w), lambda: vars(Scale)["by"].register(float, lambda self, x, y: y * 3)


@read
def values_by_class():
    class A:
        """One key."""

    class B:
        """Another."""

    both = [2.0]
    held = {A: both, B: both}
    return lambda: w * sum(v[0] for v in held.values()), lambda: held.update({A: [5.0]})


@read
def function_of_a_library_exchanged(monkeypatch):
    return lambda: F.relu(w), lambda: monkeypatch.setattr(F, "relu", lambda x: x * 2)


@read
def method_of_a_tensor_exchanged(monkeypatch):
    return lambda: w.sin(), lambda: monkeypatch.setattr(gw.Tensor, "sin", lambda x: x * 2)


@read
def function_of_python_exchanged(monkeypatch):
    return lambda: w * math.sqrt(4.0), lambda: monkeypatch.setattr(math, "sqrt", lambda x: 3.0)


@read
def forward_of_a_layer_exchanged(monkeypatch):
    net = nn.Sequential(nn.Linear(3, 3))
    return lambda: net(w), lambda: monkeypatch.setattr(nn.Linear, "forward", lambda self, x: x * 2)


@read
def step_of_an_optimiser_exchanged(monkeypatch):
    v = gw.ones(3, requires_grad=True)
    optimizer = gw.optim.SGD([v], lr=0.1)
    return lambda: optimizer.step(), lambda: monkeypatch.setattr(gw.optim.SGD, "step", lambda self: None)


@read
def abstract_class_registered_later():
    class Shape(abc.ABC):
        """Which others are registered with."""

    class Square:
        """One of them."""

    one = Square()
    return lambda: w * 2 if isinstance(one, Shape) else w * 3, lambda: Shape.register(Square)


@read
def attribute_by_text():
    one, which = types.SimpleNamespace(a0=1.0), [0]
    return lambda: w * getattr(one, f"a{which[0]}"), lambda: setattr(one, "a0", 2.0)


@read
def attribute_by_formatted_text():
    one = types.SimpleNamespace(a0=1.0, b0=2.0)
    return lambda: w * getattr(one, "a%d" % 0) * getattr(one, "b{}".format(0)), lambda: setattr(one, "b0", 3.0)  # noqa: UP031, UP032


@read
def module_exchanged(monkeypatch):
    monkeypatch.setitem(sys.modules, "mod_for_test_again", MOD)
    MOD.scale = 2.0
    other = types.ModuleType("mod_for_test_again")
    other.scale = 3.0  # type: ignore[attr-defined]

    def step():
        import mod_for_test_again  # noqa: PLC0415

        return w * mod_for_test_again.scale

    return step, lambda: monkeypatch.setitem(sys.modules, "mod_for_test_again", other)


@pytest.mark.parametrize("name", READS)
@pytest.mark.filterwarnings("ignore")
def test_what_is_read_is_guarded(name, monkeypatch):
    make = READS[name]
    assert departure(*(make(monkeypatch) if make.__code__.co_argcount else make())) is not None, name


@effect
def bytes_that_change():
    held = bytearray(b"\1\2")
    return lambda: w * held[1]


@effect
def bytes_as_an_argument():
    return (lambda held: w * held[1]), (bytearray(b"\1\2"),)


@effect
def an_array_of_pythons():
    one = types.SimpleNamespace(a=array.array("d", [1.0]))
    return lambda: w * sum(one.a)


@effect
def an_element_of_cs():
    held = (ctypes.c_double * 2)(1.0, 2.0)
    return lambda: w * held[1]


@effect
def a_tensor_that_is_held_weakly():
    v = gw.ones(3)
    weak = weakref.ref(v)
    step = lambda: w * weak()  # noqa: E731
    step.kept = v  # type: ignore[attr-defined]
    return step


@effect
def an_attribute_of_an_argument():
    x = gw.ones(3)
    x.scale = 2.0
    return (lambda x: w * x.scale), (x,)


@effect
def an_attribute_that_an_argument_lacks():
    return (lambda x: w * getattr(x, "scale", 1.0)), (gw.ones(3),)


@effect
def an_attribute_by_a_name_that_is_not_seen():
    one = types.SimpleNamespace(a=1.0)
    return lambda: w * getattr(one, "".join(sorted("a")))


@effect
def grad_mode_that_stays():
    def step():
        gw.set_grad_enabled(False)
        return w * 2

    return step


@effect
def an_argument_returned():
    return (lambda held: held), ({"x": w},)


@effect
def a_list_from_outside_returned():
    held = [gw.ones(3)]
    return lambda: (held, w * 2)


@effect
def a_dataclass_from_outside_returned():
    @dataclasses.dataclass
    class Held:
        x: Any

    held = Held(gw.ones(3))
    return lambda: (held, w * 2)


@effect
def one_list_twice():
    def step():
        made = [w * 2]
        return made, made

    return step


@pytest.mark.parametrize("name", EFFECTS)
def test_an_effect_is_refused(name):
    try:
        assert refusals(EFFECTS[name]()), name
    finally:
        gw.set_grad_enabled(True)


def test_containers_that_are_made_in_the_step_may_be_returned():
    def step(x):
        made = {"a": [x * 2], "b": ([x], {"n": 1})}
        return made, (made["a"][0],)

    assert not refusals((step, (w,)))


def test_what_was_read_is_let_go_of_at_once():
    class Held:
        k = 2.0

    held = Held()
    weak = weakref.ref(held)
    assert not refusals((lambda x: x * (weak().k if weak() else 1.0), (w,)))
    del held
    assert weak() is None
