"""Steps whose guards or refusals come from `gradwright.compilation.watch.libraries`."""

from __future__ import annotations

import abc
import collections
import copy
import dataclasses
import functools
import os
import random
import threading
import time
import typing
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright import nn
from tests.compilation.watch.seen import departure, quiet, refusals

w = gw.ones(3, requires_grad=True)
REMOVE: Any = []


EFFECTS: dict[str, Any] = {}


def effect(make):
    EFFECTS[make.__name__] = make
    return make


READS: dict[str, Any] = {}


def read(make):
    READS[make.__name__] = make
    return make


@effect
def timing():
    def step():
        return w * (time.time() * 0 + 1)

    return step


@effect
def rand_():
    def step():
        return w * random.random()

    return step


@effect
def rand_uniform():
    def step():
        return w * random.uniform(0, 1)

    return step


@effect
def np_random():
    def step():
        return w * float(np.random.rand())

    return step


@effect
def np_generator():
    r = np.random.default_rng(0)

    def step():
        return w * r.normal()

    return step


@effect
def environ_():
    os.environ["GW_T"] = "2"

    def step():
        return w * float(os.environ["GW_T"])

    return step


@effect
def getenv():
    def step():
        return w * float(os.getenv("GW_T", "2"))

    return step


@effect
def np_out():
    a = np.ones(3, np.float32)

    def step():
        np.add(a, 1, out=a)
        return w

    return step


@effect
def np_out_pos():
    a = np.ones(3, np.float32)

    def step():
        np.add(a, 1, a)
        return w

    return step


@effect
def np_copyto():
    a = np.ones(3, np.float32)

    def step():
        np.copyto(a, 2)
        return w

    return step


@effect
def arr_fill():
    a = np.ones(3, np.float32)

    def step():
        a.fill(2)
        return w

    return step


@effect
def lr_sched():
    o = gw.optim.SGD([w], lr=0.1)
    s = gw.optim.lr_scheduler.StepLR(o, 1)

    def step():
        s.step()
        return w

    return step


@effect
def thread_():
    def step():
        t = threading.Thread(target=lambda: None)
        t.start()
        t.join()
        return w

    return step


@effect
def counter_():
    c = collections.Counter()

    def step():
        c.update("a")
        return w * c["a"]

    return step


@effect
def userdict():
    d = collections.UserDict()

    def step():
        d["a"] = d.get("a", 0) + 1
        return w * d["a"]

    return step


@effect
def manual_seed():
    def step():
        gw.manual_seed(0)
        return gw.randn(3)

    return step


@read
def environ_get_read():
    def step():
        return w * float(os.environ.get("GW_T", "2"))

    return step, lambda: os.environ.__setitem__("GW_T", "7")


@read
def hook_added_read():
    net = nn.Linear(3, 3)

    def step():
        return net(w)

    return step, lambda: net.register_forward_hook(lambda m, i, o: o * 2)


@read
def hook_second_read():
    net = nn.Linear(3, 3)
    net.register_forward_hook(lambda m, i, o: o * 2)

    def step():
        return net(w)

    return step, lambda: net.register_forward_hook(lambda m, i, o: o * 2)


@read
def global_hook_read():
    net = nn.Linear(3, 3)
    h = []

    def step():
        return net(w)

    def change():
        from gradwright.nn.hooks import everywhere, register_module_forward_hook

        REMOVE.append(register_module_forward_hook(lambda m, i, o: o * 2))
        REMOVE.append(everywhere)

    return step, change


@read
def lr_read():
    p = gw.ones(3, requires_grad=True)
    o = gw.optim.SGD([p], lr=0.1)

    def step():
        (p * p).sum().backward()
        o.step()
        o.zero_grad()

    return step, lambda: o.param_groups[0].__setitem__("lr", 0.2)


@read
def group_added_read():
    p = gw.ones(3, requires_grad=True)
    o = gw.optim.SGD([p], lr=0.1)

    def step():
        (p * p).sum().backward()
        o.step()
        o.zero_grad()

    return step, lambda: o.add_param_group({"params": [gw.ones(2, requires_grad=True)]})


