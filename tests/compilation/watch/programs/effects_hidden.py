"""Steps that hide what they change. Every function gives one: the step."""

from __future__ import annotations

import array
import bisect
import collections
import contextlib
import contextvars
import dataclasses
import datetime
import decimal
import functools
import inspect
import itertools
import json
import logging
import operator
import os
import queue
import random
import sys
import time
import weakref
from typing import Any

import numpy as np

import gradwright as gw
from gradwright import nn
from tests.compilation.watch.programs.common import MOD, w

COUNT: Any = 0
LOG: Any = []
CFG: Any = {"k": 2.0}


def bisect_():
    h = []

    def step():
        bisect.insort(h, 1.0)
        return w * len(h)

    return step


def logging_():
    def step():
        logging.getLogger("x").debug("a")
        return w

    return step


def queue_():
    q = queue.Queue()

    def step():
        q.put(1)
        return w * q.qsize()

    return step


def array_array():
    a = array.array("d", [1.0])

    def step():
        a[0] += 1
        return w * a[0]

    return step


def bytearray_():
    a = bytearray(b"ab")

    def step():
        a[0] = 5
        return w

    return step


def memoryview_():
    a = bytearray(b"ab")
    m = memoryview(a)

    def step():
        m[0] = 5
        return w

    return step


def fn_defaults_set():
    def f(k=1.0):
        return k

    def step():
        f.__defaults__ = (2.0,)
        return w * f()

    return step


def cell_set():
    k = 1.0

    def g():
        return k

    def step():
        g.__closure__[0].cell_contents = 3.0
        return w * g()

    return step


def type_setattr():
    class T:
        pass

    def step():
        type.__setattr__(T, "k", 1)
        return w

    return step


def module_setattr():
    def step():
        MOD.newname = 1
        return w

    return step


def module_dict_set():
    def step():
        MOD.__dict__["n2"] = 1
        return w

    return step


def sys_modules_set():
    def step():
        sys.modules["zzz"] = MOD
        return w

    return step


def nested_inner_effect():
    d = {"a": {"b": [0]}}

    def step():
        x = d["a"]
        y = x["b"]
        y[0] += 1
        return w * y[0]

    return step


def via_local_class():
    d = []

    def step():
        class A:
            def f(self):
                d.append(1)

        A().f()
        return w

    return step


def via_init():
    d = []

    class A:
        def __init__(self):
            d.append(self)

    def step():
        A()
        return w

    return step


def via_new():
    d = []

    class A:
        def __new__(cls):
            d.append(1)
            return object.__new__(cls)

    def step():
        A()
        return w

    return step


def via_init_subclass():
    d = []

    class A:
        def __init_subclass__(cls):
            d.append(cls)

    def step():
        class B(A):
            pass

        return w

    return step


def via_dataclass_post():
    d = []

    @dataclasses.dataclass
    class A:
        x: int

        def __post_init__(self):
            d.append(1)

    def step():
        A(1)
        return w

    return step


def via_setattr_hook():
    d = []

    class A:
        def __setattr__(self, k, v):
            d.append(k)

    def step():
        a = A()
        a.x = 1
        return w

    return step


def via_getattr_hook():
    d = []

    class A:
        def __getattr__(self, k):
            d.append(k)
            return 1

    a = A()
    return lambda: w * a.x


def via_getattribute():
    class A:
        n = 0

        def __getattribute__(self, k):
            A.n += 1
            return A.n

    a = A()
    return lambda: w * a.x


def via_iter():
    class A:
        n = 0

        def __iter__(self):
            A.n += 1
            return iter([A.n])

    a = A()
    return lambda: sum(w * k for k in a)


def via_next():
    class A:
        n = 0

        def __iter__(self):
            return self

        def __next__(self):
            self.n += 1
            return self.n

    a = A()

    def step():
        for k in a:
            return w * k

    return step


def via_zip_next():
    class A:
        n = 0

        def __iter__(self):
            return self

        def __next__(self):
            self.n += 1
            return self.n

    a = A()
    return lambda: sum(w * k for k, _ in zip(a, range(2)))


def via_len():
    class A:
        n = 0

        def __len__(self):
            A.n += 1
            return A.n

    a = A()
    return lambda: w * len(a)


def via_contains():
    class A:
        n = 0

        def __contains__(self, k):
            A.n += 1
            return A.n > 3

    a = A()
    return lambda: w if 3 in a else w * 2


def via_eq():
    class A:
        n = 0

        def __eq__(self, k):
            A.n += 1
            return A.n > 3

    a = A()
    return lambda: w if a == 1 else w * 2


def via_eq_in_list():
    class A:
        n = 0

        def __eq__(self, k):
            A.n += 1
            return A.n > 3

    a = [A()]
    return lambda: w if 1 in a else w * 2


