"""Steps that read in every way there is."""

from __future__ import annotations

import abc
import collections
import copy
import dataclasses
import enum
import functools
import itertools
import sys
import types
import typing
from typing import Any

import numpy as np
import pytest

import gradwright as gw
import gradwright.nn.functional as F
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
def np_len_read():
    a = [np.ones(2)]

    def step():
        return w * len(a[0])

    return step, lambda: a.__setitem__(0, np.ones(3))


@read
def tuple_default_obj_read():
    class C:
        k = 1.0

    c = C()
    c.k = 1.0

    def f(x, c=c):
        return x * c.k

    def step():
        return f(w)

    return step, lambda: setattr(c, "k", 2.0)


@read
def kwargs_partial_read():
    p = functools.partial(lambda x, k: x * k, k=2.0)
    h = [p]

    def step():
        return h[0](w)

    return step, lambda: h.__setitem__(0, functools.partial(lambda x, k: x * k, k=3.0))


@read
def partial_keywords_read():
    p = functools.partial(lambda x, k: x * k, k=2.0)

    def step():
        return p(w)

    return step, lambda: p.keywords.__setitem__("k", 3.0)


@read
def hook_dict_of_fn_read():
    k = {"s": 1.0}

    class Fn(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.s = k["s"]
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g * ctx.s

    v = gw.ones(3, requires_grad=True)

    def step():
        Fn.apply(v).sum().backward()
        g = v.grad
        v.grad = None
        return g

    return step, lambda: k.update(s=2.0)


@read
def func_grad_closure_read():
    k = 2.0

    def step():
        return gw.func.grad(lambda p: (p * k).sum())(w)

    def change():
        nonlocal k
        k = 3.0

    return step, change


@read
def func_grad_outer_read():
    k = 2.0
    g = gw.func.grad(lambda p: (p * k).sum())

    def step():
        return g(w)

    def change():
        nonlocal k
        k = 3.0

    return step, change


@read
def vmap_outer_read():
    k = [2.0]
    g = gw.func.vmap(lambda p: p * k[0])

    def step():
        return g(w)

    return step, lambda: k.__setitem__(0, 3.0)


@read
def checkpoint_closure_read():
    from gradwright.utils.checkpoint import checkpoint as ck

    k = 2.0

    def f(x):
        return x * k

    def step():
        return ck(f, w, use_reentrant=False)

    def change():
        nonlocal k
        k = 3.0

    return step, change


@read
def saved_hooks_read():
    k = 2.0

    def step():
        with gw.autograd.graph.saved_tensors_hooks(lambda t: t * k, lambda t: t):
            return (w * w).sum()

    def change():
        nonlocal k
        k = 3.0

    return step, change


@read
def decorated_read():
    k = [2.0]

    def deco(f):
        @functools.wraps(f)
        def g(*a):
            return f(*a) * k[0]

        return g

    @deco
    def step():
        return w

    return step, lambda: k.__setitem__(0, 3.0)


@read
def no_grad_decorated_read():
    k = [2.0]

    @gw.no_grad()
    def f():
        return w * k[0]

    def step():
        return f()

    return step, lambda: k.__setitem__(0, 3.0)


@read
def abc_read():
    class A(abc.ABC):
        @abc.abstractmethod
        def f(self): ...

    class B(A):
        k = 1.0

        def f(self):
            return self.k

    b = B()

    def step():
        return w * b.f()

    return step, lambda: setattr(B, "k", 2.0)


@read
def protocol_generic_read():
    T = typing.TypeVar("T")

    class A(typing.Generic[T]):
        def __init__(self, k):
            self.k = k

    a = A[int](1.0)

    def step():
        return w * a.k

    return step, lambda: setattr(a, "k", 2.0)


@read
def namedtuple_in_list_read():
    C = collections.namedtuple("C", "k")
    c = [C(1.0)]

    def step():
        return w * c[0].k

    return step, lambda: c.__setitem__(0, C(2.0))


@read
def replace_nt_read():
    C = collections.namedtuple("C", "k l")
    c = [C(1.0, 2.0)]

    def step():
        return w * c[0]._replace(l=3.0).k

    return step, lambda: c.__setitem__(0, C(2.0, 2.0))


@read
def cached_property_read():
    class T:
        k = 1.0

        @functools.cached_property
        def x(self):
            return self.k

    t = T()

    def step():
        return w * t.x

    return step, lambda: setattr(t, "x", 2.0)


@read
def enum_value_read():
    class M(enum.Enum):
        A = 1.0

    h = [M.A]

    def step():
        return w * h[0].value

    return step, lambda: h.__setitem__(0, None)


@read
def dataclass_nested_read():
    @dataclasses.dataclass
    class Thing:
        lr: float = 0.1

    @dataclasses.dataclass
    class C:
        o: Thing

    c = C(Thing())

    def step():
        return w * c.o.lr

    return step, lambda: setattr(c.o, "lr", 0.2)


@read
def dataclass_slots_read():
    @dataclasses.dataclass(slots=True)
    class Thing:
        lr: float = 0.1

    c = Thing()

    def step():
        return w * c.lr

    return step, lambda: setattr(c, "lr", 0.2)


@read
def dataclass_eq_read():
    @dataclasses.dataclass
    class Thing:
        lr: float = 0.1

    c = Thing()
    d = Thing()

    def step():
        return w if c == d else w * 2

    return step, lambda: setattr(c, "lr", 0.2)


@read
def list_of_obj_sorted_read():
    class Thing:
        def __init__(s, k):
            s.k = k

    l = [Thing(2.0), Thing(1.0)]

    def step():
        f = sorted(l, key=lambda o: o.k)
        return w * f[0].k

    return step, lambda: setattr(l[1], "k", 0.5)


@read
def min_obj_read():
    class Thing:
        def __init__(s, k):
            s.k = k

    l = [Thing(2.0), Thing(1.0)]

    def step():
        f = min(l, key=lambda o: o.k)
        return w * f.k

    return step, lambda: setattr(l[1], "k", 0.5)


@read
def next_gen_obj_read():
    class Thing:
        def __init__(s, k):
            s.k = k

    l = [Thing(2.0), Thing(1.0)]

    def step():
        f = next(o for o in l if o.k > 1)
        return w * f.k

    return step, lambda: setattr(l[0], "k", 5)


@read
def dict_by_obj_read():
    class Thing:
        pass

    o = Thing()
    d = {o: 1.0}

    def step():
        return w * d[o]

    return step, lambda: d.__setitem__(o, 2.0)


@read
def dict_by_tensor_read():
    d = {w: 1.0}

    def step():
        return w * d[w]

    return step, lambda: d.__setitem__(w, 2.0)


@read
def dict_missing_obj_read():
    class Thing:
        pass

    o = Thing()
    d = {}

    def step():
        return w * d.get(o, 1.0)

    return step, lambda: d.__setitem__(o, 2.0)


@read
def in_by_tensor_read():
    d = {}

    def step():
        return w * (w in d)

    return step, lambda: d.__setitem__(w, 2.0)


@read
def is_read():
    class Thing:
        pass

    a = Thing()
    b = [a]

    def step():
        return w if b[0] is a else w * 2

    return step, lambda: b.__setitem__(0, Thing())


@read
def isinstance_read():
    class A:
        pass

    class B(A):
        pass

    h = [B()]

    def step():
        return w if isinstance(h[0], B) else w * 2

    return step, lambda: h.__setitem__(0, A())


@read
def isinstance_tuple_read():
    class A:
        pass

    ts = [(A,)]
    a = A()

    def step():
        return w if isinstance(a, ts[0]) else w * 2

    return step, lambda: ts.__setitem__(0, (int,))


@read
def class_change_read():
    class A:
        def f(self):
            return 1.0

    class B:
        def f(self):
            return 2.0

    a = A()

    def step():
        return w * a.f()

    return step, lambda: setattr(a, "__class__", B)


@read
def isinstance_class_change_read():
    class A:
        pass

    class B:
        pass

    a = A()

    def step():
        return w if isinstance(a, A) else w * 2

    return step, lambda: setattr(a, "__class__", B)


@read
def callable_read():
    h = [3]

    def step():
        return w if callable(h[0]) else w * 2

    return step, lambda: h.__setitem__(0, len)


@read
def type_eq_read():
    h = [3]

    def step():
        return w if type(h[0]) is int else w * 2

    return step, lambda: h.__setitem__(0, 3.0)


@read
def code_swap_read():
    def f():
        return 1.0

    def g():
        return 2.0

    def step():
        return w * f()

    return step, lambda: setattr(f, "__code__", g.__code__)


@read
def dunder_name_read():
    def f():
        return 1.0

    def step():
        return w if f.__name__ == "f" else w * 2

    return step, lambda: setattr(f, "__name__", "g")


@read
def fn_attr_read():
    def f():
        return 1.0

    f.k = 1.0

    def step():
        return w * f.k

    return step, lambda: setattr(f, "k", 2.0)


@read
def fn_attr_getattr_read():
    def f():
        return 1.0

    def step():
        return w * getattr(f, "k", 1.0)

    return step, lambda: setattr(f, "k", 2.0)


@read
def meta_attr_read():
    class M(type):
        k = 1.0

    class A(metaclass=M):
        pass

    def step():
        return w * A.k

    return step, lambda: setattr(M, "k", 2.0)


@read
def meta_prop_read():
    class M(type):
        @property
        def k(cls):
            return cls._k

    class A(metaclass=M):
        _k = 1.0

    def step():
        return w * A.k

    return step, lambda: setattr(A, "_k", 2.0)


@read
def class_getitem_read():
    class A:
        k = {"a": 1.0}

        def __class_getitem__(cls, n):
            return cls.k[n]

    def step():
        return w * A["a"]

    return step, lambda: A.k.update(a=2.0)


@read
def mro_base_added_read():
    class B:
        k = 1.0

    class A(B):
        pass

    a = A()

    def step():
        return w * a.k

    return step, lambda: setattr(B, "k", 2.0)


@read
def nested_fn_default_read():
    k = [2.0]

    def step():
        def f(x, s=k[0]):
            return x * s

        return f(w)

    return step, lambda: k.__setitem__(0, 3.0)


@read
def cond_expr_chain_read():
    a = [None]
    b = {"k": 1.0}

    def step():
        return w * (a[0] or b)["k"]

    return step, lambda: b.update(k=2.0)


@read
def cond_expr_chain2_read():
    a = [None]
    b = {"k": 1.0}

    def step():
        return w * (a[0] or b)["k"]

    return step, lambda: a.__setitem__(0, {"k": 3.0})


@read
def ternary_obj_read():
    class Thing:
        def __init__(s, k):
            s.k = k

    p, q = Thing(1.0), Thing(2.0)
    flag = [True]

    def step():
        return w * (p if flag[0] else q).k

    return step, lambda: setattr(p, "k", 5.0)


@read
def compare_chain_read():
    a = [1.0, 2.0]

    def step():
        return w if 0 < a[0] < a[1] else w * 2

    return step, lambda: a.__setitem__(0, 3.0)


@read
def all_any_read():
    a = [True, True]

    def step():
        return w if all(a) else w * 2

    return step, lambda: a.__setitem__(0, False)


@read
def enumerate_obj_read():
    a = [1.0, 2.0]

    def step():
        return sum(w * i * k for i, k in enumerate(a))

    return step, lambda: a.__setitem__(1, 3.0)


@read
def reversed_read():
    a = [1.0, 2.0]

    def step():
        for k in reversed(a):
            return w * k

    return step, lambda: a.__setitem__(1, 3.0)


@read
def itertools_chain_read():
    a = [1.0]
    b = [2.0]

    def step():
        return sum(w * k for k in itertools.chain(a, b))

    return step, lambda: b.__setitem__(0, 3.0)


@read
def chain_from_iterable_read():
    a = [[1.0], [2.0]]

    def step():
        return sum(w * k for k in itertools.chain.from_iterable(a))

    return step, lambda: a[1].__setitem__(0, 3.0)


@read
def copy_list_read():
    a = [[1.0]]

    def step():
        return w * a.copy()[0][0]

    return step, lambda: a[0].__setitem__(0, 3.0)


@read
def list_ctor_read():
    a = [[1.0]]

    def step():
        b = list(a)
        return w * b[0][0]

    return step, lambda: a[0].__setitem__(0, 3.0)


@read
def list_ctor_obj_read():
    class Thing:
        def __init__(s, k):
            s.k = k

    a = [Thing(1.0)]

    def step():
        b = list(a)
        return w * b[0].k

    return step, lambda: setattr(a[0], "k", 3.0)


@read
def dict_ctor_read():
    a = {"k": 1.0}

    def step():
        b = dict(a, z=1)
        return w * b["k"]

    return step, lambda: a.update(k=3.0)


@read
def dict_star_read():
    a = {"k": 1.0}

    def step():
        b = {**a, "z": 1}
        return w * b["k"]

    return step, lambda: a.update(k=3.0)


@read
def dict_or_read():
    a = {"k": 1.0}

    def step():
        b = a | {"z": 1}
        return w * b["k"]

    return step, lambda: a.update(k=3.0)


@read
def list_add_read():
    a = [1.0]

    def step():
        b = a + [2.0]
        return w * sum(b)

    return step, lambda: a.__setitem__(0, 3.0)


@read
def list_mul_read():
    a = [1.0]

    def step():
        b = 2 * a
        return w * sum(b)

    return step, lambda: a.__setitem__(0, 3.0)


@read
def deepcopy_read():
    a = [1.0]

    def step():
        b = copy.deepcopy(a)
        return w * sum(b)

    return step, lambda: a.__setitem__(0, 3.0)


@read
def deepcopy_obj_read():
    class Thing:
        pass

    a = Thing()
    a.l = [1.0]

    def step():
        b = copy.deepcopy(a)
        return w * sum(b.l)

    return step, lambda: a.l.__setitem__(0, 3.0)


@read
def deepcopy_net_read():
    net = nn.Linear(3, 3)

    def step():
        b = copy.deepcopy(net)
        return b(w)

    return step, lambda: setattr(net, "weight", nn.Parameter(gw.ones(3, 3)))


@read
def state_dict_read():
    net = nn.Linear(3, 3)

    def step():
        return sum(v.sum() for v in net.state_dict().values())

    return step, lambda: setattr(net, "weight", nn.Parameter(gw.ones(3, 3)))


@read
def functional_call_read():
    net = nn.Dropout(0.5)

    def step():
        return gw.func.functional_call(net, {}, (w,))

    return step, lambda: net.eval()


@read
def named_params_read():
    net = nn.Sequential(nn.Linear(3, 3))

    def step():
        return sum(p.sum() for n, p in net.named_parameters() if "weight" in n)

    return step, lambda: setattr(net[0], "weight", nn.Parameter(gw.ones(3, 3)))


@read
def modules_iter_read():
    net = nn.Sequential(nn.Linear(3, 3))

    def step():
        return w * sum(isinstance(m, nn.Linear) for m in net.modules())

    return step, lambda: net.append(nn.Linear(3, 3))


@read
def children_attr_read():
    net = nn.Sequential(nn.Dropout(0.5))

    def step():
        return w * sum(m.p for m in net.children())

    return step, lambda: setattr(net[0], "p", 0.1)


@read
def getattr_module_param_read():
    net = nn.Linear(3, 3)

    def step():
        return w @ getattr(net, "weight")

    return step, lambda: setattr(net, "weight", nn.Parameter(gw.ones(3, 3)))


@read
def vars_module_read():
    net = nn.Linear(3, 3)

    def step():
        return w @ vars(net)["_parameters"]["weight"]

    return step, lambda: setattr(net, "weight", nn.Parameter(gw.ones(3, 3)))


@read
def buffer_read():
    net = nn.Module()
    net.register_buffer("k", gw.ones(3))

    def step():
        return w * net.k

    return step, lambda: setattr(net, "k", gw.ones(3) * 2)


@read
def parametrized_read():
    class P(nn.Module):
        s = 1.0

        def forward(self, x):
            return x * self.s

    net = nn.Linear(3, 3)
    p = P()
    nn.utils.parametrize.register_parametrization(net, "weight", p)

    def step():
        return net(w)

    return step, lambda: setattr(p, "s", 2.0)


@read
def requires_flag_numpy_bool_read():
    k = [np.True_]

    def step():
        return w if k[0] else w * 2

    return step, lambda: k.__setitem__(0, np.False_)


@read
def np_default_dtype_read():
    k = [np.float32]

    def step():
        return w * float(np.zeros(1, k[0]).itemsize)

    return step, lambda: k.__setitem__(0, np.float64)


@read
def str_format_map_read():
    d = {"a": 1}
    t = {"1": 1.0}

    def step():
        return w * t.get("{a}".format_map(d), 2.0)

    return step, lambda: d.update(a=2)


@read
def percent_read():
    d = {"a": 1}
    t = {"1": 1.0}

    def step():
        return w * t.get("%(a)s" % d, 2.0)

    return step, lambda: d.update(a=2)


@read
def attr_via_match_read():
    @dataclasses.dataclass
    class P:
        x: float
        y: float

    p = P(1.0, 2.0)

    def step():
        match p:
            case P(x=1.0, y=y):
                return w * y
            case _:
                return w

    return step, lambda: setattr(p, "x", 3.0)


@read
def match_seq_read():
    p = [1.0, 2.0]

    def step():
        match p:
            case [a, b]:
                return w * a
            case _:
                return w

    return step, lambda: p.append(3.0)


@read
def match_map_read():
    p = {"k": 1.0}

    def step():
        match p:
            case {"k": v}:
                return w * v
            case _:
                return w

    return step, lambda: p.update(k=2.0)


@read
def match_map_missing_read():
    p = {}

    def step():
        match p:
            case {"k": v}:
                return w * v
            case _:
                return w

    return step, lambda: p.update(k=2.0)


@read
def try_keyerror_read():
    p = {}

    def step():
        try:
            return w * p["k"]
        except KeyError:
            return w

    return step, lambda: p.update(k=2.0)


@read
def try_attr_read():
    class P:
        pass

    p = P()

    def step():
        try:
            return w * p.k
        except AttributeError:
            return w

    return step, lambda: setattr(p, "k", 2.0)


@read
def try_attr_class_read():
    class P:
        pass

    p = P()

    def step():
        try:
            return w * p.k
        except AttributeError:
            return w

    return step, lambda: setattr(P, "k", 2.0)


@read
def try_name_read():
    def step():
        try:
            return w * NEVER_SET
        except NameError:
            return w

    def change():
        globals()["NEVER_SET"] = 2.0

    return step, change


@read
def try_index_read():
    p = []

    def step():
        try:
            return w * p[0]
        except IndexError:
            return w

    return step, lambda: p.append(2.0)


@read
def try_cell_read():
    def step():
        try:
            return w * k
        except NameError:
            return w

    def change():
        nonlocal k
        k = 2.0

    k = 1
    del k
    return step, change


@read
def try_module_attr_read():
    def step():
        try:
            return w * MOD.never
        except AttributeError:
            return w

    return step, lambda: setattr(MOD, "never", 1.0)


@read
def default_tensor_read():
    v = gw.ones(3)

    def f(x, v=v):
        return x * v

    def step():
        return f(w)

    return step, lambda: setattr(f, "__defaults__", (gw.ones(3),))


@read
def numpy_fn_patched_read():
    m = types.SimpleNamespace(f=np.sum)

    def step():
        return w * float(m.f(np.ones(2)))

    return step, lambda: setattr(m, "f", np.prod)


@read
def range_obj_read():
    r = [range(3)]

    def step():
        return w * sum(r[0])

    return step, lambda: r.__setitem__(0, range(4))


@read
def slice_obj_read():
    r = [slice(0, 1)]

    def step():
        return w[r[0]].sum()

    return step, lambda: r.__setitem__(0, slice(0, 2))


@read
def index_list_read():
    r = [0, 1]

    def step():
        return w[r].sum()

    return step, lambda: r.__setitem__(0, 2)


@read
def tuple_of_np_read():
    r = (np.array([0, 1]),)

    def step():
        return w[r].sum()

    return step, lambda: r[0].__setitem__(0, 2)


@read
def np_index_read():
    r = np.array([0, 1])

    def step():
        return w[r].sum()

    return step, lambda: r.__setitem__(0, 2)


@read
def obj_array_read():
    class Thing:
        def __init__(s):
            s.r = np.array([0, 1])

    o = Thing()

    def step():
        return w[o.r].sum()

    return step, lambda: o.r.__setitem__(0, 2)


@read
def kwdict_obj_read():
    o = {"negative_slope": 0.1}

    def step():
        return F.leaky_relu(w, **o)

    return step, lambda: o.update(negative_slope=0.3)


@read
def shape_tuple_attr_read():
    class Thing:
        pass

    o = Thing()
    o.s = (3, 1)

    def step():
        return w.reshape(o.s)

    return step, lambda: setattr(o, "s", (1, 3))


@read
def dtype_attr_read():
    class Thing:
        pass

    o = Thing()
    o.s = gw.float32

    def step():
        return w.to(o.s)

    return step, lambda: setattr(o, "s", gw.float64)


@read
def device_attr_read():
    class Thing:
        pass

    o = Thing()
    o.s = "cpu"

    def step():
        return w.to(o.s)

    return step, lambda: setattr(o, "s", None)


@read
def lr_tensor_read():
    p = gw.ones(3, requires_grad=True)
    o = gw.optim.SGD([p], lr=gw.tensor(0.1))

    def step():
        (p * p).sum().backward()
        o.step()
        o.zero_grad()

    return step, lambda: o.param_groups[0].__setitem__("lr", gw.tensor(0.2))


@read
def user_opt_lr_read():
    class Opt(gw.optim.Optimizer):
        def __init__(self, p):
            super().__init__(p, {"lr": 0.1})

        @gw.no_grad()
        def step(self):
            for g in self.param_groups:
                for p in g["params"]:
                    p -= p.grad * g["lr"]

    p = gw.ones(3, requires_grad=True)
    o = Opt([p])

    def step():
        (p * p).sum().backward()
        o.step()
        o.zero_grad()

    return step, lambda: o.param_groups[0].__setitem__("lr", 0.2)


@read
def opt_defaults_differentiable_read():
    p = gw.ones(3, requires_grad=True)
    o = gw.optim.SGD([p], lr=0.1)

    def step():
        (p * p).sum().backward()
        o.step()
        o.zero_grad()

    return step, lambda: o.defaults.__setitem__("differentiable", True)


@read
def scheduler_read_read():
    p = gw.ones(3, requires_grad=True)
    o = gw.optim.SGD([p], lr=0.1)
    s = gw.optim.lr_scheduler.StepLR(o, 1)

    def step():
        return w * o.param_groups[0]["lr"]

    def change():
        o.step()
        s.step()

    return step, change


@pytest.mark.parametrize("name", READS)
@pytest.mark.filterwarnings("ignore")
def test_what_is_read_is_guarded(name):
    guard = departure(*READS[name]())
    assert guard is not None, name
