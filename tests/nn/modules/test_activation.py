"""Activations as modules: their values, gradients and how they print."""

import math

import pytest

import gradwright as gw
from tests.nn.module_cases import run, with_options

E = math.e
SIGMOID = [1 / (1 + math.exp(-x)) for x in (-1.0, 0.0, 2.0)]
CASES = {  # name: the module, its values at [-1, 0, 2], its slopes there for cotangents [1, 2, 3], its repr
    "ReLU": (lambda nn: nn.ReLU(), [0, 0, 2], [0, 0, 3], "ReLU()"),
    "Sigmoid": (lambda nn: nn.Sigmoid(), SIGMOID, [g * s * (1 - s) for g, s in zip((1, 2, 3), SIGMOID, strict=True)],
                "Sigmoid()"),
    "Tanh": (lambda nn: nn.Tanh(), [math.tanh(-1), 0, math.tanh(2)],
             [1 - math.tanh(-1) ** 2, 2, 3 * (1 - math.tanh(2) ** 2)], "Tanh()"),
    "Softplus": (lambda nn: nn.Softplus(), [math.log(1 + 1 / E), math.log(2), math.log(1 + E**2)],
                 [g * s for g, s in zip((1, 2, 3), SIGMOID, strict=True)], "Softplus(beta=1.0, threshold=20.0)"),
    "Softplus straight sooner": (lambda nn: nn.Softplus(beta=2, threshold=3.5),
                                 [math.log(1 + E**-2) / 2, math.log(2) / 2, 2], [1 / (1 + E**2), 1, 3],
                                 "Softplus(beta=2, threshold=3.5)"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_elementwise(lib, case):
    make, values, slopes, text = CASES[case]
    m = make(lib.nn)
    x = lib.tensor([-1.0, 0.0, 2.0], dtype=lib.float64, requires_grad=True)
    y = m(x)
    y.backward(lib.tensor([1.0, 2.0, 3.0], dtype=lib.float64))
    assert y.tolist() == pytest.approx(values, rel=1e-12)
    assert x.grad.tolist() == pytest.approx(slopes, rel=1e-12)
    assert repr(m) == text
    assert list(m.parameters()) == []


@pytest.mark.parametrize("case", CASES)
def test_derivatives_to_second_order(case):
    x = gw.tensor([-1.0, 0.5, 2.0], dtype=gw.float64, requires_grad=True)
    m = CASES[case][0](gw.nn)
    assert gw.autograd.gradcheck(m, x)
    assert gw.autograd.gradgradcheck(m, x)


NAMES = [
    "GELU", "GLU", "Hardshrink", "Hardswish", "LogSigmoid", "Mish", "Sigmoid", "SiLU", "Softplus", "Softshrink",
    "Softsign", "Tanh", "Tanhshrink",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_case_of_torch(torch, name):
    run(torch, f"nn.{name}")


@pytest.mark.parametrize(("name", "args"), [
    ("GELU", ("tanh",)), ("Hardshrink", (1,)), ("Hardsigmoid", ()), ("Hardsigmoid", (True,)), ("Hardswish", (True,)),
    ("Mish", (True,)), ("SiLU", (True,)), ("Softshrink", (0.1,)),
])  # fmt: skip
def test_options_and_reprs_are_those_of_torch(torch, name, args):
    with_options(torch, name, args)
