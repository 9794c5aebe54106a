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


@pytest.mark.parametrize("name", gw.nn.functional.activation.__all__)
def test_what_is_no_tensor(name):
    arguments = {"softmax": (0,), "log_softmax": (0,), "linear": (gw.ones(1, 1),)}
    with pytest.raises(TypeError, match=rf"^{name}\(\): argument 'input'( \(position 1\))? must be Tensor, not list$"):
        getattr(gw.nn.functional, name)([1.0], *arguments.get(name, ()))


def test_a_dim_out_of_range(lib):
    with pytest.raises(IndexError, match="Dimension out of range"):
        lib.nn.functional.softmax(lib.ones(2), dim=1)