def via_float():
    class A:
        n = 0

        def __float__(self):
            A.n += 1
            return float(A.n)

    a = A()
    return lambda: w * float(a)


def via_index():
    class A:
        n = -1

        def __index__(self):
            A.n += 1
            return A.n

    a = A()
    return lambda: w * [1.0, 2.0, 3.0, 4.0][a]


def via_array_ufunc():
    class A:
        n = 0

        def __array__(self, *a, **k):
            A.n += 1
            return np.ones(3, np.float32) * A.n

    a = A()
    return lambda: w * gw.from_numpy(np.asarray(a))


def via_hook_in_container():
    d = []
    net = nn.Sequential(nn.Linear(3, 3))
    net[0].register_full_backward_hook(lambda m, gi, go: d.append(1))

    def step():
        net(w.detach().requires_grad_()).sum().backward()
        return w

    return step


def via_optim_hook():
    d = []
    p = gw.ones(3, requires_grad=True)
    o = gw.optim.SGD([p], lr=0.1)
    o.register_step_post_hook(lambda *a: d.append(1))

    def step():
        (p * p).sum().backward()
        o.step()

    return step


def via_optim_closure():
    d = []
    p = gw.ones(3, requires_grad=True)
    o = gw.optim.SGD([p], lr=0.1)

    def step():
        def closure():
            o.zero_grad()
            l = (p * p).sum()
            l.backward()
            d.append(1)
            return l

        return o.step(closure)

    return step


def via_saved_hooks():
    d = []

    def step():
        with gw.autograd.graph.saved_tensors_hooks(lambda t: (d.append(1), t)[1], lambda t: t):
            return (w * w).sum()

    return step


def via_func_transform():
    d = []

    def f(p):
        d.append(1)
        return (p * p).sum()

    return lambda: gw.func.grad(f)(w)


def via_vmap():
    d = []

    def f(p):
        d.append(1)
        return p * 2

    return lambda: gw.func.vmap(f)(w)


def via_checkpoint():
    from gradwright.utils.checkpoint import checkpoint as ck

    d = []

    def f(p):
        d.append(1)
        return p * 2

    return lambda: ck(f, w, use_reentrant=False)


def via_partial_method():
    class A:
        n = 0

        def f(self, k):
            self.n += k
            return self.n

        g = functools.partialmethod(f, 1)

    a = A()
    return lambda: w * a.g()


def via_total_ordering():
    @functools.total_ordering
    class A:
        n = 0

        def __lt__(self, o):
            A.n += 1
            return A.n > 2

        def __eq__(self, o):
            return False

    a = A()
    return lambda: w if a >= 1 else w * 2


def via_weakset():
    s = weakref.WeakSet()

    class A:
        pass

    a = A()

    def step():
        s.add(a)
        return w * len(s)

    return step


def via_weakdict():
    s = weakref.WeakKeyDictionary()

    class A:
        pass

    a = A()

    def step():
        s[a] = s.get(a, 0) + 1
        return w * s[a]

    return step


def via_exitstack():
    d = []

    def step():
        with contextlib.ExitStack() as st:
            st.callback(d.append, 1)
        return w

    return step


def via_exitstack_outside():
    st = contextlib.ExitStack()

    def step():
        st.callback(print)
        return w

    return step


def via_redirect():
    import io

    def step():
        with contextlib.redirect_stdout(io.StringIO()):
            return w * 1

    return step


def via_iadd_attr():
    class A:
        def __init__(s):
            s.l = []

    a = A()

    def step():
        a.l += [1]
        return w * len(a.l)

    return step


def swap_items():
    d = [1.0, 2.0]

    def step():
        d[0], d[1] = d[1], d[0]
        return w * d[0]

    return step


def for_target_attr():
    class A:
        pass

    a = A()

    def step():
        for a.x in range(3):
            pass
        return w * a.x

    return step


def with_target():
    d = [0]

    def step():
        with contextlib.nullcontext(3) as d[0]:
            pass
        return w

    return step


def star_target():
    class A:
        pass

    a = A()
    a.x = 0

    def step():
        p, *a.x = 1, 2, 3
        return w

    return step


def aug_global_item():
    def step():
        CFG["k"] *= 2
        return w * CFG["k"]

    return step


def except_as_global():
    def step():
        global COUNT
        try:
            raise ValueError
        except ValueError as COUNT:
            pass
        return w

    return step


def import_as_global():
    def step():
        global COUNT
        import math as COUNT

        return w

    return step


def def_global():
    def step():
        global HELPER

        def HELPER():
            return 1

        return w

    return step


def del_global():
    globals()["TEMP"] = 1

    def step():
        global TEMP
        del TEMP
        return w

    return step


def os_urandom():
    return lambda: w * os.urandom(1)[0]