@read
def step_hook_read():
    p = gw.ones(3, requires_grad=True)
    o = gw.optim.SGD([p], lr=0.1)

    def step():
        (p * p).sum().backward()
        o.step()
        o.zero_grad()

    return step, lambda: o.register_step_pre_hook(lambda *a: None)


@read
def opt_state_cleared_read():
    p = gw.ones(3, requires_grad=True)
    o = gw.optim.Adam([p], lr=0.1)

    def step():
        (p * p).sum().backward()
        o.step()
        o.zero_grad()

    return step, lambda: o.state.clear()


@read
def opt_load_read():
    p = gw.ones(3, requires_grad=True)
    o = gw.optim.Adam([p], lr=0.1)

    def step():
        (p * p).sum().backward()
        o.step()
        o.zero_grad()

    return step, lambda: o.load_state_dict(o.state_dict())


@read
def copy_read():
    class C:
        pass

    c = C()
    c.k = 1.0

    def step():
        return w * copy.copy(c).k

    return step, lambda: setattr(c, "k", 2.0)


@read
def asdict_read():
    @dataclasses.dataclass
    class C:
        lr: float = 0.1

    c = C()

    def step():
        return w * dataclasses.asdict(c)["lr"]

    return step, lambda: setattr(c, "lr", 0.2)


@read
def replace_read():
    @dataclasses.dataclass
    class C:
        lr: float = 0.1
        n: int = 1

    c = C()

    def step():
        return w * dataclasses.replace(c, n=2).lr

    return step, lambda: setattr(c, "lr", 0.2)


@read
def userdict_read():
    d = collections.UserDict(k=1.0)

    def step():
        return w * d["k"]

    return step, lambda: d.__setitem__("k", 2.0)


@read
def chainmap_read():
    b = {"k": 1.0}
    d = collections.ChainMap({}, b)

    def step():
        return w * d["k"]

    return step, lambda: b.update(k=2.0)


@effect
def cached_property_first():
    class T:
        @functools.cached_property
        def x(self):
            return 2.0

    ts = [T() for _ in range(9)]
    k = [0]

    def step():
        return w * ts[sum("x" in vars(t) for t in ts)].x

    return step


@pytest.mark.parametrize("name", EFFECTS)
@pytest.mark.filterwarnings("ignore")
def test_an_effect_is_refused_with_its_line(name):
    found = refusals(EFFECTS[name]())
    assert found, name
    assert all(r.place is not None for r in found) or name == "generator_step"


@pytest.mark.parametrize("name", READS)
@pytest.mark.filterwarnings("ignore")
def test_what_is_read_is_guarded(name):
    guard = departure(*READS[name]())
    while REMOVE:
        REMOVE.pop().clear()
        REMOVE.pop().remove()
    assert guard is not None, name


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


def abstract():
    return abc.ABCMeta("Shape", (), {})


@pytest.mark.parametrize("ask", [
    lambda one, shape: isinstance(one, shape),
    lambda one, shape: isinstance(one, (dict, (shape,))),
    lambda one, shape: issubclass(type(one), shape),
])  # fmt: skip
def test_what_is_registered_with_an_abstract_class_departs_if_the_step_asks_about_it(ask: Any) -> None:
    shape, one = abstract(), type("Square", (), {})()
    step = lambda: w * 2 if ask(one, shape) else w * 3  # noqa: E731
    assert departure(step, lambda: abstract().register(type(one))) is None
    assert departure(step, lambda: shape.register(int)) is None
    assert departure(step, lambda: shape.register(type(one))) is not None


def test_so_it_does_of_a_union_from_outside() -> None:
    shape, one = abstract(), type("Square", (), {})()
    either = dict | shape
    step = lambda: w * 2 if isinstance(one, either) else w * 3  # noqa: E731
    assert departure(step, lambda: abstract().register(type(one))) is None
    assert departure(step, lambda: shape.register(type(one))) is not None


def test_a_protocol_of_attributes_is_asked_about_in_a_step() -> None:
    @typing.runtime_checkable
    class Sized(typing.Protocol):
        size: int

    one = type("Square", (), {"size": 1})()
    quiet(lambda: w * 2 if isinstance(one, Sized) else w * 3)
