"""Steps whose guards or refusals come from `gradwright.compilation.watch.attributes`."""

from __future__ import annotations

import dataclasses
import enum
import sys
import types
from typing import Any

import pytest

import gradwright as gw
from gradwright import nn
from tests.compilation.watch.seen import departure

w = gw.ones(3, requires_grad=True)
MOD: Any = types.ModuleType("mod_for_test")
MOD.scale = 3.0
sys.modules["mod_for_test"] = MOD
exec(
    "state = 0\ndef bump():\n    global state\n    state += 1\n    return state\ndef get():\n    return state + 1.0\n",
    vars(MOD),
)


READS: dict[str, Any] = {}


def read(make):
    READS[make.__name__] = make
    return make


@read
def attr_read():
    class T:
        pass

    t = T()
    t.k = 1.0

    def step():
        return w * t.k

    return step, lambda: setattr(t, "k", 2.0)


@read
def class_attr_read():
    class T:
        k = 1.0

    t = T()

    def step():
        return w * t.k

    return step, lambda: setattr(T, "k", 2.0)


@read
def class_attr_shadow_read():
    class T:
        k = 1.0

    t = T()

    def step():
        return w * t.k

    return step, lambda: setattr(t, "k", 2.0)


@read
def base_class_attr_read():
    class B:
        k = 1.0

    class T(B):
        pass

    def step():
        return w * T.k

    return step, lambda: setattr(T, "k", 2.0)


@read
def method_patch_read():
    class T:
        def f(self):
            return 1.0

    t = T()

    def step():
        return w * t.f()

    return step, lambda: setattr(T, "f", lambda s: 2.0)


@read
def method_instance_patch_read():
    class T:
        def f(self):
            return 1.0

    t = T()

    def step():
        return w * t.f()

    return step, lambda: setattr(t, "f", lambda: 2.0)


@read
def slots_read():
    class T:
        __slots__ = ("k",)

    t = T()
    t.k = 1.0

    def step():
        return w * t.k

    return step, lambda: setattr(t, "k", 2.0)


@read
def property_read():
    class T:
        _k = 1.0

        @property
        def k(self):
            return self._k

    t = T()

    def step():
        return w * t.k

    return step, lambda: setattr(t, "_k", 2.0)


@read
def dunder_getattr_read():
    class T:
        def __init__(self):
            self.d = {"k": 1.0}

        def __getattr__(self, n):
            return self.d[n]

    t = T()

    def step():
        return w * t.k

    return step, lambda: t.d.update(k=2.0)


@read
def module_attr_read():
    def step():
        return w * MOD.scale

    return step, lambda: setattr(MOD, "scale", 5.0)


@read
def training_read():
    net = nn.Dropout(0.5)

    def step():
        return net(w)

    return step, lambda: net.eval()


@read
def training_deep_read():
    net = nn.Sequential(nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5)))

    def step():
        return net(w)

    return step, lambda: net[0][1].eval()


@read
def param_replace_read():
    net = nn.Linear(3, 3)

    def step():
        return net(w)

    return step, lambda: setattr(net, "weight", nn.Parameter(gw.ones(3, 3)))


@read
def layer_replace_read():
    net = nn.Sequential(nn.Linear(3, 3))

    def step():
        return net(w)

    return step, lambda: net.__setitem__(0, nn.Linear(3, 3))


@read
def layer_append_read():
    net = nn.Sequential(nn.Linear(3, 3))

    def step():
        return net(w)

    return step, lambda: net.append(nn.Linear(3, 3))


@read
def bn_momentum_read():
    net = nn.BatchNorm1d(3)
    x = gw.randn(4, 3)

    def step():
        return net(x)

    return step, lambda: setattr(net, "momentum", 0.5)


@read
def dropout_p_read():
    net = nn.Dropout(0.5)

    def step():
        return net(w)

    return step, lambda: setattr(net, "p", 0.1)


@read
def forward_patch_read():
    net = nn.Linear(3, 3)

    def step():
        return net(w)

    return step, lambda: setattr(net, "forward", lambda x: x)


@read
def enum_cfg_read():
    class M(enum.Enum):
        A = 1
        B = 2

    c = {"m": M.A}

    def step():
        return w if c["m"] is M.A else w * 2

    return step, lambda: c.update(m=M.B)


@read
def dataclass_cfg_read():
    @dataclasses.dataclass
    class C:
        lr: float = 0.1

    c = C()

    def step():
        return w * c.lr

    return step, lambda: setattr(c, "lr", 0.2)


@read
def simplenamespace_read():
    c = types.SimpleNamespace(lr=0.1)

    def step():
        return w * c.lr

    return step, lambda: setattr(c, "lr", 0.2)


@read
def grad_none_read():
    class T:
        def __init__(self):
            self.c = None

    t = T()

    def step():
        return w if t.c is None else w * t.c

    return step, lambda: setattr(t, "c", 2.0)


@read
def hook_self_read():
    class T:
        k = 1.0

        def on(self, g):
            return g * self.k

    t = T()
    v = gw.ones(3, requires_grad=True)
    v.register_hook(t.on)

    def step():
        (v * 2).sum().backward()
        g = v.grad
        v.grad = None
        return g

    return step, lambda: setattr(t, "k", 3.0)


@read
def dunder_dict_items_read():
    class C:
        pass

    c = C()
    c.k = 1.0

    def step():
        return w * sum(v for k, v in c.__dict__.items())

    return step, lambda: setattr(c, "z", 2.0)


@read
def type_attr_read():
    class T:
        k = 1.0

    t = T()

    def step():
        return w * type(t).k

    return step, lambda: setattr(T, "k", 2.0)


@read
def super_attr_read():
    class B:
        k = 1.0

        def f(self):
            return self.k

    class T(B):
        def f(self):
            return super().f() * 2

    t = T()

    def step():
        return w * t.f()

    return step, lambda: setattr(B, "f", lambda s: 5.0)


@read
def classmethod_read():
    class T:
        k = 1.0

        @classmethod
        def f(cls):
            return cls.k

    def step():
        return w * T.f()

    return step, lambda: setattr(T, "k", 5.0)


@read
def staticmethod_patch_read():
    class T:
        @staticmethod
        def f():
            return 1.0

    def step():
        return w * T.f()

    return step, lambda: setattr(T, "f", staticmethod(lambda: 2.0))


@read
def requires_grad_flag_attr_read():
    v = gw.ones(3)
    v.tag = 1.0

    def step():
        return w * v.tag

    return step, lambda: setattr(v, "tag", 2.0)


@pytest.mark.parametrize("name", READS)
@pytest.mark.filterwarnings("ignore")
def test_what_is_read_is_guarded(name):
    guard = departure(*READS[name]())
    assert guard is not None, name
