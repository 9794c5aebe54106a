"""Steps that read in every way there is. Every function gives one: (step, change)."""

from __future__ import annotations

import abc
import collections
import copy
import dataclasses
import enum
import functools
import itertools
import math
import sys
import types
import typing
from typing import Any

import numpy as np

import gradwright as gw
import gradwright.nn.functional as F
from gradwright import nn
from tests.compilation.watch.programs.common import MOD, training, w

AGAIN: Any = types.ModuleType("mod_for_test_again")


def np_len_read():
    a = [np.ones(2)]
    return lambda: w * len(a[0]), lambda: a.__setitem__(0, np.ones(3))


def tuple_default_obj_read():
    class C:
        k = 1.0

    c = C()
    c.k = 1.0

    def f(x, c=c):
        return x * c.k

    return lambda: f(w), lambda: setattr(c, "k", 2.0)


def kwargs_partial_read():
    p = functools.partial(lambda x, k: x * k, k=2.0)
    h = [p]
    return lambda: h[0](w), lambda: h.__setitem__(0, functools.partial(lambda x, k: x * k, k=3.0))


def partial_keywords_read():
    p = functools.partial(lambda x, k: x * k, k=2.0)
    return lambda: p(w), lambda: p.keywords.__setitem__("k", 3.0)


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


def func_grad_closure_read():
    k = 2.0

    def change():
        nonlocal k
        k = 3.0

    return lambda: gw.func.grad(lambda p: (p * k).sum())(w), change


def func_grad_outer_read():
    k = 2.0
    g = gw.func.grad(lambda p: (p * k).sum())

    def change():
        nonlocal k
        k = 3.0

    return lambda: g(w), change


def vmap_outer_read():
    k = [2.0]
    g = gw.func.vmap(lambda p: p * k[0])
    return lambda: g(w), lambda: k.__setitem__(0, 3.0)


def checkpoint_closure_read():
    from gradwright.utils.checkpoint import checkpoint as ck

    k = 2.0

    def f(x):
        return x * k

    def change():
        nonlocal k
        k = 3.0

    return lambda: ck(f, w, use_reentrant=False), change


def saved_hooks_read():
    k = 2.0

    def step():
        with gw.autograd.graph.saved_tensors_hooks(lambda t: t * k, lambda t: t):
            return (w * w).sum()

    def change():
        nonlocal k
        k = 3.0

    return step, change


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


def no_grad_decorated_read():
    k = [2.0]

    @gw.no_grad()
    def f():
        return w * k[0]

    return lambda: f(), lambda: k.__setitem__(0, 3.0)


def abc_read():
    class A(abc.ABC):
        @abc.abstractmethod
        def f(self): ...

    class B(A):
        k = 1.0

        def f(self):
            return self.k

    b = B()
    return lambda: w * b.f(), lambda: setattr(B, "k", 2.0)


def protocol_generic_read():
    T = typing.TypeVar("T")

    class A(typing.Generic[T]):
        def __init__(self, k):
            self.k = k

    a = A[int](1.0)
    return lambda: w * a.k, lambda: setattr(a, "k", 2.0)


def namedtuple_in_list_read():
    C = collections.namedtuple("C", "k")
    c = [C(1.0)]
    return lambda: w * c[0].k, lambda: c.__setitem__(0, C(2.0))


def replace_nt_read():
    C = collections.namedtuple("C", "k l")
    c = [C(1.0, 2.0)]
    return lambda: w * c[0]._replace(l=3.0).k, lambda: c.__setitem__(0, C(2.0, 2.0))


def cached_property_read():
    class T:
        k = 1.0

        @functools.cached_property
        def x(self):
            return self.k

    t = T()
    return lambda: w * t.x, lambda: setattr(t, "x", 2.0)


def enum_value_read():
    class M(enum.Enum):
        A = 1.0

    h = [M.A]
    return lambda: w * h[0].value, lambda: h.__setitem__(0, None)


def dataclass_nested_read():
    @dataclasses.dataclass
    class Thing:
        lr: float = 0.1

    @dataclasses.dataclass
    class C:
        o: Thing

    c = C(Thing())
    return lambda: w * c.o.lr, lambda: setattr(c.o, "lr", 0.2)


def dataclass_slots_read():
    @dataclasses.dataclass(slots=True)
    class Thing:
        lr: float = 0.1

    c = Thing()
    return lambda: w * c.lr, lambda: setattr(c, "lr", 0.2)


def dataclass_eq_read():
    @dataclasses.dataclass
    class Thing:
        lr: float = 0.1

    c = Thing()
    d = Thing()
    return lambda: w if c == d else w * 2, lambda: setattr(c, "lr", 0.2)


