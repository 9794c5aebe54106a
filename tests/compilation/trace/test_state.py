"""Tensors are as they were after a run that is taken back."""

import gradwright as gw
from gradwright.compilation.trace.state import State, hooks_of, look


def test_all_is_as_it_was():
    w = gw.ones(2, requires_grad=True)
    first = w.register_hook(lambda g: g)
    state, before = State(w), look(w)
    w.register_hook(lambda g: -g)
    w.grad = gw.ones(2)
    with gw.no_grad():
        w.add_(0)
    assert look(w) != before
    state.restore()
    assert look(w) == before
    assert w.grad is None
    assert w._version == 0
    first.remove()  # handles know the hooks still
    assert hooks_of(w._node) == ()


def test_hooks_that_were_not_there_go():
    w = gw.ones(2, requires_grad=True)
    state = State(w)
    w.register_hook(lambda g: -g)
    state.restore()
    w.sum().backward()
    assert w.grad.tolist() == [1.0, 1.0]
