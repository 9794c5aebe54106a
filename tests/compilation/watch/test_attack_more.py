"""Steps that come to what they change by detours."""

from __future__ import annotations

import collections
import copy
import functools
import operator
import time
import types
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright import nn
from tests.compilation.watch.seen import refusals

w = gw.ones(3, requires_grad=True)
LOG: Any = []


EFFECTS: dict[str, Any] = {}


def effect(make):
    EFFECTS[make.__name__] = make
    return make


@effect
def own_contains():
    class D(dict):
        n = 0

        def __contains__(self, k):
            D.n += 1
            return D.n > 2

    d = D()

    def step():
        return w if "a" in d else w * 2

    return step


@effect
def own_len():
    class D(list):
        n = 0

        def __len__(self):
            D.n += 1
            return D.n

    d = D()

    def step():
        return w * len(d)

    return step


@effect
def own_iter():
    class D(list):
        n = 0

        def __iter__(self):
            D.n += 1
            return iter([D.n])

    d = D()

    def step():
        return w * sum(d)

    return step


@effect
def own_iter_for():
    class D(list):
        n = 0

        def __iter__(self):
            D.n += 1
            return iter([D.n])

    d = D()

    def step():
        for k in d:
            return w * k

    return step


@effect
def own_bool():
    class D(list):
        n = 0

        def __bool__(self):
            D.n += 1
            return D.n > 2

    d = D()

    def step():
        return w if d else w * 2

    return step


@effect
def own_missing():
    class D(dict):
        def __missing__(self, k):
            self[k] = 1
            return 1

    d = D()
    k = [0]

    def step():
        return w * d[len(d)]

    return step


@effect
def too_long():
    d = [1.0] * 30000

    def step():
        return w * sum(d)

    return step


@effect
def too_long_default():
    d = tuple([[1.0]] * 30000)

    def f(x, d=d):
        return x

    def step():
        return f(w)

    return step


@effect
def loader_():
    from gradwright.utils.data import DataLoader

    l = DataLoader([gw.ones(3) for _ in range(20)], batch_size=1, shuffle=True)

    def step():
        for x in l:
            return w * x

    return step


@effect
def dataset_():
    from gradwright.utils.data import TensorDataset

    l = TensorDataset(gw.ones(3, 3))

    def step():
        return w * l[0][0]

    return step


@effect
def data_rng():
    from gradwright.utils.data import random_split

    def step():
        return w * len(random_split(range(4), [2, 2])[0])

    return step


@effect
def np_random_state_attr():
    r = np.random

    def step():
        return w * float(r.uniform())

    return step


@effect
def hidden_time():
    fs = {"t": time.time}

    def step():
        return w * fs["t"]()

    return step


@effect
def hidden_in_tuple():
    fs = (print,)

    def step():
        (f,) = fs
        f(end="")
        return w

    return step


@effect
def returned_print():
    def get():
        return print

    def step():
        get()(end="")
        return w

    return step


@effect
def sorted_print():
    def step():
        sorted([print], key=id)[0](end="")
        return w

    return step


@effect
def partial_print():
    def step():
        functools.partial(print, end="")()
        return w

    return step


@effect
def lambda_print():
    def step():
        (lambda: print(end=""))()
        return w

    return step


@effect
def attr_print():
    class A:
        p = print

    def step():
        A.p(end="")
        return w

    return step


@effect
def staticmethod_print():
    class A:
        p = staticmethod(print)

    def step():
        A().p(end="")
        return w

    return step


@effect
def hook_print():
    v = gw.ones(3, requires_grad=True)
    v.register_hook(lambda g: print(end=""))

    def step():
        (v * 2).sum().backward()
        v.grad = None
        return w

    return step


@effect
def hook_is_append():
    log = []
    v = gw.ones(3, requires_grad=True)
    v.register_hook(log.append)

    def step():
        (v * 2).sum().backward()
        v.grad = None
        return w

    return step


@effect
def vmap_append():
    log = []
    f = gw.func.vmap(lambda x: (log.append(1), x)[1])

    def step():
        return f(w)

    return step


@effect
def fwd_hook_append():
    log = []
    net = nn.Linear(3, 3)

    class H:
        def __call__(self, m, i, o):
            self.last = o

    net.register_forward_hook(H())

    def step():
        return net(w)

    return step


@effect
def cond_effect_second_path():
    d = []

    def f(k):
        if k:
            d.append(k)
        return k

    def step():
        return w * f(1)

    return step


@effect
def exception_effect():
    d = []

    class E(Exception):
        def __init__(self, *a):
            d.append(a)

    def step():
        try:
            raise E(1)
        except E:
            return w * 1

    return step


@effect
def exit_effect():
    d = []

    class C:
        def __enter__(self):
            return 1

        def __exit__(self, *a):
            d.append(1)

    c = C()

    def step():
        with c as k:
            return w * k

    return step


@effect
def exit_effect_exc():
    d = []

    class C:
        def __enter__(self):
            return 1

        def __exit__(self, *a):
            d.append(1)
            return True

    c = C()

    def step():
        with c as k:
            raise ValueError
        return w

    return step