def list_of_obj_sorted_read():
    class Thing:
        def __init__(s, k):
            s.k = k

    l = [Thing(2.0), Thing(1.0)]

    def step():
        f = sorted(l, key=lambda o: o.k)
        return w * f[0].k

    return step, lambda: setattr(l[1], "k", 0.5)


def min_obj_read():
    class Thing:
        def __init__(s, k):
            s.k = k

    l = [Thing(2.0), Thing(1.0)]

    def step():
        f = min(l, key=lambda o: o.k)
        return w * f.k

    return step, lambda: setattr(l[1], "k", 0.5)


def next_gen_obj_read():
    class Thing:
        def __init__(s, k):
            s.k = k

    l = [Thing(2.0), Thing(1.0)]

    def step():
        f = next(o for o in l if o.k > 1)
        return w * f.k

    return step, lambda: setattr(l[0], "k", 5)


def dict_by_obj_read():
    class Thing:
        pass

    o = Thing()
    d = {o: 1.0}
    return lambda: w * d[o], lambda: d.__setitem__(o, 2.0)


def dict_by_tensor_read():
    d = {w: 1.0}
    return lambda: w * d[w], lambda: d.__setitem__(w, 2.0)


def dict_missing_obj_read():
    class Thing:
        pass

    o = Thing()
    d = {}
    return lambda: w * d.get(o, 1.0), lambda: d.__setitem__(o, 2.0)


def in_by_tensor_read():
    d = {}
    return lambda: w * (w in d), lambda: d.__setitem__(w, 2.0)


def is_read():
    class Thing:
        pass

    a = Thing()
    b = [a]
    return lambda: w if b[0] is a else w * 2, lambda: b.__setitem__(0, Thing())


def isinstance_read():
    class A:
        pass

    class B(A):
        pass

    h = [B()]
    return lambda: w if isinstance(h[0], B) else w * 2, lambda: h.__setitem__(0, A())


def isinstance_tuple_read():
    class A:
        pass

    ts = [(A,)]
    a = A()
    return lambda: w if isinstance(a, ts[0]) else w * 2, lambda: ts.__setitem__(0, (int,))


def class_change_read():
    class A:
        def f(self):
            return 1.0

    class B:
        def f(self):
            return 2.0

    a = A()
    return lambda: w * a.f(), lambda: setattr(a, "__class__", B)


def isinstance_class_change_read():
    class A:
        pass

    class B:
        pass

    a = A()
    return lambda: w if isinstance(a, A) else w * 2, lambda: setattr(a, "__class__", B)


def callable_read():
    h = [3]
    return lambda: w if callable(h[0]) else w * 2, lambda: h.__setitem__(0, len)


def type_eq_read():
    h = [3]
    return lambda: w if type(h[0]) is int else w * 2, lambda: h.__setitem__(0, 3.0)


def code_swap_read():
    def f():
        return 1.0

    def g():
        return 2.0

    return lambda: w * f(), lambda: setattr(f, "__code__", g.__code__)


def dunder_name_read():
    def f():
        return 1.0

    return lambda: w if f.__name__ == "f" else w * 2, lambda: setattr(f, "__name__", "g")


def fn_attr_read():
    def f():
        return 1.0

    f.k = 1.0
    return lambda: w * f.k, lambda: setattr(f, "k", 2.0)


def fn_attr_getattr_read():
    def f():
        return 1.0

    return lambda: w * getattr(f, "k", 1.0), lambda: setattr(f, "k", 2.0)


def meta_attr_read():
    class M(type):
        k = 1.0

    class A(metaclass=M):
        pass

    return lambda: w * A.k, lambda: setattr(M, "k", 2.0)


def meta_prop_read():
    class M(type):
        @property
        def k(cls):
            return cls._k

    class A(metaclass=M):
        _k = 1.0

    return lambda: w * A.k, lambda: setattr(A, "_k", 2.0)


def class_getitem_read():
    class A:
        k = {"a": 1.0}

        def __class_getitem__(cls, n):
            return cls.k[n]

    return lambda: w * A["a"], lambda: A.k.update(a=2.0)


def mro_base_added_read():
    class B:
        k = 1.0

    class A(B):
        pass

    a = A()
    return lambda: w * a.k, lambda: setattr(B, "k", 2.0)


def nested_fn_default_read():
    k = [2.0]

    def step():
        def f(x, s=k[0]):
            return x * s

        return f(w)

    return step, lambda: k.__setitem__(0, 3.0)


def cond_expr_chain_read():
    a = [None]
    b = {"k": 1.0}
    return lambda: w * (a[0] or b)["k"], lambda: b.update(k=2.0)


