"""Steps that change something that was there before: containers, attributes, variables. Every function gives one: the step."""

from __future__ import annotations

import collections
import contextlib
import functools
import itertools
from typing import Any

import numpy as np

import gradwright as gw
from gradwright import nn
from tests.compilation.watch.programs.common import MOD, w

COUNT: Any = 0
LOG: Any = []
CFG: Any = {"k": 2.0}
ARR: Any = np.ones(3, np.float32)


def default_list():
    def step(cache=[]):
        cache.append(1)
        return w * len(cache)

    return step


def kwdefault_dict():
    def step(*, cache={}):
        cache["n"] = cache.get("n", 0) + 1
        return w * cache["n"]

    return step


def log_append():
    def step():
        y = w * 2
        LOG.append(y.sum())
        return y

    return step


def dict_set():
    def step():
        CFG["last"] = 1
        return w

    return step


def dict_update():
    d = {}

    def step():
        d.update(a=1)
        return w

    return step


def list_iadd():
    d = []

    def step():
        l = d
        l += [1]
        return w

    return step


def set_add():
    d = set()

    def step():
        d.add(1)
        return w

    return step


def deque_append():
    d = collections.deque(maxlen=3)

    def step():
        d.append(1.0)
        return w * sum(d)

    return step


def del_item():
    d = {i: 1 for i in range(50)}

    def step():
        del d[next(iter(d))]
        return w

    return step


def del_attr():
    class T:
        pass

    t = T()

    def step():
        t.x = 1
        del t.x
        return w

    return step


def walrus_global():
    d = [0]

    def step():
        d[0] = (n := d[0] + 1)
        return w * n

    return step


def comp_effect():
    d = []

    def step():
        [d.append(k) for k in range(3)]
        return w * len(d)

    return step


def setattr_name():
    class T:
        pass

    t = T()

    def step():
        setattr(t, "a" + "b", 1)
        return w

    return step


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


def fn_attr():
    def step():
        step.n = getattr(step, "n", 0) + 1
        return w * step.n

    return step


def arr_write():
    def step():
        ARR[0] += 1
        return w * gw.from_numpy(ARR.copy())

    return step


def arr_view_write():
    a = np.ones(3, np.float32)

    def step():
        v = a[1:]
        v[0] = 5
        v += 1
        return w

    return step


def arr_asarray_write():
    a = np.ones(3, np.float32)

    def step():
        np.asarray(a)[0] += 1
        return w

    return step


def method_alias():
    d = []
    add = d.append

    def step():
        add(1)
        return w * len(d)

    return step


def dunder_setitem():
    d = {}

    def step():
        d.__setitem__("a", 1)
        dict.__setitem__(d, "b", 2)
        return w

    return step


def object_setattr():
    class T:
        pass

    t = T()

    def step():
        object.__setattr__(t, "a", 1)
        return w

    return step


def vars_set():
    class T:
        pass

    t = T()
    t.a = 0

    def step():
        vars(t)["a"] += 1
        return w * t.a

    return step


def dunder_dict_update():
    class T:
        pass

    t = T()
    t.a = 0

    def step():
        t.__dict__.update(a=t.a + 1)
        return w * t.a

    return step


def globals_set():
    def step():
        globals()["COUNT"] += 1
        return w * COUNT

    return step


def arg_mutation():
    d = [1]

    def step(x=None):
        return None

    def outer(l):
        l.append(1)
        return w

    return outer, ([],)


def tensor_attr():
    def step():
        w.tag = 1
        return w * 1

    return step


def module_attr():
    net = nn.Linear(3, 1)

    def step():
        net.last = 1
        return net(w)

    return step


def module_in_forward():
    class N(nn.Module):
        def __init__(self):
            super().__init__()
            self.n = 0

        def forward(self, x):
            self.n += 1
            return x * self.n

    net = N()
    return lambda: net(w)


def save_last():
    class N(nn.Module):
        def forward(self, x):
            self.last = x * 2
            return self.last

    net = N()
    return lambda: net(w)


def reverse_list():
    d = [1, 2]

    def step():
        d.reverse()
        return w * d[0]

    return step


def slice_assign():
    d = [1, 2]

    def step():
        d[:] = [d[1], d[0]]
        return w * d[0]

    return step


def self_counter():
    class T:
        n = 0

        def step(self):
            self.n += 1
            return w * self.n

    return T().step