@effect
def nested_gen_close():
    d = []

    def g():
        try:
            yield 1
        finally:
            d.append(1)

    def step():
        for k in g():
            break
        return w * k

    return step


@effect
def annotations_():
    def step():
        step.__annotations__["x"] = int
        return w

    return step


@effect
def doc_():
    def step():
        step.__doc__ = "x"
        return w

    return step


@effect
def counter_attr():
    c = collections.Counter()

    def step():
        c["a"] += 1
        return w * c["a"]

    return step


@effect
def simplens():
    c = types.SimpleNamespace(n=0)

    def step():
        c.n += 1
        return w * c.n

    return step


@effect
def ndarray_attr():
    class A:
        pass

    a = A()
    a.x = np.zeros(3)

    def step():
        a.x[0] += 1
        return w

    return step


@effect
def ndarray_arg():
    def step(x):
        x += 1
        return w

    return step, (np.zeros(3),)


@effect
def list_arg_nested():
    def step(x):
        x["a"][0].append(1)
        return w

    return step, ({"a": [[]]},)


@effect
def obj_arg():
    class A:
        pass

    def step(x):
        x.k = 1
        return w

    return step, (A(),)


@effect
def kw_default_mut_local():
    def outer(acc={}):
        def inner():
            acc["n"] = 1

        inner()
        return w

    return outer


@effect
def class_cell():
    class A:
        n = 0

        def f(self):
            __class__.n += 1
            return self.n

    a = A()

    def step():
        return w * a.f()

    return step


@effect
def type_call_meta():
    def step():
        T = type("T", (), {"n": LOG})
        T.n.append(1)
        return w

    return step


@effect
def made_holds_outer():
    class H:
        pass

    def step():
        h = H()
        h.l = LOG
        h.l.append(1)
        return w

    return step


@effect
def dict_holds_outer():
    def step():
        d = {"l": LOG}
        d["l"].append(1)
        return w

    return step


@effect
def list_holds_outer():
    def step():
        d = [LOG]
        d[0].append(1)
        return w

    return step


@effect
def tuple_holds_outer():
    def step():
        d = (LOG, 1)
        l, _ = d
        l.append(1)
        return w

    return step


@effect
def copy_holds_outer():
    o = [[1]]

    def step():
        c = copy.copy(o)
        c[0].append(1)
        return w

    return step


@effect
def list_ctor_holds_outer():
    o = [[1]]

    def step():
        c = list(o)
        c[0].append(1)
        return w

    return step


@effect
def slice_holds_outer():
    o = [[1]]

    def step():
        c = o[:]
        c[0].append(1)
        return w

    return step


@effect
def slice_direct():
    o = [[1]]

    def step():
        o[:][0].append(1)
        return w

    return step


@effect
def values_hold_outer():
    o = {"a": [1]}

    def step():
        for v in o.values():
            v.append(1)
        return w

    return step


@effect
def next_iter_values():
    o = {"a": [1]}

    def step():
        next(iter(o.values())).append(1)
        return w

    return step


@effect
def max_direct():
    o = [[1], [2]]

    def step():
        max(o).append(1)
        return w

    return step


@effect
def or_direct():
    o = [1]

    def step():
        (None or o).append(1)
        return w

    return step


@effect
def ternary_direct():
    o = [1]

    def step():
        (o if w.ndim else []).append(1)
        return w

    return step


@effect
def walrus_direct():
    o = [1]

    def step():
        (z := o).append(1)
        return w

    return step


@effect
def getattr_direct():
    class A:
        pass

    a = A()
    a.o = [1]

    def step():
        getattr(a, "o").append(1)
        return w

    return step


@effect
def get_direct():
    o = {"a": [1]}

    def step():
        o.get("a").append(1)
        return w

    return step


@effect
def pop_direct():
    o = {"a": [1]}

    def step():
        dict(o).pop("a").append(1)
        return w

    return step


@effect
def reduce_direct():
    o = [[1], [2]]

    def step():
        functools.reduce(lambda a, b: a, o).append(1)
        return w

    return step


@effect
def map_identity():
    o = [[1], [2]]

    def step():
        for l in map(lambda x: x, o):
            l.append(1)
        return w

    return step


@effect
def genexpr_identity():
    o = [[1], [2]]

    def step():
        next(l for l in o).append(1)
        return w

    return step


@effect
def itemgetter_direct():
    o = [[1], [2]]

    def step():
        operator.itemgetter(0)(o).append(1)
        return w

    return step


@effect
def vars_direct():
    class A:
        pass

    a = A()
    a.o = [1]

    def step():
        vars(a)["o"].append(1)
        return w

    return step


@effect
def setdefault_direct():
    o = {"a": [1]}

    def step():
        o.setdefault("a", []).append(1)
        return w

    return step


@effect
def copy_method_direct():
    o = {"a": [1]}

    def step():
        o.copy()["a"].append(1)
        return w

    return step


@pytest.mark.parametrize("name", EFFECTS)
@pytest.mark.filterwarnings("ignore")
def test_an_effect_is_refused_with_its_line(name):
    found = refusals(EFFECTS[name]())
    assert found, name
    assert all(r.place is not None for r in found) or name == "generator_step"