def cond_expr_chain2_read():
    a = [None]
    b = {"k": 1.0}
    return lambda: w * (a[0] or b)["k"], lambda: a.__setitem__(0, {"k": 3.0})


def ternary_obj_read():
    class Thing:
        def __init__(s, k):
            s.k = k

    p, q = Thing(1.0), Thing(2.0)
    flag = [True]
    return lambda: w * (p if flag[0] else q).k, lambda: setattr(p, "k", 5.0)


def compare_chain_read():
    a = [1.0, 2.0]
    return lambda: w if 0 < a[0] < a[1] else w * 2, lambda: a.__setitem__(0, 3.0)


def all_any_read():
    a = [True, True]
    return lambda: w if all(a) else w * 2, lambda: a.__setitem__(0, False)


def enumerate_obj_read():
    a = [1.0, 2.0]
    return lambda: sum(w * i * k for i, k in enumerate(a)), lambda: a.__setitem__(1, 3.0)


def reversed_read():
    a = [1.0, 2.0]

    def step():
        for k in reversed(a):
            return w * k

    return step, lambda: a.__setitem__(1, 3.0)


def itertools_chain_read():
    a = [1.0]
    b = [2.0]
    return lambda: sum(w * k for k in itertools.chain(a, b)), lambda: b.__setitem__(0, 3.0)


def chain_from_iterable_read():
    a = [[1.0], [2.0]]
    return lambda: sum(w * k for k in itertools.chain.from_iterable(a)), lambda: a[1].__setitem__(0, 3.0)


def copy_list_read():
    a = [[1.0]]
    return lambda: w * a.copy()[0][0], lambda: a[0].__setitem__(0, 3.0)


def list_ctor_read():
    a = [[1.0]]

    def step():
        b = list(a)
        return w * b[0][0]

    return step, lambda: a[0].__setitem__(0, 3.0)


def list_ctor_obj_read():
    class Thing:
        def __init__(s, k):
            s.k = k

    a = [Thing(1.0)]

    def step():
        b = list(a)
        return w * b[0].k

    return step, lambda: setattr(a[0], "k", 3.0)


def dict_ctor_read():
    a = {"k": 1.0}

    def step():
        b = dict(a, z=1)
        return w * b["k"]

    return step, lambda: a.update(k=3.0)


def dict_star_read():
    a = {"k": 1.0}

    def step():
        b = {**a, "z": 1}
        return w * b["k"]

    return step, lambda: a.update(k=3.0)


def dict_or_read():
    a = {"k": 1.0}

    def step():
        b = a | {"z": 1}
        return w * b["k"]

    return step, lambda: a.update(k=3.0)


def list_add_read():
    a = [1.0]

    def step():
        b = a + [2.0]
        return w * sum(b)

    return step, lambda: a.__setitem__(0, 3.0)


def list_mul_read():
    a = [1.0]

    def step():
        b = 2 * a
        return w * sum(b)

    return step, lambda: a.__setitem__(0, 3.0)


def deepcopy_read():
    a = [1.0]

    def step():
        b = copy.deepcopy(a)
        return w * sum(b)

    return step, lambda: a.__setitem__(0, 3.0)


def deepcopy_obj_read():
    class Thing:
        pass

    a = Thing()
    a.l = [1.0]

    def step():
        b = copy.deepcopy(a)
        return w * sum(b.l)

    return step, lambda: a.l.__setitem__(0, 3.0)


def deepcopy_net_read():
    net = nn.Linear(3, 3)

    def step():
        b = copy.deepcopy(net)
        return b(w)

    return step, lambda: setattr(net, "weight", nn.Parameter(gw.ones(3, 3)))


def state_dict_read():
    net = nn.Linear(3, 3)

    def step():
        return sum(v.sum() for v in net.state_dict().values())

    return step, lambda: setattr(net, "weight", nn.Parameter(gw.ones(3, 3)))


def functional_call_read():
    net = nn.Dropout(0.5)
    return lambda: gw.func.functional_call(net, {}, (w,)), lambda: net.eval()


def named_params_read():
    net = nn.Sequential(nn.Linear(3, 3))

    def step():
        return sum(p.sum() for n, p in net.named_parameters() if "weight" in n)

    return step, lambda: setattr(net[0], "weight", nn.Parameter(gw.ones(3, 3)))


def modules_iter_read():
    net = nn.Sequential(nn.Linear(3, 3))
    return lambda: w * sum(isinstance(m, nn.Linear) for m in net.modules()), lambda: net.append(nn.Linear(3, 3))


