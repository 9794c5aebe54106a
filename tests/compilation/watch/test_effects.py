"""Steps whose guards or refusals come from `gradwright.compilation.watch.effects`."""

from __future__ import annotations

import collections
import dataclasses
import functools
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright import nn
from tests.compilation.watch.seen import refusals

w = gw.ones(3, requires_grad=True)
COUNT: Any = 0
LOG: Any = []
CFG: Any = {"k": 2.0}
ARR: Any = np.ones(3, np.float32)


EFFECTS: dict[str, Any] = {}


def effect(make):
    EFFECTS[make.__name__] = make
    return make


@effect
def default_list():
    def step(cache=[]):
        cache.append(1)
        return w * len(cache)

    return step


@effect
def kwdefault_dict():
    def step(*, cache={}):
        cache["n"] = cache.get("n", 0) + 1
        return w * cache["n"]

    return step


@effect
def log_append():
    def step():
        y = w * 2
        LOG.append(y.sum())
        return y

    return step


@effect
def dict_set():
    def step():
        CFG["last"] = 1
        return w

    return step


@effect
def dict_update():
    d = {}

    def step():
        d.update(a=1)
        return w

    return step


@effect
def list_iadd():
    d = []

    def step():
        l = d
        l += [1]
        return w

    return step


@effect
def set_add():
    d = set()

    def step():
        d.add(1)
        return w

    return step


@effect
def deque_append():
    d = collections.deque(maxlen=3)

    def step():
        d.append(1.0)
        return w * sum(d)

    return step


@effect
def del_item():
    d = {i: 1 for i in range(50)}

    def step():
        del d[next(iter(d))]
        return w

    return step


@effect
def del_attr():
    class T:
        pass

    t = T()

    def step():
        t.x = 1
        del t.x
        return w

    return step


@effect
def walrus_global():
    d = [0]

    def step():
        d[0] = (n := d[0] + 1)
        return w * n

    return step


@effect
def comp_effect():
    d = []

    def step():
        [d.append(k) for k in range(3)]
        return w * len(d)

    return step


@effect
def setattr_name():
    class T:
        pass

    t = T()

    def step():
        setattr(t, "a" + "b", 1)
        return w

    return step


@effect
def slots_():
    class T:
        __slots__ = ("n",)

        def __init__(self):
            self.n = 0

    t = T()

    def step():
        t.n += 1
        return w * t.n

    return step


@effect
def fn_attr():
    def step():
        step.n = getattr(step, "n", 0) + 1
        return w * step.n

    return step


@effect
def arr_write():
    def step():
        ARR[0] += 1
        return w * gw.from_numpy(ARR.copy())

    return step


@effect
def arr_view_write():
    a = np.ones(3, np.float32)

    def step():
        v = a[1:]
        v[0] = 5
        v += 1
        return w

    return step


@effect
def arr_asarray_write():
    a = np.ones(3, np.float32)

    def step():
        np.asarray(a)[0] += 1
        return w

    return step


@effect
def method_alias():
    d = []
    add = d.append

    def step():
        add(1)
        return w * len(d)

    return step


@effect
def dunder_setitem():
    d = {}

    def step():
        d.__setitem__("a", 1)
        dict.__setitem__(d, "b", 2)
        return w

    return step


@effect
def object_setattr():
    class T:
        pass

    t = T()

    def step():
        object.__setattr__(t, "a", 1)
        return w

    return step


@effect
def vars_set():
    class T:
        pass

    t = T()
    t.a = 0

    def step():
        vars(t)["a"] += 1
        return w * t.a

    return step


@effect
def dunder_dict_update():
    class T:
        pass

    t = T()
    t.a = 0

    def step():
        t.__dict__.update(a=t.a + 1)
        return w * t.a

    return step


@effect
def globals_set():
    def step():
        globals()["COUNT"] += 1
        return w * COUNT

    return step


@effect
def arg_mutation():
    d = [1]

    def step(x=None):
        return None

    def outer(l):
        l.append(1)
        return w

    return outer, ([],)


@effect
def tensor_attr():
    def step():
        w.tag = 1
        return w * 1

    return step


@effect
def module_attr():
    net = nn.Linear(3, 1)

    def step():
        net.last = 1
        return net(w)

    return step


@effect
def module_in_forward():
    class N(nn.Module):
        def __init__(self):
            super().__init__()
            self.n = 0

        def forward(self, x):
            self.n += 1
            return x * self.n

    net = N()

    def step():
        return net(w)

    return step


@effect
def save_last():
    class N(nn.Module):
        def forward(self, x):
            self.last = x * 2
            return self.last

    net = N()

    def step():
        return net(w)

    return step


@effect
def reverse_list():
    d = [1, 2]

    def step():
        d.reverse()
        return w * d[0]

    return step


