"""Activations."""

import math

import numpy as np
import pytest

import gradwright as gw

X = np.array([[-2.0, -0.5, 0.0], [0.25, 1.0, 30.0]])


def test_values(lib):
    F, x = lib.nn.functional, lib.from_numpy(X)
    assert F.relu(x).tolist() == [[0, 0, 0], [0.25, 1, 30]]
    assert F.tanh(x)[1, 1].item() == pytest.approx(math.tanh(1), rel=1e-12)
    assert F.sigmoid(x)[0, 0].item() == pytest.approx(1 / (1 + math.e**2), rel=1e-12)
    assert F.softplus(x)[1].tolist() == pytest.approx([math.log1p(math.exp(0.25)), math.log1p(math.e), 30], rel=1e-12)
    bent = [math.log1p(math.exp(0.5)) / 2, 1, 30]
    assert F.softplus(x, beta=2, threshold=1)[1].tolist() == pytest.approx(bent, rel=1e-12)
    assert F.softmax(x, dim=1).sum(1).tolist() == pytest.approx([1, 1], rel=1e-12)
    assert F.log_softmax(x, dim=0)[1, 2].item() == pytest.approx(-math.log1p(math.exp(-30)), rel=1e-9)


def test_agree_with_torch(torch):
    calls = [
        lambda F, x: F.relu(x), lambda F, x: F.sigmoid(x), lambda F, x: F.tanh(x), lambda F, x: F.softplus(x, 3, 2),
        lambda F, x: F.softmax(x, -1), lambda F, x: F.softmax(x, 0), lambda F, x: F.log_softmax(x, 1),
        lambda F, x: F.mse_loss(x, x * x, reduction="none"), lambda F, x: F.mse_loss(x, x * x),
        lambda F, x: F.mse_loss(x, x * x, reduction="sum"), lambda F, x: F.linear(x, x, x[:, 0]),
        lambda F, x: F.linear(x, x),
    ]  # fmt: skip
    for k, call in enumerate(calls):
        found = []
        for lib in (gw, torch):
            x = lib.tensor(X, requires_grad=True)
            y = call(lib.nn.functional, x)
            first, = lib.autograd.grad((y * y).sum(), x, create_graph=True)
            second, = lib.autograd.grad((first * first).sum(), x)
            found.append([t.detach().numpy() for t in (y, first, second)])
        for mine, theirs in zip(*found, strict=True):
            np.testing.assert_allclose(mine, theirs, 1e-9, 1e-11, err_msg=f"call {k}")


def test_relu_in_place(lib):
    x = lib.tensor([-1.0, 1.0])
    assert lib.nn.functional.relu(x, inplace=True) is x
    assert x.tolist() == [0, 1]


@pytest.mark.parametrize("name", gw.nn.functional.activation.__all__)
def test_what_is_no_tensor(name):
    arguments = {"linear": (gw.ones(1, 1),), "prelu": (gw.ones(1),), "threshold": (0, 0), "threshold_": (0, 0),
                 **dict.fromkeys(("log_softmax", "softmax", "softmin"), (0,))}  # fmt: skip
    first = "logits" if name == "gumbel_softmax" else "input"
    message = rf"^{name.rstrip('_')}\(\): argument '{first}'( \(position 1\))? must be Tensor, not list: gradwright"
    with pytest.raises(TypeError, match=message):
        getattr(gw.nn.functional, name)([1.0], *arguments.get(name, ()))


SHAPES = ["relu", "relu6", "elu", "selu", "celu", "leaky_relu", "gelu", "silu", "mish", "hardswish", "hardsigmoid",
          "hardtanh", "hardshrink", "softshrink", "tanhshrink", "softsign", "softplus", "logsigmoid", "sigmoid",
          "tanh"]  # fmt: skip
KINKS = np.array([-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 6.0])


@pytest.mark.parametrize("name", SHAPES)
def test_kinks_and_far_out(torch, name):
    for dtype in (np.float32, np.float64):
        values = np.concatenate([KINKS, [-1000.0, -30.0, 30.0, 1000.0, -1e-6, 1e-6]]).astype(dtype)
        found = []
        for lib, as_ in ((gw, dtype), (torch, np.float64)):
            x = lib.tensor(values.astype(as_), requires_grad=True)
            y = getattr(lib.nn.functional, name)(x)
            y.sum().backward()
            found.append((y.detach().numpy(), x.grad.numpy()))
        exact = 1e-7 if name == "hardsigmoid" else 1e-12  # PyTorch's sixth is one of float32
        for mine, theirs in zip(*found, strict=True):
            tolerance = (exact, 1e-16) if dtype is np.float64 else (2e-6, 2e-7)
            np.testing.assert_allclose(mine, theirs, *tolerance)


@pytest.mark.parametrize("name", ["relu", "relu6", "elu", "selu", "celu", "leaky_relu", "rrelu", "silu", "mish",
                                  "hardswish", "hardsigmoid", "hardtanh"])  # fmt: skip
