"""Steps that read by what they call. Every function gives one: (step, change)."""

from __future__ import annotations

import collections
import contextvars
import copy
import dataclasses
import functools
import operator
import os
import types
import weakref
from typing import Any, Protocol, runtime_checkable

import gradwright as gw
from gradwright import nn
from tests.compilation.watch.programs.common import training, w

REMOVE: Any = []
SCALE: Any = 2.0


def ctxvar_read():
    v = contextvars.ContextVar("v", default=2.0)
    return lambda: w * v.get(), lambda: v.set(3.0)


def weakref_read():
    class T:
        x = 2.0

    t = T()
    r = weakref.ref(t)

    def step(_keep=t):
        return w * r().x

    return step, lambda: setattr(t, "x", 3.0)


def sum_read():
    d = [1.0, 2.0]
    return lambda: w * sum(d), lambda: d.__setitem__(1, 3.0)


def sorted_read():
    d = [3.0, 1.0]
    return lambda: w * sorted(d)[0], lambda: d.append(0.5)


def getattr_name_read():
    class T:
        pass

    t = T()
    t.k = 1.0
    return lambda: w * getattr(t, "k"), lambda: setattr(t, "k", 2.0)


def getattr_default_read():
    class T:
        pass

    t = T()
    return lambda: w * getattr(t, "k", 1.0), lambda: setattr(t, "k", 2.0)


def hasattr_read():
    class T:
        pass

    t = T()
    return lambda: w * 2 if hasattr(t, "k") else w, lambda: setattr(t, "k", 2.0)


def hasattr_class_read():
    class T:
        pass

    t = T()
    return lambda: w * 2 if hasattr(t, "k") else w, lambda: setattr(T, "k", 2.0)


def partial_read():
    d = {"k": 2.0}
    f = functools.partial(lambda x, c: x * c["k"], c=d)
    return lambda: f(w), lambda: d.update(k=3.0)


def operator_itemgetter_read():
    d = {"k": 1.0}
    g = operator.itemgetter("k")
    return lambda: w * g(d), lambda: d.update(k=2.0)


def index_unknown_read():
    d = [3.0, 1.0]
    return lambda: w * d[max(0, min([0]))], lambda: d.__setitem__(0, 0.5)


def str_join_read():
    d = ["a", "b"]
    t = {"ab": 1.0}
    return lambda: w * t.get("".join(d), 2.0), lambda: d.reverse()


def weird_bound_read():
    class T:
        k = 1.0

        def f(self):
            return self.k

    t = T()
    f = t.f
    return lambda: w * f(), lambda: setattr(t, "k", 2.0)


def reduce_read():
    ts = [1.0, 2.0]
    return lambda: w * functools.reduce(lambda a, b: a + b, ts), lambda: ts.append(5.0)


def globals_call_read():
    return lambda: w * globals()["SCALE"], lambda: globals().__setitem__("SCALE", 19.0)


def vars_read():
    class C:
        pass

    c = C()
    c.k = 1.0
    return lambda: w * vars(c)["k"], lambda: setattr(c, "k", 2.0)


def zip_read():
    d = [1.0, 2.0]
    return lambda: sum(w * k for k, j in zip(d, range(2))), lambda: d.__setitem__(1, 3.0)


def call_patch_read():
    class T:
        def __call__(self):
            return 1.0

    t = T()
    return lambda: w * t(), lambda: setattr(T, "__call__", lambda s: 2.0)


def environ_get_read():
    return lambda: w * float(os.environ.get("GW_T", "2")), lambda: os.environ.__setitem__("GW_T", "7")


def hook_added_read():
    net = nn.Linear(3, 3)
    return lambda: net(w), lambda: net.register_forward_hook(lambda m, i, o: o * 2)


def hook_second_read():
    net = nn.Linear(3, 3)
    net.register_forward_hook(lambda m, i, o: o * 2)
    return lambda: net(w), lambda: net.register_forward_hook(lambda m, i, o: o * 2)


def global_hook_read():
    net = nn.Linear(3, 3)
    h = []

    def change():
        from gradwright.nn.hooks import everywhere, register_module_forward_hook

        REMOVE.append(register_module_forward_hook(lambda m, i, o: o * 2))
        REMOVE.append(everywhere)

    return lambda: net(w), change


def lr_read():
    o, step = training()
    return step, lambda: o.param_groups[0].__setitem__("lr", 0.2)


def group_added_read():
    o, step = training()
    return step, lambda: o.add_param_group({"params": [gw.ones(2, requires_grad=True)]})


