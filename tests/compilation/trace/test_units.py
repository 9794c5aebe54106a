"""Backward of a compiled step reads what an eager one would, where memory is written that no version tells of."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright.compilation.compiled import CompileWarning
from gradwright.compilation.trace.units import Setting, State, hooks_of, look, place, where_it_is_used


def test_hooks_are_as_they_were():
    w = gw.ones(2, requires_grad=True)
    first = w.register_hook(lambda g: g)
    state, before = State(w), look(w)
    w.register_hook(lambda g: -g)
    assert look(w) != before
    state.restore()
    assert look(w) == before
    first.remove()  # handles know the hooks still
    assert hooks_of(w._node) == ()


def test_hooks_that_were_not_there_go():
    w = gw.ones(2, requires_grad=True)
    state = State(w)
    w.register_hook(lambda g: -g)
    state.restore()
    w.sum().backward()
    assert w.grad.tolist() == [1.0, 1.0]


def test_places_of_numpys_arrays():
    x = np.ones((2, 3))
    assert place(x) == place(x[:])
    assert place(x) != place(x[1:])
    assert place(x) != place(x.T)


def test_numbers_are_used_where_the_parameters_are():
    found = where_it_is_used({"params": [gw.ones(2)], "lr": 0.1}, 0.1)
    assert isinstance(found, np.ndarray)
    assert where_it_is_used({}, 0.1) == found


def test_settings_that_are_read():
    options = {"lr": 0.1, "betas": (0.9, 0.99)}
    assert Setting(options, "lr", None, 0.1, None).read() == 0.1
    assert Setting(options, "betas", 1, 0.99, None).read() == 0.99
    options["lr"] = 0
    assert Setting(options, "lr", None, 0.1, None).read() is None


def alias_written(w: Any, x: Any) -> Any:
    alias, y = w.data, (w * x).sum()
    alias.add_(1.0)
    return gw.autograd.grad(y, x)[0]


def alias_saved(w: Any, x: Any) -> Any:
    y = (w.data[1:] * x[1:]).sum()
    with gw.no_grad():
        w.add_(1.0)
    return gw.autograd.grad(y, x)[0]


def set_saved(w: Any, x: Any) -> Any:
    other = gw.zeros(3)
    other.set_(w.detach())
    y = (other * x).sum()
    with gw.no_grad():
        w.add_(1.0)
    return gw.autograd.grad(y, x)[0]


def saved_by_name(w: Any, x: Any) -> Any:
    y = gw.einsum("i,i,i->", w.data, x, x)
    w.data.mul_(0.5)
    return gw.autograd.grad(y, x)[0]


def returned(w: Any, x: Any) -> Any:
    y = (w * x).sum()
    w.data.add_(1.0)
    return y


def calls(f: Callable[..., Any]) -> list[Any]:
    w, found = gw.tensor([1.0, 2.0, 3.0], requires_grad=True), []
    for k in range(4):
        x = gw.tensor([1.0, 1.0, 2.0 + k], requires_grad=True)
        y = f(w, x)
        if y.requires_grad:
            y.backward()
        found.append([y.tolist(), None if x.grad is None else x.grad.tolist(), w.tolist()])
    return found


@pytest.mark.filterwarnings("ignore:A tensor that was saved for backward has been written through .data")
@pytest.mark.parametrize("f", [alias_written, alias_saved, set_saved, saved_by_name, returned])
def test_what_backward_reads_of_overwritten_memory(f: Callable[..., Any]) -> None:
    compiled = gw.compile(f, backend="plan")
    with pytest.warns(CompileWarning, match="written since through .data"):
        found = calls(compiled)
    assert found == calls(f)


def test_parameters_written_by_data_between_passes() -> None:
    def fit(w: Any, x: Any) -> Any:
        for _ in range(3):
            w.grad = None
            ((w * x) ** 2).sum().backward(inputs=[w])
            w.data -= 0.1 * w.grad.data
        return w.detach().clone()

    compiled = gw.compile(fit, backend="plan")
    assert calls(compiled) == calls(fit)
    assert not compiled.programs.reason