def test_in_place(lib, name):
    f, x = getattr(lib.nn.functional, name), lib.tensor([-1.0, 0.5, 7.0])
    wanted = f(x).tolist()
    assert f(x, inplace=True) is x
    assert x.tolist() == wanted
    with pytest.raises(RuntimeError):
        f(lib.ones(1, requires_grad=True), inplace=True)


def test_exact_near_zero():
    F, x = gw.nn.functional, np.array([-1e-6, -1e-12])
    np.testing.assert_allclose(F.elu(gw.tensor(x)).numpy(), np.expm1(x), 1e-15)
    np.testing.assert_allclose(F.elu(gw.tensor(x.astype("f"))).numpy(), np.expm1(x), 2e-7)
    small = np.linspace(-80, 0, 200).astype("f")
    np.testing.assert_allclose(F.logsigmoid(gw.tensor(-small)).numpy(), -np.log1p(np.exp(small.astype("d"))), 4e-7)
    np.testing.assert_allclose(F.softplus(gw.tensor(small)).numpy(), np.log1p(np.exp(small.astype("d"))), 8e-6)


def test_gelu_has_no_cancellation():
    special = pytest.importorskip("scipy.special")
    x = np.linspace(-9, 9, 1001)
    y = gw.nn.functional.gelu(gw.tensor(x.astype("f"))).numpy()
    np.testing.assert_allclose(y, x * special.ndtr(x.astype("f").astype("d")), 5e-6, 1e-18)
    assert gw.nn.functional.gelu(gw.tensor([math.inf])).item() == math.inf


def test_rrelu_draws_each_slope():
    gw.manual_seed(0)
    x = gw.full((1000,), -1.0, requires_grad=True)
    y = gw.nn.functional.rrelu(x, 0.2, 0.6, training=True)
    y.sum().backward()
    slopes = x.grad.numpy()
    assert (slopes == -y.detach().numpy()).all()
    assert 0.2 <= slopes.min() < 0.25 < 0.55 < slopes.max() < 0.6


@pytest.mark.parametrize(("call", "kind"), [
    (lambda F, lib: F.elu(lib.ones(2, dtype=lib.int64)), NotImplementedError),
    (lambda F, lib: F.relu6(lib.ones(2, dtype=lib.bool)), RuntimeError),
    (lambda F, lib: F.glu(lib.ones(3)), RuntimeError),
    (lambda F, lib: F.glu(lib.ones(())), RuntimeError),
    (lambda F, lib: F.gelu(lib.ones(2), approximate="no"), RuntimeError),
    (lambda F, lib: F.softshrink(lib.ones(2), -1.0), RuntimeError),
    (lambda F, lib: F.hardtanh(lib.ones(2), 1.0, -1.0), ValueError),
    (lambda F, lib: F.rrelu(lib.ones(2), 0.5, 0.1), RuntimeError),
    (lambda F, lib: F.celu(lib.ones(2), 0.0), RuntimeError),
])  # fmt: skip
def test_refuses(lib, call, kind):
    with pytest.raises(kind):
        call(lib.nn.functional, lib)


def test_whole_numbers(lib):
    F, x = lib.nn.functional, lib.tensor([-2, 3, 9])
    assert F.relu6(x).tolist() == [0, 3, 6]
    assert F.hardtanh(x, -1.5, 4.5).tolist() == [-1, 3, 4]
    assert F.threshold(x, 3, 1).tolist() == [1, 1, 9]
    assert F.hardtanh(x).dtype is lib.int64


def test_softmax_converts_first(lib):
    for f in (lib.nn.functional.softmax, lib.nn.functional.log_softmax):
        assert f(lib.tensor([1, 2]), dim=0, dtype=lib.float64).dtype is lib.float64


@pytest.mark.parametrize(("shape", "dim"), [((3,), 0), ((2, 3), 1), ((2, 3, 4), 0), ((2, 3, 2, 2), 1), ((), 0)])
def test_the_dim_that_is_taken_where_none_is_given(lib, shape, dim):
    x = lib.arange(float(math.prod(shape))).reshape(shape)
    for name in ("softmax", "log_softmax"):
        f = getattr(lib.nn.functional, name)
        with pytest.warns(UserWarning, match=f"^Implicit dimension choice for {name} has been deprecated"):
            implicit = f(x)
        assert implicit.tolist() == f(x, dim=dim).tolist()


def test_a_dim_out_of_range(lib):
    with pytest.raises(IndexError, match="Dimension out of range"):
        lib.nn.functional.softmax(lib.ones(2), dim=1)


def test_gumbel_softmax():
    gw.manual_seed(0)
    odds = gw.tensor([0.7, 0.2, 0.1])
    hard = gw.nn.functional.gumbel_softmax(odds.log().expand(4000, 3), hard=True)
    assert set(hard.numpy().ravel()) == {0.0, 1.0}
    np.testing.assert_allclose(hard.mean(0).numpy(), odds.numpy(), atol=0.03)
    x = gw.zeros(2, 3, requires_grad=True)
    (gw.nn.functional.gumbel_softmax(x, tau=0.5, hard=True, dim=0)[0] + 1).square().sum().backward()
    assert (x.grad != 0).any()
