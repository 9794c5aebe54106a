"""Control flow through which the stack is followed: nothing is refused, and what is read is guarded."""

from __future__ import annotations

import contextlib
import dis
import sys
from typing import Any

import pytest

import gradwright as gw
from gradwright.compilation.watch.stack import SIMPLE, handlers, steps
from tests.compilation.watch.seen import quiet

w = gw.ones(3, requires_grad=True)
STEPS: dict[str, Any] = {}


def step(function):
    STEPS[function.__name__] = function
    return function


@step
def raised_and_caught(k=2.0):
    try:
        raise ValueError("x")
    except (KeyError, ValueError) as error:
        k = len(error.args)
    else:
        k = 3
    finally:
        k += 1
    return w * k


@step
def raised_below():
    def deep(k):
        if k:
            return deep(k - 1)
        raise KeyError(k)

    for k in range(3):
        try:
            deep(k)
        except KeyError:
            continue
    return w * k


@step
def nested_handlers():
    try:
        try:
            {}["a"]
        except KeyError as error:
            raise ValueError from error
        finally:
            a = 1
    except ValueError:
        b = a + 1
    return w * b


@step
def suppressed():
    with contextlib.suppress(KeyError), contextlib.ExitStack() as stack:
        stack.enter_context(gw.no_grad())
        {}["a"]
    return w * 2


@step
def returned_from_with():
    with gw.no_grad(), contextlib.nullcontext(2.0) as k:
        return w * k


@step
def loops():
    total, n = 0, 10
    while True:
        n -= 1
        if n % 2:
            continue
        if n < 3:
            break
        total += n
    for a in range(3):
        for b in range(a):
            if b > 1:
                break
        else:
            total += 1
    return w * total


@step
def generators():
    def count(n):
        got = yield from range(n)
        for k in range(n):
            sent = yield k
            if sent:
                yield sent
        return got

    a = count(3)
    next(a)
    first = a.send(None)
    both = [*count(2)]
    x, *rest = count(3)
    return w * (first + sum(both) + x + len(rest))


@step
def comprehensions():
    a = [k for k in range(3) if k]
    b = {k: v for k, v in zip("ab", a, strict=True)}
    c = {k for k in a}
    d = sum(k * j for k in a for j in c)
    return w * (d + len(b))


@step
def conditions():
    a = 1 if w.ndim else 2
    b = (a and None) or 3
    c = not (1 < a < b <= 3)
    return w * (a + b + c)


@step
def unpacked():
    (a, b), *c = (1, 2), 3, 4
    a, b = b, a
    d = {"x": 1, "y": 2}
    f = [*c, *range(2)]
    s = f[1:3]
    f[0:1] = [7]
    del f[0], d["x"]
    return w * (a + b + sum(s) + len(d))


@step
def local_classes():
    class Scale:
        k = 2.0

        def __init__(self, more):
            self.more = more

        def __call__(self, x):
            return x * self.k * self.more

        def __enter__(self):
            self.more += 1
            return self

        def __exit__(self, *_):
            del self.more

    with Scale(1.0) as scale:
        return scale(w)


@step
def closures():
    n = 0

    def add(k):
        nonlocal n
        n += k
        return n

    fs = [add, lambda k: add(k) + n]
    return w * sum(f(1) for f in fs)


@step
def matched():
    match {"k": 1, "l": [1, 2, 3]}:
        case {"k": k, "l": [a, *b]} if k:
            return w * (a + len(b))
        case _:
            return w


@step
def texts():
    name = f"{1.5:>{8}.2f} {'a'!r} {w.shape}"
    return w * len("".join([name, name.upper(), "%d" % 3, str(4)]))


@pytest.mark.parametrize("name", STEPS)
def test_control_flow_is_followed(name):
    assert quiet(STEPS[name]).result is not None


def example(x):
    try:
        for k in range(3):
            x += k
    except ValueError as error:
        raise RuntimeError from error
    finally:
        x.done()
    return [x for _ in x]


def test_every_instruction_has_its_step():
    found = steps(example.__code__)
    for i in dis.get_instructions(example):
        if i.opname != "EXTENDED_ARG":
            assert (found[i.offset].name, found[i.offset].value) == (i.opname, i.argval)


def test_an_instruction_with_a_long_argument_begins_before_it():
    text = "def f(x):\n" + "".join(f"    x.a{k}\n" for k in range(400))
    scope = {}
    exec(text, scope)  # noqa: S102 - the text is written here
    code = scope["f"].__code__
    long = [i.offset for i in dis.get_instructions(code) if i.opname == "EXTENDED_ARG"]
    assert long
    assert all(steps(code)[at].name == steps(code)[at].name for at in long)
    assert all(steps(code)[at].at > at for at in long)


def test_the_exception_table_is_that_of_dis():
    expected = [(e.start, e.end, e.target, e.depth, e.lasti) for e in dis.Bytecode(example).exception_entries]
    assert [tuple(h) for h in handlers(example.__code__)] == expected
    assert expected
