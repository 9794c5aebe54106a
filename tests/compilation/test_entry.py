"""Which calls a program stands for, and what it does there."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.compilation.entry import Entry
from gradwright.compilation.interpreted import Interpreted
from gradwright.compilation.trace.record import record
from gradwright.compilation.trace.trace import Before, Trace


def entry_of(function, *args):
    trace = Trace(Before(), set())
    with trace:
        for t in args:
            if isinstance(t, gw.Tensor):
                trace.adopt(t)
        result = function(*args)
    found = record(trace, result, args)
    trace.restore()
    return Entry(found, Interpreted(found.program), args)


def test_a_program_is_run_again():
    w = gw.zeros(2)
    entry = entry_of(lambda x: w.add_(x), gw.tensor([1.0, 2.0]))
    args = (gw.tensor([5.0, 6.0]),)
    out = entry.commit(entry.runner(entry.gather(args)), args, entry.gather(args))
    assert out is w
    assert w.tolist() == [5.0, 6.0]
    assert w._version == 1


w = gw.tensor([1.0, 2.0], requires_grad=True)


@pytest.mark.parametrize(("x", "what"), [
    (gw.zeros(3), "shape"),
    (gw.zeros(2, dtype=gw.float64), "dtype"),
    (gw.zeros(4)[::2], "strides"),
    (gw.zeros(2, requires_grad=True), "history 'leaf'"),
    (gw.zeros(2, requires_grad=True) * 1, "history 'made'"),
    (None, "None now"),
])  # fmt: skip
def test_an_argument_of_another_kind_is_noticed(x, what):
    entry = entry_of(lambda x: x * 2, gw.tensor([1.0, 2.0]))
    assert entry.gather((x,)) is None
    assert what in entry.moved((x,))


@pytest.mark.parametrize("value", [2.0, 1, True, "1.0", None])
def test_an_argument_that_is_no_tensor_is_a_part_of_the_program(value):
    x = gw.tensor([1.0])
    entry = entry_of(lambda x, k: x * k, x, 1.0)
    assert entry.gather((x, 1.0)) is not None
    assert entry.gather((x, value)) is None


def test_a_hook_that_comes_later_is_noticed():
    entry = entry_of(lambda x: (w * x).sum().backward(), gw.tensor([1.0, 1.0]))
    assert entry.gather((gw.tensor([1.0, 1.0]),)) is not None
    handle = w.register_hook(lambda g: g * 2)
    assert entry.gather((gw.tensor([1.0, 1.0]),)) is None
    handle.remove()


def test_written_memory_that_becomes_that_of_another_is_noticed():
    b = gw.zeros(4)
    entry = entry_of(lambda x: b.add_(x), gw.ones(4))
    assert entry.gather((gw.ones(4),)) is not None
    assert entry.gather((b.detach(),)) is None


class Scale:
    """Equal to every other one."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


def asked_whether_it_is_another_one():
    w = gw.tensor([1.0, 2.0])
    return (lambda x: x * 2 if x is w else x), lambda k: (w if k > 4 else gw.ones(2),)


def found_by_a_tensor_as_a_key():
    w, y = gw.tensor([1.0, 2.0]), gw.tensor([3.0, 4.0])
    factors = {w: 2.0, y: 3.0}
    return (lambda x: x * factors[x]), lambda k: (y if k > 4 else w,)


def a_gradient_that_is_read_too():
    w, y = gw.tensor([1.0, 2.0], requires_grad=True), gw.tensor([3.0, 4.0])
    w.grad = gw.tensor([5.0, 6.0])
    return (lambda g: w.grad * 10 + g), lambda k: (y if k > 4 else w.grad,)


def an_array_that_is_written():
    a = np.array([1.0, 2.0])

    def args(k):
        a[0] = 1.0 if k < 5 else 7.0
        return gw.ones(2), a

    return (lambda x, a: x * gw.tensor(a)), args


def equal_objects():
    return (lambda x, s: x * s.value), lambda k: (gw.ones(2), Scale(3.0 if k > 4 else 2.0))


def a_zero_of_another_sign():
    return (lambda x, c: x / c), lambda k: (gw.ones(2), np.float32(-0.0 if k > 4 else 0.0))


ARGUMENTS = [asked_whether_it_is_another_one, found_by_a_tensor_as_a_key, a_gradient_that_is_read_too,
             an_array_that_is_written, equal_objects, a_zero_of_another_sign]  # fmt: skip


@pytest.mark.parametrize("make", ARGUMENTS, ids=[f.__name__ for f in ARGUMENTS])
def test_another_argument_is_never_taken_for_the_traced_one(make):
    step, args = make()
    compiled = gw.compile(step, backend="plan")
    for k in range(7):
        given = args(k)
        assert compiled(*given).tolist() == step(*given).tolist()


def test_a_version_that_is_read_is_looked_at():
    w = gw.zeros(1)
    step = gw.compile(lambda x: x * w._version)
    for k in range(7):
        if k > 4:
            w.add_(1)
        assert step(gw.ones(1)).tolist() == [float(w._version)]
