"""Rectifiers as modules."""

import pytest

import gradwright as gw
from tests.nn.module_cases import run, with_options

NAMES = ["CELU", "ELU", "Hardtanh", "LeakyReLU", "PReLU", "ReLU", "ReLU6", "SELU", "Threshold"]


@pytest.mark.parametrize("name", NAMES)
def test_every_case_of_torch(torch, name):
    run(torch, f"nn.{name}")


@pytest.mark.parametrize(("name", "args"), [
    ("CELU", (2.0, True)), ("ELU", (0.5, True)), ("Hardtanh", (-2, 2.0, True)), ("LeakyReLU", (0.2, True)),
    ("PReLU", (3, 0.1)), ("RReLU", (0.1, 0.2)), ("RReLU", (0.1, 0.2, True)), ("ReLU6", (True,)), ("SELU", (True,)),
    ("Threshold", (0.1, -2, True)),
])  # fmt: skip
def test_options_and_reprs_are_those_of_torch(torch, name, args):
    with_options(torch, name, args)


def test_relu_in_place(lib):
    m = lib.nn.ReLU(inplace=True)
    assert repr(m) == "ReLU(inplace=True)"
    x = lib.tensor([-1.0, 2.0], requires_grad=True)
    y = x * 1
    assert m(y) is y
    assert y.tolist() == [0, 2]
    y.sum().backward()
    assert x.grad.tolist() == [0, 1]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        m(x)
    assert x.tolist() == [-1, 2]


def test_random_slopes_in_training():
    gw.manual_seed(0)
    m = gw.nn.RReLU(0.2, 0.3)
    x = gw.full((1000,), -1.0)
    assert 0.2 <= -m(x).max().item() < 0.21
    assert 0.29 < -m(x).min().item() < 0.3
    assert len(set(m(x).tolist())) > 900
    assert m(-x).tolist() == (-x).tolist()


def test_hardtanh_bounds(lib):
    with pytest.warns(FutureWarning, match="keyword argument `min_value` is deprecated and renamed to `min_val`"):
        assert lib.nn.Hardtanh(min_value=-3.0).min_val == -3.0
    with pytest.raises(AssertionError, match=r"max_val \(1.0\) must be greater than min_val \(2.0\)"):
        lib.nn.Hardtanh(2.0)
    assert issubclass(lib.nn.ReLU6, lib.nn.Hardtanh)


def test_prelu_has_a_weight_for_each_channel(lib):
    m = lib.nn.PReLU(2, 0.5)
    y = m(lib.tensor([[-1.0, -2.0]]))
    assert y.tolist() == [[-0.5, -1.0]]
    y.sum().backward()
    assert m.weight.grad.tolist() == [-1.0, -2.0]
    with pytest.raises(RuntimeError, match=r"[Mm]ismatch of parameter numbers and input channel size"):
        m(lib.ones(1, 3))
