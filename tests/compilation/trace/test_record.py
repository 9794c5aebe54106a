"""What a traced run leaves: inputs, writes, gradients and results, each as an eager run would have it."""

import pytest

import gradwright as gw
from gradwright.compilation.trace.record import record
from gradwright.compilation.trace.trace import Before, Trace
from gradwright.compilation.trace.untraceable import Untraceable


def recorded(function, *args):
    trace = Trace(Before(), set())
    try:
        with trace:
            for t in args:
                trace.adopt(t)
            result = function(*args)
        return record(trace, result, args)
    finally:
        trace.restore()


def test_inputs_know_where_they_are_read():
    w = gw.tensor([1.0], requires_grad=True)
    w.grad = gw.tensor([5.0])
    found = recorded(lambda x: (w * x).sum().backward(), gw.tensor([2.0]))
    assert [s.kind for s in found.sources] == ["argument", "tensor", "grad"]
    assert found.program.writes == [2]
    assert not found.outputs
    assert not found.grads


def test_a_new_gradient_is_made():
    w = gw.tensor([1.0], requires_grad=True)
    found = recorded(lambda x: (w * x).sum().backward(), gw.tensor([2.0]))
    assert [(t[1] is w, leaf) for t, leaf in found.grads] == [(True, ("made", 0))]


def test_writes_are_counted():
    w = gw.zeros(2)

    def step():
        w.add_(1)
        w.add_(1)

    found = recorded(step)
    assert [(t[1] is w, n) for t, n, _ in found.versions] == [(True, 2)]


def test_a_learning_rate_is_an_input():
    w = gw.tensor([1.0], requires_grad=True)
    w.grad = gw.tensor([1.0])
    optimizer = gw.optim.SGD([w], lr=0.5)
    found = recorded(optimizer.step)
    assert [s.what() for s in found.sources if s.kind == "setting"] == ["the option 'lr' of an optimiser"]


x = gw.tensor([1.0, 2.0])


@gw.no_grad()
def quiet_view(t):
    return t[1:]


@pytest.mark.parametrize(("function", "why"), [
    (lambda: object(), "an object of object"),
    (lambda: x.data.requires_grad_(), "shows memory of another one"),
    (lambda: [y := (gw.ones(2, requires_grad=True) * x), y.retain_grad()], "gradient is retained"),
    (lambda: [w := gw.ones(2, requires_grad=True), w * 2], "keeps it and what depends on it"),
    (lambda: quiet_view(gw.ones(2, 2, requires_grad=True) * x)[0], "a history that its base has not"),
    (lambda: gw.nn.Parameter(x * 1), "makes a Parameter"),
])  # fmt: skip
def test_what_cannot_be_made_again_is_refused(function, why):
    with pytest.raises(Untraceable, match=why):
        recorded(function)


def test_a_write_beside_another_view_is_refused():
    base = gw.zeros(4)
    part = base[1:]

    def step():
        part.add_(1)
        return base * 1

    with pytest.raises(Untraceable, match="shows a part of the memory"):
        recorded(step)
    assert base.tolist() == [0, 0, 0, 0]


def test_a_view_is_recorded_as_its_steps():
    found = recorded(lambda: [x[1:], y := x * 2, y[0], y.detach(), x.detach()[:1]])
    leaves = [(kind, found.shown[k].how if kind == "shown" else k) for kind, k in found.result]
    assert leaves == [("shown", "grad"), ("made", 0), ("shown", "grad"), ("shown", "alias"), ("shown", "grad")]
