"""Steps that read attributes, globals and variables of closures. Every function gives one: (step, change)."""

from __future__ import annotations

import dataclasses
import enum
import types
from typing import Any

import gradwright as gw
import gradwright.nn.functional as F
from gradwright import nn
from tests.compilation.watch.programs.common import MOD, w

SCALE: Any = 2.0


def attr_read():
    class T:
        pass

    t = T()
    t.k = 1.0
    return lambda: w * t.k, lambda: setattr(t, "k", 2.0)


def class_attr_read():
    class T:
        k = 1.0

    t = T()
    return lambda: w * t.k, lambda: setattr(T, "k", 2.0)


def class_attr_shadow_read():
    class T:
        k = 1.0

    t = T()
    return lambda: w * t.k, lambda: setattr(t, "k", 2.0)


def base_class_attr_read():
    class B:
        k = 1.0

    class T(B):
        pass

    return lambda: w * T.k, lambda: setattr(T, "k", 2.0)


def method_patch_read():
    class T:
        def f(self):
            return 1.0

    t = T()
    return lambda: w * t.f(), lambda: setattr(T, "f", lambda s: 2.0)


def method_instance_patch_read():
    class T:
        def f(self):
            return 1.0

    t = T()
    return lambda: w * t.f(), lambda: setattr(t, "f", lambda: 2.0)


def slots_read():
    class T:
        __slots__ = ("k",)

    t = T()
    t.k = 1.0
    return lambda: w * t.k, lambda: setattr(t, "k", 2.0)


def property_read():
    class T:
        _k = 1.0

        @property
        def k(self):
            return self._k

    t = T()
    return lambda: w * t.k, lambda: setattr(t, "_k", 2.0)


def dunder_getattr_read():
    class T:
        def __init__(self):
            self.d = {"k": 1.0}

        def __getattr__(self, n):
            return self.d[n]

    t = T()
    return lambda: w * t.k, lambda: t.d.update(k=2.0)


def module_attr_read():
    return lambda: w * MOD.scale, lambda: setattr(MOD, "scale", 5.0)


def training_read():
    net = nn.Dropout(0.5)
    return lambda: net(w), lambda: net.eval()


def training_deep_read():
    net = nn.Sequential(nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5)))
    return lambda: net(w), lambda: net[0][1].eval()


def param_replace_read():
    net = nn.Linear(3, 3)
    return lambda: net(w), lambda: setattr(net, "weight", nn.Parameter(gw.ones(3, 3)))


def layer_replace_read():
    net = nn.Sequential(nn.Linear(3, 3))
    return lambda: net(w), lambda: net.__setitem__(0, nn.Linear(3, 3))


def layer_append_read():
    net = nn.Sequential(nn.Linear(3, 3))
    return lambda: net(w), lambda: net.append(nn.Linear(3, 3))


def bn_momentum_read():
    net = nn.BatchNorm1d(3)
    x = gw.randn(4, 3)
    return lambda: net(x), lambda: setattr(net, "momentum", 0.5)


def dropout_p_read():
    net = nn.Dropout(0.5)
    return lambda: net(w), lambda: setattr(net, "p", 0.1)


def forward_patch_read():
    net = nn.Linear(3, 3)
    return lambda: net(w), lambda: setattr(net, "forward", lambda x: x)


def enum_cfg_read():
    class M(enum.Enum):
        A = 1
        B = 2

    c = {"m": M.A}
    return lambda: w if c["m"] is M.A else w * 2, lambda: c.update(m=M.B)


def dataclass_cfg_read():
    @dataclasses.dataclass
    class C:
        lr: float = 0.1

    c = C()
    return lambda: w * c.lr, lambda: setattr(c, "lr", 0.2)


def simplenamespace_read():
    c = types.SimpleNamespace(lr=0.1)
    return lambda: w * c.lr, lambda: setattr(c, "lr", 0.2)


def grad_none_read():
    class T:
        def __init__(self):
            self.c = None

    t = T()
    return lambda: w if t.c is None else w * t.c, lambda: setattr(t, "c", 2.0)


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


def dunder_dict_items_read():
    class C:
        pass

    c = C()
    c.k = 1.0
    return lambda: w * sum(v for k, v in c.__dict__.items()), lambda: setattr(c, "z", 2.0)


def type_attr_read():
    class T:
        k = 1.0

    t = T()
    return lambda: w * type(t).k, lambda: setattr(T, "k", 2.0)


