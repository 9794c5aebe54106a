"""Steps whose guards or refusals come from `gradwright.compilation.watch.values`."""

from __future__ import annotations

import sys
import types
from typing import Any

import pytest

import gradwright as gw
import gradwright.nn.functional as F
from tests.compilation.watch.seen import departure, refusals

w = gw.ones(3, requires_grad=True)
COUNT: Any = 0
SCALE: Any = 2.0
MOD: Any = types.ModuleType("mod_for_test")
MOD.scale = 3.0
sys.modules["mod_for_test"] = MOD
exec(
    "state = 0\ndef bump():\n    global state\n    state += 1\n    return state\ndef get():\n    return state + 1.0\n",
    vars(MOD),
)


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
def global_counter():
    def step():
        global COUNT
        COUNT += 1
        return w * COUNT

    return step


@effect
def nonlocal_counter():
    n = 0

    def step():
        nonlocal n
        n += 1
        return w * n

    return step


@effect
def other_module():
    def step():
        return w * MOD.bump()

    return step


@effect
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


@effect
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


@read
def closure_read():
    k = 2.0

    def step():
        return w * k

    def change():
        nonlocal k
        k = 3.0

    return step, change


@read
def closure_type_read():
    k = 1

    def step():
        return w * k

    def change():
        nonlocal k
        k = True

    return step, change


@read
def zero_read():
    k = 0.0

    def step():
        return w * k

    def change():
        nonlocal k
        k = -0.0

    return step, change


@read
def global_read():
    def step():
        return w * SCALE

    return step, setg("SCALE", 9.0)


@read
def default_arg_read():
    def f(x, k=2.0):
        return x * k

    def step():
        return f(w)

    return step, lambda: setattr(f, "__defaults__", (3.0,))


@read
def kwdefault_arg_read():
    def f(x, *, k=2.0):
        return x * k

    def step():
        return f(w)

    return step, lambda: f.__kwdefaults__.update(k=3.0)


@read
def default_list_read():
    def f(x, k=[2.0]):
        return x * k[0]

    def step():
        return f(w)

    return step, lambda: f.__defaults__[0].__setitem__(0, 3.0)


@read
def helper_closure_read():
    k = 2.0

    def f(x):
        return x * k

    def step():
        return f(w)

    def change():
        nonlocal k
        k = 3.0

    return step, change


@read
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


@read
def lambda_in_map_read():
    k = 2.0

    def step():
        return sum(map(lambda v: w * v * k, [1, 2]))

    def change():
        nonlocal k
        k = 3.0

    return step, change


@read
def c_called_closure_read():
    def make(k):
        def f(v):
            return v * k[0]

        return f

    a = [1.0]
    b = [2.0]
    fa, fb = make(a), make(b)

    def step():
        return w * sum(map(fa, [1])) + w * sum(map(fb, [1]))

    return step, lambda: b.__setitem__(0, 5.0)


@read
def module_global_read():
    def step():
        return w * MOD.get()

    return step, lambda: setattr(MOD, "state", 5)


@read
def builtin_shadow_read():
    def step():
        return w * len([1])

    return step, setg("len", lambda x: 5)


@read
def function_swap_read():
    f = F.relu

    def step():
        return f(w)

    def change():
        nonlocal f
        f = F.tanh

    return step, change


@read
def index_computed_read():
    d = [3.0, 1.0]
    i = 0

    def step():
        for j in range(1, 2):
            pass
        return w * d[j - 1 + i]

    return step, lambda: d.__setitem__(0, 0.5)


@read
def add_patch_read():
    class T:
        def __add__(self, o):
            return 1.0

    t = T()

    def step():
        return w * (t + 1)

    return step, lambda: setattr(T, "__add__", lambda s, o: 2.0)


@read
def eq_read():
    d = [3.0, 1.0]

    def step():
        return w if d == [3.0, 1.0] else w * 2

    return step, lambda: d.__setitem__(0, 0.5)


@read
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


@read
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


@read
def from_import_read():
    def step():
        from mod_for_test import scale

        return w * scale

    return step, lambda: setattr(MOD, "scale", 56.0)


@read
def cond_import_read():
    def step():
        import mod_for_test

        return w * mod_for_test.scale

    return step, lambda: setattr(MOD, "scale", 55.0)


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
    globals().pop("len", None)
    assert guard is not None, name


class Counts(gw.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", gw.tensor(0))
        self.last = gw.zeros(2)


def held():
    """Tensors in attributes, dictionaries and lists, and steps that set them."""
    net, kept, several = Counts(), {"a": gw.zeros(2)}, [gw.zeros(2), gw.ones(2)]

    def buffer(x):
        net.n += 1
        return x * net.n

    def attribute(x):
        net.last -= x
        return net.last * 2

    def element(x):
        kept["a"] += x
        for k in range(2):
            several[k] -= x * k
        return kept["a"] * several[1]

    def attribute_anew(x):
        net.last = (net.last + x).detach()
        return net.last * 2

    def element_anew(x):
        kept["a"] = kept["a"] * 0.5 + x
        return kept["a"] * 2

    def exchanged(x):
        kept["a"], net.last = net.last, kept["a"]
        kept["a"] += 1
        return kept["a"] * x

    steps = {f.__name__: f for f in (buffer, attribute, element, attribute_anew, element_anew, exchanged)}
    return steps, lambda: [t.tolist() for t in (net.n, net.last, kept["a"], *several)]


@pytest.mark.parametrize(("name", "compiles"), [
    ("buffer", True), ("attribute", True), ("element", True), ("attribute_anew", False), ("element_anew", False),
    ("exchanged", False),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_tensors_that_are_held_are_written_or_told(name, compiles):
    (steps, state), (others, expected) = held(), held()
    step = gw.compile(others[name], backend="plan")
    for k in range(6):
        x = gw.ones(2) * k
        assert step(x).tolist() == steps[name](x).tolist()
        assert expected() == state()
    assert compiles == (not step.programs.reason)
    assert compiles or "is another one after the step" in step.programs.reason
