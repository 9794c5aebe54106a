"""Steps that come to what they change by detours, and others that cannot be compiled. Every function gives one: the step."""

from __future__ import annotations

import array
import collections
import copy
import ctypes
import dataclasses
import functools
import operator
import time
import types
import weakref
from typing import Any

import numpy as np

import gradwright as gw
from gradwright import nn
from tests.compilation.watch.programs.common import w

LOG: Any = []


def own_contains():
    class D(dict):
        n = 0

        def __contains__(self, k):
            D.n += 1
            return D.n > 2

    d = D()
    return lambda: w if "a" in d else w * 2


def own_len():
    class D(list):
        n = 0

        def __len__(self):
            D.n += 1
            return D.n

    d = D()
    return lambda: w * len(d)


def own_iter():
    class D(list):
        n = 0

        def __iter__(self):
            D.n += 1
            return iter([D.n])

    d = D()
    return lambda: w * sum(d)


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


def own_bool():
    class D(list):
        n = 0

        def __bool__(self):
            D.n += 1
            return D.n > 2

    d = D()
    return lambda: w if d else w * 2


def own_missing():
    class D(dict):
        def __missing__(self, k):
            self[k] = 1
            return 1

    d = D()
    k = [0]
    return lambda: w * d[len(d)]


def too_long():
    d = [1.0] * 30000
    return lambda: w * sum(d)


def too_long_default():
    d = tuple([[1.0]] * 30000)

    def f(x, d=d):
        return x

    return lambda: f(w)


def loader_():
    from gradwright.utils.data import DataLoader

    l = DataLoader([gw.ones(3) for _ in range(20)], batch_size=1, shuffle=True)

    def step():
        for x in l:
            return w * x

    return step


def dataset_():
    from gradwright.utils.data import TensorDataset

    l = TensorDataset(gw.ones(3, 3))
    return lambda: w * l[0][0]


def data_rng():
    from gradwright.utils.data import random_split
    return lambda: w * len(random_split(range(4), [2, 2])[0])


def np_random_state_attr():
    r = np.random
    return lambda: w * float(r.uniform())


def hidden_time():
    fs = {"t": time.time}
    return lambda: w * fs["t"]()


def hidden_in_tuple():
    fs = (print,)

    def step():
        (f,) = fs
        f(end="")
        return w

    return step


def returned_print():
    def get():
        return print

    def step():
        get()(end="")
        return w

    return step


def sorted_print():
    def step():
        sorted([print], key=id)[0](end="")
        return w

    return step


def partial_print():
    def step():
        functools.partial(print, end="")()
        return w

    return step


def lambda_print():
    def step():
        (lambda: print(end=""))()
        return w

    return step


def attr_print():
    class A:
        p = print

    def step():
        A.p(end="")
        return w

    return step


def staticmethod_print():
    class A:
        p = staticmethod(print)

    def step():
        A().p(end="")
        return w

    return step


def hook_print():
    v = gw.ones(3, requires_grad=True)
    v.register_hook(lambda g: print(end=""))

    def step():
        (v * 2).sum().backward()
        v.grad = None
        return w

    return step


def hook_is_append():
    log = []
    v = gw.ones(3, requires_grad=True)
    v.register_hook(log.append)

    def step():
        (v * 2).sum().backward()
        v.grad = None
        return w

    return step


def vmap_append():
    log = []
    f = gw.func.vmap(lambda x: (log.append(1), x)[1])
    return lambda: f(w)


def fwd_hook_append():
    log = []
    net = nn.Linear(3, 3)

    class H:
        def __call__(self, m, i, o):
            self.last = o

    net.register_forward_hook(H())
    return lambda: net(w)


def cond_effect_second_path():
    d = []

    def f(k):
        if k:
            d.append(k)
        return k

    return lambda: w * f(1)


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


def annotations_():
    def step():
        step.__annotations__["x"] = int
        return w

    return step


def doc_():
    def step():
        step.__doc__ = "x"
        return w

    return step


def counter_attr():
    c = collections.Counter()

    def step():
        c["a"] += 1
        return w * c["a"]

    return step


def simplens():
    c = types.SimpleNamespace(n=0)

    def step():
        c.n += 1
        return w * c.n

    return step


def ndarray_attr():
    class A:
        pass

    a = A()
    a.x = np.zeros(3)

    def step():
        a.x[0] += 1
        return w

    return step


def ndarray_arg():
    def step(x):
        x += 1
        return w

    return step, (np.zeros(3),)


def list_arg_nested():
    def step(x):
        x["a"][0].append(1)
        return w

    return step, ({"a": [[]]},)


def obj_arg():
    class A:
        pass

    def step(x):
        x.k = 1
        return w

    return step, (A(),)


def kw_default_mut_local():
    def outer(acc={}):
        def inner():
            acc["n"] = 1

        inner()
        return w

    return outer


def class_cell():
    class A:
        n = 0

        def f(self):
            __class__.n += 1
            return self.n

    a = A()
    return lambda: w * a.f()