def children_attr_read():
    net = nn.Sequential(nn.Dropout(0.5))
    return lambda: w * sum(m.p for m in net.children()), lambda: setattr(net[0], "p", 0.1)


def getattr_module_param_read():
    net = nn.Linear(3, 3)
    return lambda: w @ getattr(net, "weight"), lambda: setattr(net, "weight", nn.Parameter(gw.ones(3, 3)))


def vars_module_read():
    net = nn.Linear(3, 3)
    return lambda: w @ vars(net)["_parameters"]["weight"], lambda: setattr(net, "weight", nn.Parameter(gw.ones(3, 3)))


def buffer_read():
    net = nn.Module()
    net.register_buffer("k", gw.ones(3))
    return lambda: w * net.k, lambda: setattr(net, "k", gw.ones(3) * 2)


def parametrized_read():
    class P(nn.Module):
        s = 1.0

        def forward(self, x):
            return x * self.s

    net = nn.Linear(3, 3)
    p = P()
    nn.utils.parametrize.register_parametrization(net, "weight", p)
    return lambda: net(w), lambda: setattr(p, "s", 2.0)


def requires_flag_numpy_bool_read():
    k = [np.True_]
    return lambda: w if k[0] else w * 2, lambda: k.__setitem__(0, np.False_)


def np_default_dtype_read():
    k = [np.float32]
    return lambda: w * float(np.zeros(1, k[0]).itemsize), lambda: k.__setitem__(0, np.float64)


def str_format_map_read():
    d = {"a": 1}
    t = {"1": 1.0}
    return lambda: w * t.get("{a}".format_map(d), 2.0), lambda: d.update(a=2)


def percent_read():
    d = {"a": 1}
    t = {"1": 1.0}
    return lambda: w * t.get("%(a)s" % d, 2.0), lambda: d.update(a=2)


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


def match_seq_read():
    p = [1.0, 2.0]

    def step():
        match p:
            case [a, b]:
                return w * a
            case _:
                return w

    return step, lambda: p.append(3.0)


def match_map_read():
    p = {"k": 1.0}

    def step():
        match p:
            case {"k": v}:
                return w * v
            case _:
                return w

    return step, lambda: p.update(k=2.0)


def match_map_missing_read():
    p = {}

    def step():
        match p:
            case {"k": v}:
                return w * v
            case _:
                return w

    return step, lambda: p.update(k=2.0)


def try_keyerror_read():
    p = {}

    def step():
        try:
            return w * p["k"]
        except KeyError:
            return w

    return step, lambda: p.update(k=2.0)


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


def try_name_read():
    def step():
        try:
            return w * NEVER_SET
        except NameError:
            return w

    def change():
        globals()["NEVER_SET"] = 2.0

    return step, change


def try_index_read():
    p = []

    def step():
        try:
            return w * p[0]
        except IndexError:
            return w

    return step, lambda: p.append(2.0)


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


def try_module_attr_read():
    def step():
        try:
            return w * MOD.never
        except AttributeError:
            return w

    return step, lambda: setattr(MOD, "never", 1.0)


def default_tensor_read():
    v = gw.ones(3)

    def f(x, v=v):
        return x * v

    return lambda: f(w), lambda: setattr(f, "__defaults__", (gw.ones(3),))


def numpy_fn_patched_read():
    m = types.SimpleNamespace(f=np.sum)
    return lambda: w * float(m.f(np.ones(2))), lambda: setattr(m, "f", np.prod)


def range_obj_read():
    r = [range(3)]
    return lambda: w * sum(r[0]), lambda: r.__setitem__(0, range(4))


def slice_obj_read():
    r = [slice(0, 1)]
    return lambda: w[r[0]].sum(), lambda: r.__setitem__(0, slice(0, 2))


def index_list_read():
    r = [0, 1]
    return lambda: w[r].sum(), lambda: r.__setitem__(0, 2)


def tuple_of_np_read():
    r = (np.array([0, 1]),)
    return lambda: w[r].sum(), lambda: r[0].__setitem__(0, 2)


def np_index_read():
    r = np.array([0, 1])
    return lambda: w[r].sum(), lambda: r.__setitem__(0, 2)


def obj_array_read():
    class Thing:
        def __init__(s):
            s.r = np.array([0, 1])

    o = Thing()
    return lambda: w[o.r].sum(), lambda: o.r.__setitem__(0, 2)


def kwdict_obj_read():
    o = {"negative_slope": 0.1}
    return lambda: F.leaky_relu(w, **o), lambda: o.update(negative_slope=0.3)


