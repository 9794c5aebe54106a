"""Steps whose guards or refusals come from `gradwright.compilation.watch.calls`."""

from __future__ import annotations

import contextvars
import functools
import itertools
import operator
import os
import threading
import weakref
from typing import Any

import pytest

import gradwright as gw
from tests.compilation.watch.seen import departure, refusals

w = gw.ones(3, requires_grad=True)
COUNT: Any = 0
SCALE: Any = 2.0


def setg(name, value):
    def change():
        globals()[name] = value

    return change


EFFECTS: dict[str, Any] = {}


def effect(make):
    EFFECTS[make.__name__] = make
    return make


READS: dict[str, Any] = {}


def read(make):
    READS[make.__name__] = make
    return make


@effect
def printing():
    def step():
        print("", end="")
        return w

    return step


@effect
def hidden_print():
    fs = [print]

    def step():
        fs[0]("", end="")
        return w

    return step


@effect
def map_print():
    def step():
        list(map(print, []))
        return w

    return step


@effect
def map_getattr():
    class T:
        k = 1.0

    ts = [T()]

    def step():
        return w * sum(map(getattr, ts, ["k"]))

    return step


@effect
def sorted_key_effect():
    n = []

    def step():
        sorted([1], key=n.append)
        return w

    return step


@effect
def attrgetter_():
    class T:
        x = 2.0

    t = T()

    def step():
        return w * operator.attrgetter("x")(t)

    return step


@effect
def lru():
    @functools.lru_cache
    def f(k):
        return k * 2.0

    def step():
        return w * f(3.0)

    return step


@read
def ctxvar_read():
    v = contextvars.ContextVar("v", default=2.0)

    def step():
        return w * v.get()

    return step, lambda: v.set(3.0)


@read
def weakref_read():
    class T:
        x = 2.0

    t = T()
    r = weakref.ref(t)

    def step(_keep=t):
        return w * r().x

    return step, lambda: setattr(t, "x", 3.0)


@effect
def lock_():
    l = threading.Lock()

    def step():
        with l:
            return w * 1

    return step


@effect
def threading_local():
    l = threading.local()
    l.x = 2.0

    def step():
        return w * l.x

    return step


@effect
def exec_():
    ns = {}

    def step():
        exec("k=1", ns)
        return w * ns["k"]

    return step


@effect
def eval_():
    def step():
        return w * eval("COUNT+1")

    return step


@effect
def file_write():
    def step():
        with open(os.devnull, "w") as f:
            f.write("a")
        return w

    return step


@effect
def async_():
    async def f():
        return 1

    def step():
        c = f()
        c.close()
        return w

    return step


@effect
def itercount():
    c = itertools.count()

    def step():
        return w * next(c)

    return step


@effect
def iter_outside():
    c = iter([1.0, 2.0, 3.0, 4.0, 5.0])

    def step():
        return w * next(c)

    return step


@effect
def gen_outside():
    def g():
        k = 0.0
        while True:
            k += 1
            yield k

    c = g()

    def step():
        return w * next(c)

    return step


@read
def sum_read():
    d = [1.0, 2.0]

    def step():
        return w * sum(d)

    return step, lambda: d.__setitem__(1, 3.0)


@read
def sorted_read():
    d = [3.0, 1.0]

    def step():
        return w * sorted(d)[0]

    return step, lambda: d.append(0.5)


@read
def getattr_name_read():
    class T:
        pass

    t = T()
    t.k = 1.0

    def step():
        return w * getattr(t, "k")

    return step, lambda: setattr(t, "k", 2.0)


@read
def getattr_default_read():
    class T:
        pass

    t = T()

    def step():
        return w * getattr(t, "k", 1.0)

    return step, lambda: setattr(t, "k", 2.0)


@read
def hasattr_read():
    class T:
        pass

    t = T()

    def step():
        return w * 2 if hasattr(t, "k") else w

    return step, lambda: setattr(t, "k", 2.0)


@read
def hasattr_class_read():
    class T:
        pass

    t = T()

    def step():
        return w * 2 if hasattr(t, "k") else w

    return step, lambda: setattr(T, "k", 2.0)


@read
def partial_read():
    d = {"k": 2.0}
    f = functools.partial(lambda x, c: x * c["k"], c=d)

    def step():
        return f(w)

    return step, lambda: d.update(k=3.0)


@read
def operator_itemgetter_read():
    d = {"k": 1.0}
    g = operator.itemgetter("k")

    def step():
        return w * g(d)

    return step, lambda: d.update(k=2.0)


@read
def index_unknown_read():
    d = [3.0, 1.0]

    def step():
        return w * d[max(0, min([0]))]

    return step, lambda: d.__setitem__(0, 0.5)


@read
def str_join_read():
    d = ["a", "b"]
    t = {"ab": 1.0}

    def step():
        return w * t.get("".join(d), 2.0)

    return step, lambda: d.reverse()


@read
def weird_bound_read():
    class T:
        k = 1.0

        def f(self):
            return self.k

    t = T()
    f = t.f

    def step():
        return w * f()

    return step, lambda: setattr(t, "k", 2.0)


@read
def reduce_read():
    ts = [1.0, 2.0]

    def step():
        return w * functools.reduce(lambda a, b: a + b, ts)

    return step, lambda: ts.append(5.0)


@read
def globals_call_read():
    def step():
        return w * globals()["SCALE"]

    return step, setg("SCALE", 19.0)


@read
def vars_read():
    class C:
        pass

    c = C()
    c.k = 1.0

    def step():
        return w * vars(c)["k"]

    return step, lambda: setattr(c, "k", 2.0)


@read
def zip_read():
    d = [1.0, 2.0]

    def step():
        return sum(w * k for k, j in zip(d, range(2)))

    return step, lambda: d.__setitem__(1, 3.0)


@read
def call_patch_read():
    class T:
        def __call__(self):
            return 1.0

    t = T()

    def step():
        return w * t()

    return step, lambda: setattr(T, "__call__", lambda s: 2.0)


@effect
def singledispatch_():
    @functools.singledispatch
    def f(x):
        return 1

    n = []

    @f.register
    def _(x: int):
        n.append(1)
        return 2

    def step():
        return w * f(3)

    return step


@effect
def isinstance_hook():
    n = []

    class M(type):
        def __instancecheck__(cls, o):
            n.append(1)
            return True

    class A(metaclass=M):
        pass

    def step():
        isinstance(3, A)
        return w

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
    assert guard is not None, name
