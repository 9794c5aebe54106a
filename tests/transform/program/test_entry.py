"""Which calls a program stands for, and what it does there."""

import pytest

import gradwright as gw
from gradwright.transform.program.entry import Entry
from gradwright.transform.program.interpreted import Interpreted
from gradwright.transform.program.tracing.record import record
from gradwright.transform.program.tracing.trace import Before, Trace


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