def uuid_():
    import uuid
    return lambda: w * (uuid.uuid4().int % 3)


def datetime_():
    return lambda: w * datetime.datetime.now().second


def perf():
    t = time.perf_counter
    return lambda: w * t()


def secrets_():
    import secrets
    return lambda: w * secrets.randbelow(3)


def rand_inst():
    r = random.Random(0)
    return lambda: w * r.random()


def rand_inst_uniform():
    r = random.Random(0)
    return lambda: w * r.uniform(0, 1)


def rand_shuffle():
    l = [1.0, 2.0]

    def step():
        random.shuffle(l)
        return w * l[0]

    return step


def open_read():
    return lambda: w * len(open(os.devnull).read())


def path_exists():
    import pathlib

    p = pathlib.Path("/tmp")
    return lambda: w * p.exists()


def os_path():
    return lambda: w * os.path.exists("/tmp")


def sys_flags():
    return lambda: w * sys.getrecursionlimit()


def gc_():
    import gc

    def step():
        gc.collect()
        return w

    return step


def subproc():
    import subprocess

    def step():
        subprocess.run(["true"])
        return w

    return step


def warn_():
    import warnings

    def step():
        warnings.warn("a")
        return w

    return step


def json_dump():
    import io

    f = io.StringIO()

    def step():
        json.dump({}, f)
        return w

    return step


def stringio():
    import io

    f = io.StringIO()

    def step():
        f.write("a")
        return w

    return step


def frame_():
    return lambda: w * sys._getframe().f_lineno


def inspect_stack():
    return lambda: w * len(inspect.stack())


def decimal_ctx():
    def step():
        decimal.getcontext().prec = 5
        return w

    return step


def ctxvar_set():
    v = contextvars.ContextVar("v", default=2.0)

    def step():
        v.set(3)
        return w

    return step


def grad_mode_fn():
    def step():
        gw.set_printoptions(precision=4)
        return w

    return step


def param_register():
    net = nn.Linear(3, 3)

    def step():
        net.register_buffer("k", gw.ones(1))
        return net(w)

    return step


def hook_register():
    net = nn.Linear(3, 3)

    def step():
        net.register_forward_hook(lambda m, i, o: o * 2)
        return net(w)

    return step


def train_mode():
    net = nn.Dropout()

    def step():
        net.train(not net.training)
        return net(w)

    return step


def requires_grad_():
    net = nn.Linear(3, 3)

    def step():
        net.add_module("x", nn.Linear(1, 1))
        return net(w)

    return step


def append_layer():
    net = nn.ModuleList([nn.Linear(3, 3)])

    def step():
        net.append(nn.Linear(3, 3))
        return net[0](w)

    return step


def add_group():
    p = gw.ones(3, requires_grad=True)
    o = gw.optim.SGD([p], lr=0.1)

    def step():
        o.add_param_group({"params": [gw.ones(2, requires_grad=True)]})
        return w

    return step


def opt_state_write():
    p = gw.ones(3, requires_grad=True)
    o = gw.optim.SGD([p], lr=0.1)

    def step():
        o.state[p]["n"] = 1
        return w

    return step


def user_optimizer():
    class Opt(gw.optim.Optimizer):
        def __init__(self, p):
            super().__init__(p, {"lr": 0.1})

        def step(self):
            for g in self.param_groups:
                for p in g["params"]:
                    s = self.state[p]
                    s["n"] = s.get("n", 0) + 1
                    with gw.no_grad():
                        p -= p.grad * g["lr"] / s["n"]

    p = gw.ones(3, requires_grad=True)
    o = Opt([p])

    def step():
        (p * p).sum().backward()
        o.step()
        p.grad = None

    return step


def parametrize_cached():
    d = []

    class P(nn.Module):
        def forward(self, x):
            d.append(1)
            return x

    net = nn.Linear(3, 3)
    nn.utils.parametrize.register_parametrization(net, "weight", P())
    return lambda: net(w)


def tensor_subclass_attr_read():
    w3 = gw.ones(3)
    w3.k = [0]

    def step():
        w3.k[0] += 1
        return w * w3.k[0]

    return step


def lambda_default():
    f = lambda k=[0]: (k.__setitem__(0, k[0] + 1), k[0])[1]
    return lambda: w * f()


def lambda_default_c():
    f = lambda x, k=[0]: (k.__setitem__(0, k[0] + 1), k[0])[1]
    return lambda: w * sum(map(f, [1]))


def itertools_state():
    g = itertools.tee([1.0] * 99)[0]
    return lambda: w * next(g)


def groupby_outer():
    g = map(float, itertools.count())
    return lambda: sum(w * k for k in itertools.islice(g, 2))


def list_iter_in_container():
    g = [iter([1.0] * 99)]
    return lambda: w * next(g[0])


