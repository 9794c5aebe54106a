"""Steps that call something that changes what was there before, or that cannot be seen. Every function gives one: the step."""

from __future__ import annotations

import collections
import functools
import itertools
import operator
import os
import random
import threading
import time
from typing import Any

import numpy as np

import gradwright as gw
from tests.compilation.watch.programs.common import w

COUNT: Any = 0


def printing():
    def step():
        print("", end="")
        return w

    return step


def hidden_print():
    fs = [print]

    def step():
        fs[0]("", end="")
        return w

    return step


def map_print():
    def step():
        list(map(print, []))
        return w

    return step


def map_getattr():
    class T:
        k = 1.0

    ts = [T()]
    return lambda: w * sum(map(getattr, ts, ["k"]))


def sorted_key_effect():
    n = []

    def step():
        sorted([1], key=n.append)
        return w

    return step


def attrgetter_():
    class T:
        x = 2.0

    t = T()
    return lambda: w * operator.attrgetter("x")(t)


def lru():
    @functools.lru_cache
    def f(k):
        return k * 2.0

    return lambda: w * f(3.0)


def lock_():
    l = threading.Lock()

    def step():
        with l:
            return w * 1

    return step


def threading_local():
    l = threading.local()
    l.x = 2.0
    return lambda: w * l.x


def exec_():
    ns = {}

    def step():
        exec("k=1", ns)
        return w * ns["k"]

    return step


def eval_():
    return lambda: w * eval("COUNT+1")


def file_write():
    def step():
        with open(os.devnull, "w") as f:
            f.write("a")
        return w

    return step


def async_():
    async def f():
        return 1

    def step():
        c = f()
        c.close()
        return w

    return step


def itercount():
    c = itertools.count()
    return lambda: w * next(c)


def iter_outside():
    c = iter([1.0, 2.0, 3.0, 4.0, 5.0])
    return lambda: w * next(c)


def gen_outside():
    def g():
        k = 0.0
        while True:
            k += 1
            yield k

    c = g()
    return lambda: w * next(c)


def singledispatch_():
    @functools.singledispatch
    def f(x):
        return 1

    n = []

    @f.register
    def _(x: int):
        n.append(1)
        return 2

    return lambda: w * f(3)


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


def timing():
    return lambda: w * (time.time() * 0 + 1)


def rand_():
    return lambda: w * random.random()


def rand_uniform():
    return lambda: w * random.uniform(0, 1)


def np_random():
    return lambda: w * float(np.random.rand())


def np_generator():
    r = np.random.default_rng(0)
    return lambda: w * r.normal()


def environ_():
    os.environ["GW_T"] = "2"
    return lambda: w * float(os.environ["GW_T"])


def getenv():
    return lambda: w * float(os.getenv("GW_T", "2"))


def np_out():
    a = np.ones(3, np.float32)

    def step():
        np.add(a, 1, out=a)
        return w

    return step


def np_out_pos():
    a = np.ones(3, np.float32)

    def step():
        np.add(a, 1, a)
        return w

    return step


def np_copyto():
    a = np.ones(3, np.float32)

    def step():
        np.copyto(a, 2)
        return w

    return step


def arr_fill():
    a = np.ones(3, np.float32)

    def step():
        a.fill(2)
        return w

    return step


def lr_sched():
    o = gw.optim.SGD([w], lr=0.1)
    s = gw.optim.lr_scheduler.StepLR(o, 1)

    def step():
        s.step()
        return w

    return step


def thread_():
    def step():
        t = threading.Thread(target=lambda: None)
        t.start()
        t.join()
        return w

    return step


def counter_():
    c = collections.Counter()

    def step():
        c.update("a")
        return w * c["a"]

    return step


def userdict():
    d = collections.UserDict()

    def step():
        d["a"] = d.get("a", 0) + 1
        return w * d["a"]

    return step


def manual_seed():
    def step():
        gw.manual_seed(0)
        return gw.randn(3)

    return step


def cached_property_first():
    class T:
        @functools.cached_property
        def x(self):
            return 2.0

    ts = [T() for _ in range(9)]
    k = [0]
    return lambda: w * ts[sum("x" in vars(t) for t in ts)].x


def np_shuffle():
    a = np.arange(3.0)

    def step():
        np.random.shuffle(a)
        return w

    return step


def np_rng_made():
    return lambda: w * float(np.random.default_rng().random())


def np_view_attr():
    a = np.ones(4)

    def step():
        a.shape = (2, 2)
        a.shape = (4,)
        return w

    return step


def np_flat():
    a = np.ones(4)

    def step():
        a.flat[0] = 5
        return w

    return step


def np_T():
    a = np.ones((2, 2))

    def step():
        a.T[0, 1] = 5
        return w

    return step


def np_ravel():
    a = np.ones((2, 2))

    def step():
        b = a.ravel()
        b[0] = 7
        return w

    return step


def np_ravel_chain():
    a = np.ones((2, 2))

    def step():
        a.reshape(-1)[0] += 7
        return w

    return step


def np_frombuffer_view():
    a = np.ones(4)

    def step():
        b = memoryview(a)
        b[0] = 4.0
        return w

    return step


def np_iter_rows():
    a = np.ones((2, 2))

    def step():
        for row in a:
            row[0] = 9
        return w

    return step


def np_in_tuple():
    a = (np.ones(2),)

    def step():
        for r in a:
            r += 1
        return w

    return step


def np_split():
    a = np.ones(4)

    def step():
        x, y = np.split(a, 2)
        x[0] = 3
        return w

    return step


def np_nditer():
    a = np.ones(4)

    def step():
        for x in np.nditer(a, op_flags=["readwrite"]):
            x[...] = 2
        return w

    return step


def np_ufunc_at():
    a = np.ones(4)

    def step():
        np.add.at(a, [0], 1)
        return w

    return step


def np_vectorize():
    d = []
    f = np.vectorize(lambda x: (d.append(1), x)[1])

    def step():
        f(np.ones(2))
        return w

    return step


def np_apply():
    d = []

    def step():
        np.apply_along_axis(lambda r: (d.append(1), r.sum())[1], 0, np.ones((2, 2)))
        return w

    return step


def property_by_attrgetter():
    class Counts:
        n = 0

        @property
        def more(self):
            Counts.n += 1
            return Counts.n

    one, get = Counts(), operator.attrgetter("more")
    return lambda: w * get(one)