def step_hook_read():
    o, step = training()
    return step, lambda: o.register_step_pre_hook(lambda *a: None)


def opt_state_cleared_read():
    o, step = training(gw.optim.Adam, lr=0.1)
    return step, lambda: o.state.clear()


def opt_load_read():
    o, step = training(gw.optim.Adam, lr=0.1)
    return step, lambda: o.load_state_dict(o.state_dict())


def copy_read():
    class C:
        pass

    c = C()
    c.k = 1.0
    return lambda: w * copy.copy(c).k, lambda: setattr(c, "k", 2.0)


def asdict_read():
    @dataclasses.dataclass
    class C:
        lr: float = 0.1

    c = C()
    return lambda: w * dataclasses.asdict(c)["lr"], lambda: setattr(c, "lr", 0.2)


def replace_read():
    @dataclasses.dataclass
    class C:
        lr: float = 0.1
        n: int = 1

    c = C()
    return lambda: w * dataclasses.replace(c, n=2).lr, lambda: setattr(c, "lr", 0.2)


def userdict_read():
    d = collections.UserDict(k=1.0)
    return lambda: w * d["k"], lambda: d.__setitem__("k", 2.0)


def chainmap_read():
    b = {"k": 1.0}
    d = collections.ChainMap({}, b)
    return lambda: w * d["k"], lambda: b.update(k=2.0)


def star_read():
    d = [1.0, 2.0]

    def f(*a):
        return a[1]

    return lambda: w * f(*d), lambda: d.__setitem__(1, 3.0)


def kwstar_read():
    d = {"a": 1.0}

    def f(a):
        return a

    return lambda: w * f(**d), lambda: d.update(a=2.0)


def truth_read():
    d = []
    return lambda: w * 2 if d else w, lambda: d.append(1)


def not_read():
    d = {}
    return lambda: w * 2 if not d else w, lambda: d.update(a=1)


def or_read():
    d = {}
    return lambda: w if d or None else w * 2, lambda: d.update(a=1)


def fstring_read():
    d = [3.0, 1.0]
    t = {"[3.0, 1.0]": 1.0}
    return lambda: w * t.get(f"{d}", 2.0), lambda: d.__setitem__(0, 0.5)


def slice_read():
    d = [3.0, 1.0]
    return lambda: w * sum(d[0:1]), lambda: d.__setitem__(0, 0.5)


def match_class_read():
    class P:
        __match_args__ = ("x",)

        def __init__(self, x):
            self.x = x

    p = P(1.0)

    def step():
        match p:
            case P(x):
                return w * x

    return step, lambda: setattr(p, "x", 2.0)


def filter_attr_read():
    class T:
        def __init__(s, on):
            s.on = on

    ts = [T(1.0), T(2.0)]
    return lambda: w * sum(t.on for t in filter(lambda t: t.on > 1, ts)), lambda: setattr(ts[1], "on", 5.0)


def any_attr_read():
    class T:
        def __init__(s, on):
            s.on = on

    ts = [T(True), T(False)]
    return lambda: w * 2 if all(t.on for t in ts) else w, lambda: setattr(ts[1], "on", True)


def attribute_by_attrgetter():
    one, get = types.SimpleNamespace(a=types.SimpleNamespace(b=2.0)), operator.attrgetter("a.b")
    return lambda: w * get(one), lambda: setattr(one.a, "b", 3.0)


def attributes_by_attrgetter():
    one, get = types.SimpleNamespace(a=2.0, b=1.0), operator.attrgetter("a", "b")

    def step():
        a, b = get(one)
        return w * a * b

    return step, lambda: setattr(one, "b", 3.0)


@runtime_checkable
class _Runs(Protocol):
    def run(self) -> None: ...


def class_is_of_a_protocol():
    class A: ...

    a = A()
    return lambda: w * 2 if isinstance(a, _Runs) else w, lambda: setattr(A, "run", print)


def object_is_of_a_protocol():
    a = nn.Linear(3, 3)
    return lambda: w * 2 if isinstance(a, _Runs) else w, lambda: setattr(a, "run", print)


def object_becomes_callable():
    class A: ...

    a = A()
    return lambda: w * 2 if callable(a) else w, lambda: setattr(A, "__call__", print)


def object_is_called_otherwise():
    class B:
        __call__ = print

    class A(B): ...

    a = A()
    return lambda: w * 2 if callable(a) else w, lambda: setattr(A, "__call__", None)