def iter_in_container_zip():
    g = [iter([1.0] * 99)]
    return lambda: sum(w * k for k, _ in zip(*g, range(2)))


def iter_attr():
    class A:
        pass

    a = A()
    a.it = iter([1.0] * 99)
    return lambda: w * next(a.it)


def dataloader_():
    from gradwright.utils.data import DataLoader

    l = iter(DataLoader([gw.ones(3) for _ in range(20)], batch_size=1))
    return lambda: w * next(l)


def gen_send():
    def g():
        k = 0.0
        while True:
            k += 1
            yield k

    c = g()
    next(c)
    return lambda: w * c.send(None)


def gen_method():
    def g():
        k = 0.0
        while True:
            k += 1
            yield k

    c = g().__next__
    return lambda: w * c()


def yield_from_outer():
    def g():
        k = 0.0
        while True:
            k += 1
            yield k

    c = g()

    def h():
        yield from c

    return lambda: w * next(h())


def operator_setitem():
    d = [0]

    def step():
        operator.setitem(d, 0, 1)
        return w

    return step


def operator_call():
    d = [0]

    def step():
        operator.methodcaller("append", 1)(d)
        return w

    return step


def apply_via_list():
    d = [0]

    def step():
        for f in (d.append,):
            f(1)
        return w

    return step


def reduce_effect():
    d = [0]

    def step():
        functools.reduce(lambda a, b: d.append(b), [1, 2])
        return w

    return step


def filter_effect():
    d = []

    def step():
        list(filter(d.append, [1, 2]))
        return w

    return step


def max_key_effect():
    d = []

    class A:
        def __init__(s):
            s.n = 0

        def key(s, x):
            s.n += 1
            return s.n

    a = A()
    return lambda: w * max([1, 2], key=a.key)


def dict_fromiter():
    g = iter([("a", 1)] * 99)
    return lambda: w * len(dict(g))


def set_default_existing_other():
    d = {}

    def step():
        d.setdefault("a", []).append(1)
        return w

    return step


def ior_dict():
    d = {}

    def step():
        e = d
        e |= {"a": 1}
        return w

    return step


def sort_outer():
    d = [2.0, 1.0]

    def step():
        d.sort()
        return w * d[0]

    return step


def dict_popitem_loop():
    d = {k: 1 for k in range(99)}

    def step():
        d.popitem()
        return w * len(d)

    return step


def ordered_move():
    d = collections.OrderedDict(a=1, b=2)

    def step():
        d.move_to_end("a")
        return w

    return step


def deque_rotate():
    d = collections.deque([1.0, 2.0])

    def step():
        d.rotate()
        return w * d[0]

    return step


def defaultdict_append():
    d = collections.defaultdict(list)

    def step():
        d["a"].append(1)
        return w

    return step


def setitem_user():
    class A:
        def __init__(s):
            s.d = {}

        def __setitem__(s, k, v):
            s.d[k] = v

    a = A()

    def step():
        a["x"] = 1
        return w

    return step


def prop_setter():
    class A:
        def __init__(s):
            s._k = 0

        @property
        def k(s):
            return s._k

        @k.setter
        def k(s, v):
            s._k = v

    a = A()

    def step():
        a.k = a.k + 1
        return w * a.k

    return step


def slots_descr():
    class A:
        __slots__ = ("k", "__dict__")

    a = A()
    a.k = 0

    def step():
        A.k.__set__(a, 5)
        return w

    return step


def closure_gen_effect():
    n = 0

    def g():
        nonlocal n
        n += 1
        yield n

    return lambda: w * sum(g())


def async_gen():
    import asyncio

    async def f():
        return 1.0
    return lambda: w * asyncio.run(f())


def recursion_state():
    memo = {}

    def fib(n):
        if n in memo:
            return memo[n]
        r = n if n < 2 else fib(n - 1) + fib(n - 2)
        memo[n] = r
        return r

    k = [3]

    def step():
        memo.clear()
        return w * fib(5)

    return step


def singleton_new():
    class S:
        inst = None

        def __new__(cls):
            if cls.inst is None:
                cls.inst = object.__new__(cls)
            return cls.inst

    def step():
        S.inst = None
        S().x = 1
        return w

    return step


def made_then_outside():
    box = [None]

    def step():
        d = []
        box[0] = d
        return w

    return step


def exc_traceback():
    def step():
        try:
            raise ValueError
        except ValueError as e:
            LOG.append(e)
        return w

    return step


def global_via_func_globals():
    def step():
        step.__globals__["COUNT"] = 5
        return w

    return step


def vars_module():
    def step():
        vars(MOD)["state"] = 7
        return w

    return step


def partial_state():
    p = functools.partial(dict.update, CFG)

    def step():
        p(z=1)
        return w

    return step