@effect
def slice_assign():
    d = [1, 2]

    def step():
        d[:] = [d[1], d[0]]
        return w * d[0]

    return step


@effect
def self_counter():
    class T:
        n = 0

        def step(self):
            self.n += 1
            return w * self.n

    return T().step


@effect
def class_counter():
    class T:
        n = 0

        def step(self):
            type(self).n += 1
            return w * T.n

    return T().step


@effect
def group_lr_decay():
    o = gw.optim.SGD([w], lr=0.1)

    def step():
        for g in o.param_groups:
            g["lr"] *= 0.9
        return w

    return step


@effect
def defaultdict_miss():
    d = collections.defaultdict(int)
    k = [0]

    def step():
        return w * d[len(d)]

    return step


@effect
def id_swap():
    # rebinding through C iteration
    d = [[1.0], [2.0]]

    def step():
        for l in d:
            l[0] *= 2
        return w * d[0][0]

    return step


@effect
def dict_subclass():
    class D(dict):
        def __getitem__(self, k):
            self.n = getattr(self, "n", 0) + 1
            return self.n

    d = D(a=1)

    def step():
        return w * d["a"]

    return step


@effect
def hook_partial_list():
    log = []
    v = gw.ones(3, requires_grad=True)
    v.register_hook(functools.partial(lambda l, g: l.append(1), log))

    def step():
        (v * 2).sum().backward()
        v.grad = None
        return w

    return step


@effect
def hook_partial_dict():
    log = {"a": 1}
    v = gw.ones(3, requires_grad=True)

    def h(l, g):
        l["a"] += 1

    v.register_hook(functools.partial(h, log))

    def step():
        (v * 2).sum().backward()
        v.grad = None
        return w

    return step


@effect
def hook_method_counter():
    class T:
        n = 0

        def on(self, g):
            self.n += 1
            return g * self.n

    t = T()
    v = gw.ones(3, requires_grad=True)
    v.register_hook(t.on)

    def step():
        (v * 2).sum().backward()
        v.grad = None
        return w

    return step


@effect
def hook_counter():
    n = [0]
    net = nn.Linear(3, 1)
    net.register_forward_hook(lambda m, i, o: n.append(1))

    def step():
        return net(w).sum()

    return step


@effect
def function_state():
    class Fn(gw.autograd.Function):
        n = 0

        @staticmethod
        def forward(ctx, x):
            Fn.n += 1
            return x * Fn.n

        @staticmethod
        def backward(ctx, g):
            return g

    def step():
        return Fn.apply(w)

    return step


@effect
def prop_counter():
    class T:
        _n = 0

        @property
        def n(self):
            self._n += 1
            return self._n

    t = T()

    def step():
        return w * t.n

    return step


@effect
def descriptor_():
    class D:
        def __init__(self):
            self.v = 0

        def __get__(self, o, t):
            self.v += 1
            return self.v

    class T:
        d = D()

    t = T()

    def step():
        return w * t.d

    return step


@pytest.mark.parametrize("name", EFFECTS)
@pytest.mark.filterwarnings("ignore")
def test_an_effect_is_refused_with_its_line(name):
    found = refusals(EFFECTS[name]())
    assert found, name
    assert all(r.place is not None for r in found) or name == "generator_step"


@pytest.mark.parametrize("backend", ["plan", "c"])
def test_each_of_several_first_calls_may_prepare_something_else(backend, compiler):
    """As of two optimisers, each of which makes its state when it is first called."""

    def run(backend):
        gw.manual_seed(0)
        nets = [gw.nn.Linear(2, 2, dtype=gw.float64) for _ in range(3)]
        optims = [gw.optim.Adam(net.parameters()) for net in nets]

        def step(x, which):
            loss = nets[which](x).square().mean()
            loss.backward()
            if which == 0:
                optims[0].step()
            elif which == 1:
                optims[1].step()
            else:
                optims[2].step()
            for optim in optims:
                optim.zero_grad()
            return loss

        step = gw.compile(step, backend=backend) if backend else step
        losses = [step(gw.ones(4, 2, dtype=gw.float64), k % 3).item() for k in range(18)]
        return losses, step

    losses, step = run(backend)
    assert losses == pytest.approx(run(None)[0], rel=1e-12)
    assert not step.programs.reason


def test_a_dataclass_that_is_returned_may_have_a_field_that_is_not_set() -> None:
    @dataclasses.dataclass
    class Pair:
        a: Any
        b: Any = dataclasses.field(init=False)

    step = gw.compile(lambda x: Pair(x * 2))
    for _ in range(3):
        made = step(w)
        assert made.a.tolist() == [2.0, 2.0, 2.0]
        assert not hasattr(made, "b")