def class_counter():
    class T:
        n = 0

        def step(self):
            type(self).n += 1
            return w * T.n

    return T().step


def group_lr_decay():
    o = gw.optim.SGD([w], lr=0.1)

    def step():
        for g in o.param_groups:
            g["lr"] *= 0.9
        return w

    return step


def defaultdict_miss():
    d = collections.defaultdict(int)
    k = [0]
    return lambda: w * d[len(d)]


def id_swap():
    # rebinding through C iteration
    d = [[1.0], [2.0]]

    def step():
        for l in d:
            l[0] *= 2
        return w * d[0][0]

    return step


def dict_subclass():
    class D(dict):
        def __getitem__(self, k):
            self.n = getattr(self, "n", 0) + 1
            return self.n

    d = D(a=1)
    return lambda: w * d["a"]


def hook_partial_list():
    log = []
    v = gw.ones(3, requires_grad=True)
    v.register_hook(functools.partial(lambda l, g: l.append(1), log))

    def step():
        (v * 2).sum().backward()
        v.grad = None
        return w

    return step


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


def hook_counter():
    n = [0]
    net = nn.Linear(3, 1)
    net.register_forward_hook(lambda m, i, o: n.append(1))
    return lambda: net(w).sum()


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

    return lambda: Fn.apply(w)


def prop_counter():
    class T:
        _n = 0

        @property
        def n(self):
            self._n += 1
            return self._n

    t = T()
    return lambda: w * t.n


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
    return lambda: w * t.d


def iter_for():
    c = iter([1.0] * 100)

    def step():
        for k in c:
            return w * k

    return step


def zip_outside():
    c = itertools.count(1)
    return lambda: sum(w * k for k, _ in zip(c, range(2)))


def cycle_enumerate():
    c = itertools.cycle([1.0, 2.0, 3.0])

    def step():
        for i, k in enumerate(c):
            return w * k

    return step


def unpack_star_gen():
    g = (k for k in [1.0, 2.0, 3.0, 4.0, 5.0])

    def step():
        a, *_ = g if True else []
        return w * a

    return step


def exc_handler_effect():
    n = []

    def step():
        try:
            raise ValueError
        except ValueError:
            n.append(1)
        finally:
            n.append(2)
        return w

    return step


def contextmanager_effect():
    n = []

    @contextlib.contextmanager
    def cm():
        n.append(1)
        yield

    def step():
        with cm():
            return w * 1

    return step


def decorator_effect():
    n = {}

    def deco(f):
        @functools.wraps(f)
        def g(*a):
            n["c"] = n.get("c", 0) + 1
            return f(*a)

        return g

    @deco
    def step():
        return w

    return step


def class_body_effect():
    n = []

    def step():
        class A:
            n.append(1)

        return w

    return step


def meta_effect():
    class M(type):
        made = []

        def __call__(cls, *a):
            M.made.append(1)
            return super().__call__(*a)

    class A(metaclass=M):
        pass

    def step():
        A()
        return w

    return step


def del_effect():
    n = []

    class A:
        def __del__(self):
            n.append(1)

    def step():
        A()
        return w

    return step


def format_effect():
    n = []

    class A:
        def __format__(self, s):
            n.append(1)
            return ""

    a = A()

    def step():
        f"{a:x}"
        return w

    return step


def bool_effect():
    n = []

    class A:
        def __bool__(self):
            n.append(1)
            return True

    a = A()

    def step():
        if a:
            return w * 1

    return step


def hash_effect():
    n = []

    class A:
        def __hash__(self):
            n.append(1)
            return 1

    a = A()
    return lambda: {a: 1} and w


def generator_step():
    def step():
        yield w

    return step


def global_counter():
    def step():
        global COUNT
        COUNT += 1
        return w * COUNT

    return step


def nonlocal_counter():
    n = 0

    def step():
        nonlocal n
        n += 1
        return w * n

    return step


def other_module():
    return lambda: w * MOD.bump()


def factory_confusion():
    def make(k):
        def h():
            k[0] += 1
            return k[0]

        return h

    a = [0.0]
    old = make(a)

    def step():
        new = make([1.0])
        new()
        return w * old()

    return step


def factory_confusion_c():
    def make(k):
        def h(x):
            k[0] += 1
            return k[0]

        return h

    a = [0.0]
    old = make(a)

    def step():
        new = make([1.0])
        new(1)
        return w * sum(map(old, [1, 2]))

    return step
