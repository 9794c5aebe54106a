"""What a traced run leaves: inputs, writes, gradients and results, each as an eager run would have it."""

from collections.abc import Callable
from typing import Any

import pytest

import gradwright as gw
from gradwright.compilation.compiled import CompileWarning
from gradwright.compilation.trace.record import record
from gradwright.compilation.trace.trace import Before, Trace
from gradwright.compilation.trace.traced import Untraceable


def resized(x: Any) -> Any:
    y = (x * 1.0).as_strided((3, 2), (1, 0))
    alias = y.detach()
    first = alias[0]
    alias.resize_((2, 3))
    return y, alias, first


def grown(x: Any) -> Any:
    y = (x * 1.0).detach()
    first = y[0]
    y.resize_((4, 3))
    y.add_(1.0)
    return y, first


def moved(x: Any) -> Any:
    y = (x * 2.0).detach()
    first = y[0]
    y.as_strided_((1, 3), (3, 1), 3)
    return y, first


def spread(x: Any) -> Any:
    y = gw.zeros(2, 3)
    y.set_(x.sum().detach().expand(2, 3))
    return y


def transposed(x: Any) -> Any:
    y = x * 2.0
    return y, y.t()[1:], y.detach()[:, ::2]


def told(f: Callable[..., Any]) -> list[Any]:
    found = []
    for k in range(4):
        got = f(gw.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0 + k]]))
        tensors = got if isinstance(got, tuple) else (got,)
        found.append([(t.tolist(), t.stride(), t.storage_offset()) for t in tensors])
    return found


@pytest.mark.parametrize("f", [resized, grown, moved, spread])
def test_what_a_call_cannot_make_so_stays_eager(f: Callable[..., Any]) -> None:
    compiled = gw.compile(f, backend="plan")
    with pytest.warns(CompileWarning, match="return a clone"):
        found = told(compiled)
    assert found == told(f)


def test_views_are_made_of_what_is_returned() -> None:
    compiled = gw.compile(transposed, backend="plan")
    assert told(compiled) == told(transposed)
    assert not compiled.programs.reason


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
