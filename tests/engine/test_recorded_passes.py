"""Nodes are told apart by the pass that recorded them."""

from typing import Any

import pytest

import gradwright as gw
from gradwright.engine import recorded_passes
from gradwright.engine.backward import walk


def grad(y: Any, x: Any) -> Any:
    return gw.autograd.grad(y.sum(), x, create_graph=True)[0]


def found(t: Any) -> dict[str, set[int]]:
    names: dict[str, set[int]] = {}
    for node in walk([t._node]):
        names.setdefault(type(node).__name__, set()).add(recorded_passes.order(node))
    return names


def test_forward_backward_and_double_backward() -> None:
    x = gw.tensor([1.0, 2.0], requires_grad=True)
    y = x.sin()
    assert set(map(recorded_passes.order, walk([y._node]))) == {1}
    first = grad(y, x)
    assert found(first) == {"MulBackward0": {2}, "CosBackward0": {2}, "AccumulateGrad": {1}}
    second = grad(first, x)
    assert recorded_passes.order(second._node) == 3
    assert recorded_passes.order(grad(second, x)._node) == 4
    assert recorded_passes.order(y._node) == 1


def test_what_is_computed_with_gradients_is_forward_again() -> None:
    x = gw.tensor([1.0, 2.0], requires_grad=True)
    penalty = (grad(x.exp(), x) ** 2).sum()
    assert found(penalty)["SumBackward0"] == {1}
    assert found(penalty)["MulBackward0"] == {2}
    assert recorded_passes.order(grad(penalty, x)._node) == 3


def test_two_first_derivatives_are_both_first() -> None:
    x = gw.tensor([1.0, 2.0], requires_grad=True)
    a = grad(x.exp(), x)
    b = grad(x.sin(), x)
    assert recorded_passes.order(a._node) == recorded_passes.order(b._node) == 2


def test_a_pass_inside_a_hook_is_part_of_the_one_around_it() -> None:
    x = gw.tensor([1.0, 2.0], requires_grad=True)
    y = x.sin()
    inner = []
    y.register_hook(lambda g: inner.append(grad(x.exp(), x)))
    outer = grad(y * 2, x)
    assert recorded_passes.order(inner[0]._node) == recorded_passes.order(outer._node) == 2
    assert recorded_passes.order((x * 2)._node) == 1


def test_a_pass_that_fails_is_counted_too() -> None:
    x = gw.tensor([1.0, 2.0], requires_grad=True)
    y = x.sin()
    kept = []

    def fail(g: Any) -> None:
        kept.append(g * x)
        raise ArithmeticError

    y.register_hook(fail)
    with pytest.raises(ArithmeticError):
        grad(y, x)
    assert recorded_passes.order(kept[0]._node) == 2
    assert recorded_passes.order((x * 2)._node) == 1


def test_only_the_last_passes_are_kept(monkeypatch: Any) -> None:
    monkeypatch.setattr(recorded_passes, "REMEMBERED", 5)
    monkeypatch.setattr(recorded_passes, "_passes", [])
    x = gw.tensor([1.0, 2.0], requires_grad=True)
    made = [grad(x.sin(), x) for _ in range(12)]
    assert len(recorded_passes._passes) <= 10
    assert [recorded_passes.order(g._node) for g in made[-5:]] == [2] * 5


def test_an_ordinary_pass_is_not_noted(monkeypatch: Any) -> None:
    monkeypatch.setattr(recorded_passes, "_passes", [])
    x = gw.tensor([1.0, 2.0], requires_grad=True)
    x.sin().sum().backward()
    assert recorded_passes._passes == []
