"""Activations, rectifiers and softmax as modules: their values, gradients and how they print."""

import math

import pytest

import gradwright as gw
from tests.nn.module_cases import with_options

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


@pytest.mark.parametrize(("name", "args"), [
    ("GELU", ("tanh",)), ("Hardshrink", (1,)), ("Hardsigmoid", ()), ("Hardsigmoid", (True,)), ("Hardswish", (True,)),
    ("Mish", (True,)), ("SiLU", (True,)), ("Softshrink", (0.1,)), ("CELU", (2.0, True)), ("ELU", (0.5, True)),
    ("Hardtanh", (-2, 2.0, True)), ("LeakyReLU", (0.2, True)), ("PReLU", (3, 0.1)), ("RReLU", (0.1, 0.2)),
    ("RReLU", (0.1, 0.2, True)), ("ReLU6", (True,)), ("SELU", (True,)), ("Threshold", (0.1, -2, True)),
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


def test_softmax_along_a_dim(lib):
    x = lib.log(lib.tensor([[1.0, 3.0], [2.0, 8.0]], dtype=lib.float64))
    rows, columns = [0.25, 0.75, 0.2, 0.8], [1 / 3, 3 / 11, 2 / 3, 8 / 11]
    assert lib.nn.Softmax(dim=1)(x).flatten().tolist() == pytest.approx(rows, rel=1e-12)
    assert lib.nn.Softmax(0)(x).flatten().tolist() == pytest.approx(columns, rel=1e-12)
    logs = [math.log(r) for r in rows]
    assert lib.nn.LogSoftmax(dim=-1)(x).flatten().tolist() == pytest.approx(logs, rel=1e-12)


def test_softmax_gradients(lib):
    x = lib.log(lib.tensor([1.0, 3.0], dtype=lib.float64)).requires_grad_()
    g = lib.tensor([1.0, 0.0], dtype=lib.float64)
    assert lib.autograd.grad(lib.nn.Softmax(0)(x), x, g)[0].tolist() == pytest.approx([3 / 16, -3 / 16], rel=1e-12)
    assert lib.autograd.grad(lib.nn.LogSoftmax(0)(x), x, g)[0].tolist() == pytest.approx([0.75, -0.75], rel=1e-12)


def test_softmax_reprs_and_kinds(lib):
    assert repr(lib.nn.Softmax(dim=1)) == "Softmax(dim=1)"
    assert repr(lib.nn.LogSoftmax()) == "LogSoftmax(dim=None)"
    assert not isinstance(lib.nn.LogSoftmax(), lib.nn.Softmax)


def test_softmax_without_a_dim_warns(lib):
    with pytest.warns(UserWarning, match="^Implicit dimension choice for softmax has been deprecated"):
        assert lib.nn.Softmax()(lib.zeros(1, 2)).tolist() == [[0.5, 0.5]]


def test_softmin(lib):
    assert lib.nn.Softmin(dim=0)(lib.tensor([0.0, math.log(3.0)])).tolist() == pytest.approx([0.75, 0.25])


def test_channels(lib):
    m = lib.nn.Softmax2d()
    assert repr(m) == "Softmax2d()"
    assert m(lib.zeros(1, 4, 2, 3)).sum(1).tolist() == [[[1.0] * 3] * 2]
    assert m(lib.zeros(4, 2, 3))[0].tolist() == [[0.25] * 3] * 2
    with pytest.raises(ValueError, match="Softmax2d: expected input to be 3D or 4D, got 2D instead"):
        m(lib.zeros(2, 3))
