"""Every word that is remembered is missed if it changes, and nothing else is."""

from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright.compilation import words
from gradwright.compilation.words import Words


@pytest.fixture(autouse=True)
def _ready(compiler: None) -> None:
    if not Words().held:
        pytest.skip("this Python's objects may change meanwhile")


def noted(t: Any, asks_for_grad: bool = True) -> Any:
    found = Words()
    found.tensor(t, None, asks_for_grad)
    assert found.held
    return found


CHANGES = {
    "array": lambda t: setattr(t, "array", t.array.copy()),
    "memory": lambda t: t.array.resize(4096, refcheck=False),
    "shape": lambda t: setattr(t.array, "shape", (3, 2)),
    "dtype": lambda t: setattr(t.array, "dtype", np.int64),
    "flags": lambda t: setattr(t.array.flags, "writeable", False),
    "node": lambda t: t.requires_grad_(False),
    "hooks": lambda t: t.register_hook(lambda g: g),
    "grad": lambda t: setattr(t, "_grad", gw.ones(2, 3)),
    "class": lambda t: setattr(t, "__class__", gw.nn.Parameter),
    "view": lambda t: setattr(t, "_view", 0),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_is_noticed(change: Any) -> None:
    t = gw.tensor(np.arange(6.0).reshape(2, 3), requires_grad=True)
    found = noted(t)
    differs = found.question()
    t.array[...] = 7  # values are no part of it
    t._counter[0] += 1
    assert differs() == 0
    change(t)
    assert differs() != 0


def test_whether_there_is_a_grad_matters_if_it_is_asked_for() -> None:
    t = gw.ones(3, requires_grad=True)
    asking, other = noted(t), noted(t, asks_for_grad=False)
    asked, unasked = asking.question(), other.question()
    t.grad = gw.ones(3)
    assert asked() != 0 == unasked()
    asking = noted(t)
    asked = asking.question()
    t.grad = gw.zeros(3)
    assert asked() == 0
    t.grad = None
    assert asked() != 0


def test_the_grad_of_another_is_followed() -> None:
    t = gw.ones(3, requires_grad=True)
    t.grad = gw.ones(3)
    found = Words()
    found.tensor(t.grad, t, False)
    differs = found.question()
    assert differs() == 0
    t.grad = gw.ones(3)
    assert differs() != 0


@pytest.mark.parametrize("t", [gw.ones(4)[1:], gw.ones(3).mul(2).sum()], ids=["a view", "a number"])
def test_what_is_read_anew_is_not_remembered(t: Any) -> None:
    found = Words()
    found.tensor(t, None, False)
    assert found.held is (t._view is None and isinstance(t.array, np.ndarray))


def test_where_memory_lies_otherwise_nothing_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "_TYPE", words._TYPE + 8)
    assert words._slots() is None
