"""Steps whose guards or refusals come from `gradwright.compilation.watch.instructions`."""

from __future__ import annotations

import contextlib
import functools
import itertools
from typing import Any

import pytest

import gradwright as gw
from tests.compilation.watch.seen import departure, refusals

w = gw.ones(3, requires_grad=True)


EFFECTS: dict[str, Any] = {}


def effect(make):
    EFFECTS[make.__name__] = make
    return make


READS: dict[str, Any] = {}


def read(make):
    READS[make.__name__] = make
    return make


@effect
def iter_for():
    c = iter([1.0] * 100)

    def step():
        for k in c:
            return w * k

    return step


@effect
def zip_outside():
    c = itertools.count(1)

    def step():
        return sum(w * k for k, _ in zip(c, range(2)))

    return step


@effect
def cycle_enumerate():
    c = itertools.cycle([1.0, 2.0, 3.0])

    def step():
        for i, k in enumerate(c):
            return w * k

    return step


@effect
def unpack_star_gen():
    g = (k for k in [1.0, 2.0, 3.0, 4.0, 5.0])

    def step():
        a, *_ = g if True else []
        return w * a

    return step


@effect
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


@effect
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


@effect
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


@effect
def class_body_effect():
    n = []

    def step():
        class A:
            n.append(1)

        return w

    return step


@effect
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


@effect
def del_effect():
    n = []

    class A:
        def __del__(self):
            n.append(1)

    def step():
        A()
        return w

    return step


@effect
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


@effect
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


@effect
def hash_effect():
    n = []

    class A:
        def __hash__(self):
            n.append(1)
            return 1

    a = A()

    def step():
        return {a: 1} and w

    return step


@effect
def generator_step():
    def step():
        yield w

    return step


@read
def star_read():
    d = [1.0, 2.0]

    def f(*a):
        return a[1]

    def step():
        return w * f(*d)

    return step, lambda: d.__setitem__(1, 3.0)


@read
def kwstar_read():
    d = {"a": 1.0}

    def f(a):
        return a

    def step():
        return w * f(**d)

    return step, lambda: d.update(a=2.0)


@read
def truth_read():
    d = []

    def step():
        return w * 2 if d else w

    return step, lambda: d.append(1)


@read
def not_read():
    d = {}

    def step():
        return w * 2 if not d else w

    return step, lambda: d.update(a=1)


@read
def or_read():
    d = {}

    def step():
        return w if d or None else w * 2

    return step, lambda: d.update(a=1)


@read
def fstring_read():
    d = [3.0, 1.0]
    t = {"[3.0, 1.0]": 1.0}

    def step():
        return w * t.get(f"{d}", 2.0)

    return step, lambda: d.__setitem__(0, 0.5)


@read
def slice_read():
    d = [3.0, 1.0]

    def step():
        return w * sum(d[0:1])

    return step, lambda: d.__setitem__(0, 0.5)


@read
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


@read
def filter_attr_read():
    class T:
        def __init__(s, on):
            s.on = on

    ts = [T(1.0), T(2.0)]

    def step():
        return w * sum(t.on for t in filter(lambda t: t.on > 1, ts))

    return step, lambda: setattr(ts[1], "on", 5.0)


@read
def any_attr_read():
    class T:
        def __init__(s, on):
            s.on = on

    ts = [T(True), T(False)]

    def step():
        return w * 2 if all(t.on for t in ts) else w

    return step, lambda: setattr(ts[1], "on", True)


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