def type_call_meta():
    def step():
        T = type("T", (), {"n": LOG})
        T.n.append(1)
        return w

    return step


def made_holds_outer():
    class H:
        pass

    def step():
        h = H()
        h.l = LOG
        h.l.append(1)
        return w

    return step


def dict_holds_outer():
    def step():
        d = {"l": LOG}
        d["l"].append(1)
        return w

    return step


def list_holds_outer():
    def step():
        d = [LOG]
        d[0].append(1)
        return w

    return step


def tuple_holds_outer():
    def step():
        d = (LOG, 1)
        l, _ = d
        l.append(1)
        return w

    return step


def copy_holds_outer():
    o = [[1]]

    def step():
        c = copy.copy(o)
        c[0].append(1)
        return w

    return step


def list_ctor_holds_outer():
    o = [[1]]

    def step():
        c = list(o)
        c[0].append(1)
        return w

    return step


def slice_holds_outer():
    o = [[1]]

    def step():
        c = o[:]
        c[0].append(1)
        return w

    return step


def slice_direct():
    o = [[1]]

    def step():
        o[:][0].append(1)
        return w

    return step


def values_hold_outer():
    o = {"a": [1]}

    def step():
        for v in o.values():
            v.append(1)
        return w

    return step


def next_iter_values():
    o = {"a": [1]}

    def step():
        next(iter(o.values())).append(1)
        return w

    return step


def max_direct():
    o = [[1], [2]]

    def step():
        max(o).append(1)
        return w

    return step


def or_direct():
    o = [1]

    def step():
        (None or o).append(1)
        return w

    return step


def ternary_direct():
    o = [1]

    def step():
        (o if w.ndim else []).append(1)
        return w

    return step


def walrus_direct():
    o = [1]

    def step():
        (z := o).append(1)
        return w

    return step


def getattr_direct():
    class A:
        pass

    a = A()
    a.o = [1]

    def step():
        getattr(a, "o").append(1)
        return w

    return step


def get_direct():
    o = {"a": [1]}

    def step():
        o.get("a").append(1)
        return w

    return step


def pop_direct():
    o = {"a": [1]}

    def step():
        dict(o).pop("a").append(1)
        return w

    return step


def reduce_direct():
    o = [[1], [2]]

    def step():
        functools.reduce(lambda a, b: a, o).append(1)
        return w

    return step


def map_identity():
    o = [[1], [2]]

    def step():
        for l in map(lambda x: x, o):
            l.append(1)
        return w

    return step


def genexpr_identity():
    o = [[1], [2]]

    def step():
        next(l for l in o).append(1)
        return w

    return step


def itemgetter_direct():
    o = [[1], [2]]

    def step():
        operator.itemgetter(0)(o).append(1)
        return w

    return step


def vars_direct():
    class A:
        pass

    a = A()
    a.o = [1]

    def step():
        vars(a)["o"].append(1)
        return w

    return step


def setdefault_direct():
    o = {"a": [1]}

    def step():
        o.setdefault("a", []).append(1)
        return w

    return step


def copy_method_direct():
    o = {"a": [1]}

    def step():
        o.copy()["a"].append(1)
        return w

    return step


def bytes_that_change():
    held = bytearray(b"\1\2")
    return lambda: w * held[1]


def bytes_as_an_argument():
    return (lambda held: w * held[1]), (bytearray(b"\1\2"),)


def an_array_of_pythons():
    one = types.SimpleNamespace(a=array.array("d", [1.0]))
    return lambda: w * sum(one.a)


def an_element_of_cs():
    held = (ctypes.c_double * 2)(1.0, 2.0)
    return lambda: w * held[1]


def a_tensor_that_is_held_weakly():
    v = gw.ones(3)
    weak = weakref.ref(v)
    step = lambda: w * weak()  # noqa: E731
    step.kept = v  # type: ignore[attr-defined]
    return step


def an_attribute_of_an_argument():
    x = gw.ones(3)
    x.scale = 2.0
    return (lambda x: w * x.scale), (x,)


def an_attribute_that_an_argument_lacks():
    return (lambda x: w * getattr(x, "scale", 1.0)), (gw.ones(3),)


def an_attribute_by_a_name_that_is_not_seen():
    one = types.SimpleNamespace(a=1.0)
    return lambda: w * getattr(one, "".join(sorted("a")))


def grad_mode_that_stays():
    def step():
        gw.set_grad_enabled(False)
        return w * 2

    return step


def an_argument_returned():
    return (lambda held: held), ({"x": w},)


def a_list_from_outside_returned():
    held = [gw.ones(3)]
    return lambda: (held, w * 2)


def a_dataclass_from_outside_returned():
    @dataclasses.dataclass
    class Held:
        x: Any

    held = Held(gw.ones(3))
    return lambda: (held, w * 2)


def one_list_twice():
    def step():
        made = [w * 2]
        return made, made

    return step