def super_attr_read():
    class B:
        k = 1.0

        def f(self):
            return self.k

    class T(B):
        def f(self):
            return super().f() * 2

    t = T()
    return lambda: w * t.f(), lambda: setattr(B, "f", lambda s: 5.0)


def classmethod_read():
    class T:
        k = 1.0

        @classmethod
        def f(cls):
            return cls.k

    return lambda: w * T.f(), lambda: setattr(T, "k", 5.0)


def staticmethod_patch_read():
    class T:
        @staticmethod
        def f():
            return 1.0

    return lambda: w * T.f(), lambda: setattr(T, "f", staticmethod(lambda: 2.0))


def requires_grad_flag_attr_read():
    v = gw.ones(3)
    v.tag = 1.0
    return lambda: w * v.tag, lambda: setattr(v, "tag", 2.0)


def closure_read():
    k = 2.0

    def change():
        nonlocal k
        k = 3.0

    return lambda: w * k, change


def closure_type_read():
    k = 1

    def change():
        nonlocal k
        k = True

    return lambda: w * k, change


def zero_read():
    k = 0.0

    def change():
        nonlocal k
        k = -0.0

    return lambda: w * k, change


def global_read():
    return lambda: w * SCALE, lambda: globals().__setitem__("SCALE", 9.0)


def default_arg_read():
    def f(x, k=2.0):
        return x * k

    return lambda: f(w), lambda: setattr(f, "__defaults__", (3.0,))


def kwdefault_arg_read():
    def f(x, *, k=2.0):
        return x * k

    return lambda: f(w), lambda: f.__kwdefaults__.update(k=3.0)


def default_list_read():
    def f(x, k=[2.0]):
        return x * k[0]

    return lambda: f(w), lambda: f.__defaults__[0].__setitem__(0, 3.0)


def helper_closure_read():
    k = 2.0

    def f(x):
        return x * k

    def change():
        nonlocal k
        k = 3.0

    return lambda: f(w), change


def helper_closure_nested_read():
    k = 2.0

    def step():
        def f(x):
            return x * k

        return f(w)

    def change():
        nonlocal k
        k = 3.0

    return step, change


def lambda_in_map_read():
    k = 2.0

    def change():
        nonlocal k
        k = 3.0

    return lambda: sum(map(lambda v: w * v * k, [1, 2])), change


def c_called_closure_read():
    def make(k):
        def f(v):
            return v * k[0]

        return f

    a = [1.0]
    b = [2.0]
    fa, fb = make(a), make(b)
    return lambda: w * sum(map(fa, [1])) + w * sum(map(fb, [1])), lambda: b.__setitem__(0, 5.0)


def module_global_read():
    return lambda: w * MOD.get(), lambda: setattr(MOD, "state", 5)


def builtin_shadow_read(monkeypatch):
    return lambda: w * len([1]), lambda: monkeypatch.setitem(globals(), "len", lambda x: 5)


def function_swap_read():
    f = F.relu

    def change():
        nonlocal f
        f = F.tanh

    return lambda: f(w), change


def index_computed_read():
    d = [3.0, 1.0]
    i = 0

    def step():
        for j in range(1, 2):
            pass
        return w * d[j - 1 + i]

    return step, lambda: d.__setitem__(0, 0.5)


def add_patch_read():
    class T:
        def __add__(self, o):
            return 1.0

    t = T()
    return lambda: w * (t + 1), lambda: setattr(T, "__add__", lambda s, o: 2.0)


def eq_read():
    d = [3.0, 1.0]
    return lambda: w if d == [3.0, 1.0] else w * 2, lambda: d.__setitem__(0, 0.5)


def hook_closure_read():
    s = 2.0
    v = gw.ones(3, requires_grad=True)
    v.register_hook(lambda g: g * s)

    def step():
        (v * 2).sum().backward()
        g = v.grad
        v.grad = None
        return g

    def change():
        nonlocal s
        s = 3.0

    return step, change


def fn_backward_read():
    k = [1.0]

    class Fn(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g * k[0]

    v = gw.ones(3, requires_grad=True)

    def step():
        Fn.apply(v).sum().backward()
        g = v.grad
        v.grad = None
        return g

    return step, lambda: k.__setitem__(0, 2.0)


def from_import_read():
    def step():
        from mod_for_test import scale

        return w * scale

    return step, lambda: setattr(MOD, "scale", 56.0)


def cond_import_read():
    def step():
        import mod_for_test

        return w * mod_for_test.scale

    return step, lambda: setattr(MOD, "scale", 55.0)
