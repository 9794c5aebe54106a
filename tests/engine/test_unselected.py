"""NaN through the side of `where` that is not taken; PyTorch's gradients are the same, and it says nothing."""

import warnings

import numpy as np
import pytest

import gradwright as gw
from gradwright.backends import strict as _strict  # noqa: F401 - its arrays are known then

WARNS = r"gradient of shape \[2\] has NaN, though the result is finite, and where\(\)"
PROGRAMS = {
    "sqrt": lambda T, x: T.where(x > 0, T.sqrt(x), 0.0),
    "deeper": lambda T, x: T.where(x > 0, (T.sqrt(x) * 2 + 1).exp(), x),
    "other side": lambda T, x: T.where(x <= 0, x, x.log()),
    "method": lambda T, x: x.sqrt().where(x > 0, T.zeros_like(x)),
    "masked_fill": lambda T, x: T.sqrt(x).masked_fill(x <= 0, 1.0),
    "division": lambda T, x: T.where(x != 0, T.sin(x) / x, 1.0),
    "power": lambda T, x: T.where(x > 0, x**0.5, 0.0) * 3,
    "norm": lambda T, x: T.where(x > 0, (x * x).sqrt(), 0.0),
}


def both_ways(T, f, x, how):
    if how == "backward":
        f(T, x).sum().backward()
        return x.grad
    if how == "inputs":
        f(T, x).sum().backward(inputs=[x])
        return x.grad
    return T.autograd.grad(f(T, x).sum(), x, create_graph=how == "recorded")[0]


@pytest.mark.parametrize("how", ["backward", "inputs", "grad", "recorded"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_said(T, name, how):
    x = T.tensor([0.0, 4.0], dtype=T.float64, requires_grad=True)
    with pytest.warns(gw.errors.GradientWarning, match=WARNS) if T is gw else warnings.catch_warnings():
        g = both_ways(T, PROGRAMS[name], x, how)
    assert np.isnan(g.detach().numpy()).tolist() == [True, False]


@pytest.mark.parametrize("how", ["backward", "inputs", "grad", "recorded"])
def test_nothing_is_said_of_what_is_right(how):
    inf = float("inf")
    safe = lambda T, x: T.where(x > 0, T.sqrt(T.where(x > 0, x, 1.0)), 0.0)
    programs = [
        (safe, [0.0, 4.0]),
        (PROGRAMS["sqrt"], [1.0, 4.0]),
        (lambda T, x: T.where(x > 0, T.sqrt(x), 0.0) * x, [inf, 4.0]),  # the result shows it
        (lambda T, x: (x * x).where(x > 0, x).masked_fill(x < 0, 0.0), [0.0, -4.0]),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for f, values in programs:
            both_ways(gw, f, gw.tensor(values, dtype=gw.float64, requires_grad=True), how)


def test_a_nan_without_where_is_not_told_of_later():
    x = gw.tensor([0.0, 4.0], requires_grad=True)
    with pytest.warns(gw.errors.GradientWarning, match=WARNS):
        PROGRAMS["sqrt"](gw, x).sum().backward()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (x.sqrt() * 0).sum().backward()  # no where on the way
        PROGRAMS["sqrt"](gw, gw.ones(2, requires_grad=True)).sum().backward()
        PROGRAMS["sqrt"](gw, x).backward(gw.tensor([float("nan"), 1.0]))  # it was given


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "complex128"])
def test_kinds_of_gradients(dtype):
    x = gw.tensor([0.0, 4.0], dtype=getattr(gw, dtype), requires_grad=True)
    with pytest.warns(gw.errors.GradientWarning, match=WARNS):
        gw.where(gw.tensor([False, True]), x.sqrt(), x * 0).abs().sum().backward()


def test_over_another_library():
    x = gw.tensor([0.0, 4.0], device="array-api-strict").requires_grad_()
    with pytest.warns(gw.errors.GradientWarning, match=WARNS):
        PROGRAMS["sqrt"](gw, x).sum().backward()


def test_strict():
    x = gw.tensor([0.0, 4.0], requires_grad=True)
    with gw.autograd.strict(True), pytest.raises(RuntimeError, match=WARNS):
        PROGRAMS["sqrt"](gw, x).sum().backward()
