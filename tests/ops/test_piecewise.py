from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright.backends import strict
from gradwright.ops import piecewise as p
from gradwright.testing import check_derivatives, check_passes, check_portable


def test_rounding() -> None:
    x = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5])
    assert p.round(x).tolist() == [-2.0, -2.0, -0.0, 0.0, 2.0, 2.0]
    assert p.trunc(x).tolist() == [-2.0, -1.0, -0.0, 0.0, 1.0, 2.0]


def test_nan_passes_through() -> None:
    x, one = np.array([np.nan]), np.array([1.0])
    for out in (p.maximum(x, one), p.minimum(one, x), p.relu(x), p.clip(x, min=0.0, max=1.0), p.abs(x)):
        assert np.isnan(out).all()


def test_what_where_does_not_choose_leaves_no_trace() -> None:
    x = gradwright.tensor([0.0, 4.0], requires_grad=True)
    root = p.where(x > 0, gradwright.sqrt(x), gradwright.zeros(2))
    assert root.tolist() == [0.0, 2.0]
    y = gradwright.tensor([float("nan"), 1.0], requires_grad=True)
    p.where(gradwright.tensor([False, True]), y, x).sum().backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([1.0, 0.0], [0.0, 1.0])


def test_whole_quotients() -> None:
    x, y = np.array([7, -7]), np.array([2, 2])
    assert p.floor_divide(x, y).tolist() == [3, -4]
    with pytest.raises(RuntimeError, match=r"floor_divide\(\): a whole number was divided by zero"):
        gradwright.tensor([1, 2]) // gradwright.tensor([1, 0])
    with pytest.raises(RuntimeError, match=r"remainder\(\): a whole number was divided by zero"):
        gradwright.tensor([1, 2]) % 0


def test_comparisons_carry_no_derivative() -> None:
    x = gradwright.ones(2, requires_grad=True)
    for out in (x == x, x != x, x < x, x <= x, x > x, x >= x, gradwright.isnan(x)):
        assert not out.requires_grad
        assert out.dtype is gradwright.bool


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64"])
def test_isclose_of_whole_numbers_needs_the_standard_only(dtype: str) -> None:
    strict = pytest.importorskip("array_api_strict")
    x, y = (strict.asarray(v, dtype=getattr(strict, dtype)) for v in ([0, 1, 1], [1, 1, 0]))
    for atol, close in ((0.0, [False, True, False]), (0.5, [False, True, False]), (1.0, [True] * 3)):
        found = p.isclose.forward(strict, x, y, rtol=0.0, atol=atol, equal_nan=False)
        assert [bool(v) for v in found] == close


SWITCHES = {
    "relu": lambda T, x: x.relu(),
    "relu6": lambda T, x: T.nn.functional.relu6(x),
    "leaky_relu": lambda T, x: T.nn.functional.leaky_relu(x, 0.2),
    "prelu": lambda T, x: x.prelu(T.tensor([0.2], dtype=x.dtype)),
    "threshold": lambda T, x: T.nn.functional.threshold(x, 0.1, 3.0),
    "hardshrink": lambda T, x: x.hardshrink(0.3),
    "softshrink": lambda T, x: T.nn.functional.softshrink(x, 0.3),
    "max_pool1d": lambda T, x: T.nn.functional.max_pool1d(x[None], 2),
    "max_pool2d": lambda T, x: T.nn.functional.max_pool2d(x[None, None], (1, 2)),
}


@pytest.mark.parametrize("name", SWITCHES)
def test_second_derivatives_of_switches_are_zeros_not_none(T: Any, leaf: Any, name: str) -> None:
    x = leaf([0.5, -0.2, 0.9, -0.7])
    (g,) = T.autograd.grad(SWITCHES[name](T, x).sum(), x, create_graph=True)
    assert g.requires_grad
    assert T.autograd.grad(g.sum(), x)[0].tolist() == [0.0] * 4


def test_a_gradient_penalty_reaches_every_parameter_of_a_net_of_relus(T: Any) -> None:
    T.manual_seed(0)  # not all of its units are switched off
    net = T.nn.Sequential(T.nn.Linear(3, 4), T.nn.ReLU(), T.nn.Linear(4, 1)).to(T.float64)
    x = T.ones(2, 3, dtype=T.float64, requires_grad=True)
    (g,) = T.autograd.grad(net(x).sum(), x, create_graph=True)
    (g.norm() - 1).pow(2).backward()
    assert net[0].bias.grad.tolist() == [0.0] * 4
    assert net[0].weight.grad.abs().sum() > 0
    assert x.grad.tolist() == [[0.0] * 3] * 2


def test_the_operation_of_switches_which_is_in_no_table() -> None:
    (sample,) = p.switched.samples
    check_derivatives(p.switched, sample, order=3)
    check_passes(p.switched, sample)
    check_portable(p.switched, sample, strict.namespace)