def shape_tuple_attr_read():
    class Thing:
        pass

    o = Thing()
    o.s = (3, 1)
    return lambda: w.reshape(o.s), lambda: setattr(o, "s", (1, 3))


def dtype_attr_read():
    class Thing:
        pass

    o = Thing()
    o.s = gw.float32
    return lambda: w.to(o.s), lambda: setattr(o, "s", gw.float64)


def device_attr_read():
    class Thing:
        pass

    o = Thing()
    o.s = "cpu"
    return lambda: w.to(o.s), lambda: setattr(o, "s", None)


def lr_tensor_read():
    o, step = training(gw.optim.SGD, lr=gw.tensor(0.1))
    return step, lambda: o.param_groups[0].__setitem__("lr", gw.tensor(0.2))


def user_opt_lr_read():
    class Opt(gw.optim.Optimizer):
        def __init__(self, p):
            super().__init__(p, {"lr": 0.1})

        @gw.no_grad()
        def step(self):
            for g in self.param_groups:
                for p in g["params"]:
                    p -= p.grad * g["lr"]

    o, step = training(Opt)
    return step, lambda: o.param_groups[0].__setitem__("lr", 0.2)


def opt_defaults_differentiable_read():
    o, step = training()
    return step, lambda: o.defaults.__setitem__("differentiable", True)


def scheduler_read_read():
    p = gw.ones(3, requires_grad=True)
    o = gw.optim.SGD([p], lr=0.1)
    s = gw.optim.lr_scheduler.StepLR(o, 1)

    def change():
        o.step()
        s.step()

    return lambda: w * o.param_groups[0]["lr"], change


def singledispatch_registered_later():
    @functools.singledispatch
    def scale(x, y):
        return y * 2

    scale.register(int, lambda x, y: y)
    return lambda: scale(1.0, w), lambda: scale.register(float, lambda x, y: y * 3)


def singledispatchmethod_registered_later():
    class Scale:
        @functools.singledispatchmethod
        def by(self, x, y):
            return y * 2

    one = Scale()
    return lambda: one.by(1.0, w), lambda: vars(Scale)["by"].register(float, lambda self, x, y: y * 3)


def values_by_class():
    class A:
        """One key."""

    class B:
        """Another."""

    both = [2.0]
    held = {A: both, B: both}
    return lambda: w * sum(v[0] for v in held.values()), lambda: held.update({A: [5.0]})


def function_of_a_library_exchanged(monkeypatch):
    return lambda: F.relu(w), lambda: monkeypatch.setattr(F, "relu", lambda x: x * 2)


def method_of_a_tensor_exchanged(monkeypatch):
    return lambda: w.sin(), lambda: monkeypatch.setattr(gw.Tensor, "sin", lambda x: x * 2)


def function_of_python_exchanged(monkeypatch):
    return lambda: w * math.sqrt(4.0), lambda: monkeypatch.setattr(math, "sqrt", lambda x: 3.0)


def forward_of_a_layer_exchanged(monkeypatch):
    net = nn.Sequential(nn.Linear(3, 3))
    return lambda: net(w), lambda: monkeypatch.setattr(nn.Linear, "forward", lambda self, x: x * 2)


def step_of_an_optimiser_exchanged(monkeypatch):
    v = gw.ones(3, requires_grad=True)
    optimizer = gw.optim.SGD([v], lr=0.1)
    return lambda: optimizer.step(), lambda: monkeypatch.setattr(gw.optim.SGD, "step", lambda self: None)


def abstract_class_registered_later():
    class Shape(abc.ABC):
        """Which others are registered with."""

    class Square:
        """One of them."""

    one = Square()
    return lambda: w * 2 if isinstance(one, Shape) else w * 3, lambda: Shape.register(Square)


def attribute_by_text():
    one, which = types.SimpleNamespace(a0=1.0), [0]
    return lambda: w * getattr(one, f"a{which[0]}"), lambda: setattr(one, "a0", 2.0)


def attribute_by_formatted_text():
    one = types.SimpleNamespace(a0=1.0, b0=2.0)
    return lambda: w * getattr(one, "a%d" % 0) * getattr(one, "b{}".format(0)), lambda: setattr(one, "b0", 3.0)  # noqa: UP031, UP032


def module_exchanged(monkeypatch):
    monkeypatch.setitem(sys.modules, "mod_for_test_again", AGAIN)
    AGAIN.scale = 2.0
    other = types.ModuleType("mod_for_test_again")
    other.scale = 3.0  # type: ignore[attr-defined]

    def step():
        import mod_for_test_again  # noqa: PLC0415

        return w * mod_for_test_again.scale

    return step, lambda: monkeypatch.setitem(sys.modules, "mod_for_test_again", other)
