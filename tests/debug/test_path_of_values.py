"""Following a program: what it computed, where it was recorded, what it cut off. More in test_why.py."""

import gradwright as gw
from gradwright.debug.path_of_values import Trace, dropped, line, reaches
from tests.functions import function


def leaf(*values):
    return gw.tensor(values, dtype=gw.float64, requires_grad=True)


Twice = function("Twice", lambda ctx, x: x.exp() * 2, lambda ctx, g: None)


def test_events_and_lines():
    x = leaf(1.0)
    trace = Trace()

    def program():
        y = x * 3  # first
        return {"out": Twice.apply(y)}  # second

    (out,) = trace.of(program)
    assert [(e.name, e.recorded, [i.name for i in e.inside]) for e in trace.events] == [
        ("multiply", True, []), ("Twice", True, ["exp", "multiply"]),
    ]  # fmt: skip
    assert line(trace.lines[out._node]).endswith("# second")
    assert [line(e.place)[-7:] for e in trace.events] == ["# first", " second"]
    assert line(None) is None


def test_cuts_and_ways():
    x, y = leaf(1.0), leaf(2.0)
    trace = Trace()
    outputs = trace.of(lambda: (x.detach() * y, y.data * 2))
    assert not reaches(outputs, x._node)
    assert reaches(outputs, y._node)
    assert [how for how, _ in trace.cut_between(outputs, x._node)] == ["detach()"]
    assert [how for how, _ in trace.cut_between(outputs, y._node)] == [".data"]
    assert trace.cut_between(outputs, leaf(1.0)._node) == []


def test_only_what_left_for_numpy_can_come_back():
    x, y, z = leaf(1.0), leaf(2.0), leaf(3.0)
    trace = Trace()
    outputs = trace.of(lambda: gw.tensor((x * 2).numpy(force=True) + y.numpy(force=True)) * z)
    for t, how in ((x, "numpy()"), (y, "numpy()")):
        assert trace.cut_between(outputs, t._node)[0][0] == how
    assert not trace.cut_between(outputs, z._node)


def test_who_drops_a_gradient():
    x, y = leaf(1.0), leaf(1.0)
    out = Twice.apply(x) * y
    assert dropped([out], x._node) == [(out.grad_fn.next_functions[0][0], 0)]
    assert dropped([out], y._node) is None
    assert (x.grad, y.grad) == (None, None)


def test_retained_gradients_are_left_alone():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    assert dropped([y.sum()], x._node) is None
    assert y.grad is None
