"""Normalisations."""

import numpy as np
import pytest

import gradwright as gw

draw = np.random.default_rng(0)
X, W, B = draw.standard_normal((3, 4, 5)) * 3 + 7, draw.standard_normal(4), draw.standard_normal(4)


def test_agree_with_torch(agree):
    calls = [
        lambda F, x, w, b: F.batch_norm(x, None, None, w, b, True),
        lambda F, x, w, b: F.instance_norm(x, None, None, w, b),
        lambda F, x, w, b: F.group_norm(x, 2, w, b),
        lambda F, x, w, b: F.layer_norm(x.transpose(1, 2), (4,), w, b),
        lambda F, x, w, b: F.layer_norm(x, (4, 5), eps=0.1),
        lambda F, x, w, b: F.rms_norm(x.transpose(1, 2), (4,), w),
        lambda F, x, w, b: F.rms_norm(x, (4, 5), eps=0.1),
        lambda F, x, w, b: F.normalize(x),
        lambda F, x, w, b: F.normalize(x, 3, -1),
    ]
    for call in calls:
        agree(lambda lib, *xs, f=call: f(lib.nn.functional, *xs), X, W, B, tolerance=1e-8)


@pytest.mark.parametrize("name", ["batch_norm", "instance_norm"])
def test_running_statistics(lib, name):
    f, x = getattr(lib.nn.functional, name), lib.tensor(X)
    mean, var = lib.zeros(4, dtype=lib.float64), lib.ones(4, dtype=lib.float64)
    f(x, mean, var, None, None, True, 0.3)
    axes = (0, 2) if name == "batch_norm" else 2
    spread = X.var(axes, ddof=1) if name == "batch_norm" else X.var(axes, ddof=1).mean(0)
    np.testing.assert_allclose(mean.numpy(), 0.3 * X.mean((0, 2)), 1e-12)
    np.testing.assert_allclose(var.numpy(), 0.7 + 0.3 * spread, 1e-12)
    y = f(x, mean, var, lib.tensor(W), lib.tensor(B), False)
    wanted = (X - mean.numpy()[:, None]) / np.sqrt(var.numpy() + 1e-5)[:, None] * W[:, None] + B[:, None]
    np.testing.assert_allclose(y.numpy(), wanted, 1e-12)


def test_far_from_zero():
    """The variance is of what is left without the mean."""
    x = gw.tensor(np.array([[1e4, 1e4 + 1, 1e4 + 2]], "f"))
    np.testing.assert_allclose(gw.nn.functional.layer_norm(x, (3,)).numpy(), [[-1.2247, 0, 1.2247]], 1e-3, 1e-3)


@pytest.mark.parametrize(("call", "kind"), [
    (lambda F, lib, x: F.batch_norm(x[:1, :, :1], None, None, training=True), ValueError),
    (lambda F, lib, x: F.batch_norm(x, None, None), RuntimeError),
    (lambda F, lib, x: F.batch_norm(x, lib.zeros(3), lib.ones(3)), RuntimeError),
    (lambda F, lib, x: F.batch_norm(x, None, None, training=True, eps=0.0), ValueError),
    (lambda F, lib, x: F.instance_norm(x[:, :, :1]), ValueError),
    (lambda F, lib, x: F.group_norm(x, 3), RuntimeError),
    (lambda F, lib, x: F.layer_norm(x, (4,)), RuntimeError),
    (lambda F, lib, x: F.layer_norm(x, ()), RuntimeError),
    (lambda F, lib, x: F.layer_norm(x, (5,), lib.ones(4)), RuntimeError),
    (lambda F, lib, x: F.rms_norm(x, (4,)), RuntimeError),
])  # fmt: skip
def test_refuses(lib, call, kind):
    with pytest.raises(kind):
        call(lib.nn.functional, lib, lib.zeros(3, 4, 5))


NORMS = {
    "BatchNorm1d": (4,), "InstanceNorm1d": (4, 1e-5, 0.1, True), "GroupNorm": (2, 4), "LayerNorm": (5,),
    "RMSNorm": (5,),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Mismatch dtype between input and weight")  # PyTorch, of RMSNorm
@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize("training", [False, True])
def test_half_precision_with_parameters_of_float32(lib, name, training):
    norm = getattr(lib.nn, name)(*NORMS[name]).train(training)
    x = lib.tensor(X, dtype=lib.float16, requires_grad=True)
    y = norm(x)
    y.sum().backward()
    assert (y.dtype, x.grad.dtype, norm.weight.grad.dtype) == (lib.float16, lib.float16, lib.float32)
    exact = getattr(gw.nn, name)(*NORMS[name], dtype=gw.float64).train(training)(gw.tensor(X))
    np.testing.assert_allclose(y.detach().numpy(), exact.detach().numpy(), 4e-3, 4e-3)


@pytest.mark.parametrize("name", [name for name in NORMS if name != "RMSNorm"])
@pytest.mark.parametrize(("given", "own", "due"), [
    ("float64", "float32", "all inputs must share same datatype"),
    ("float32", "float64", "expect parameter to have scalar type of Float"),
    ("float16", "float64", "expect parameter to have scalar type of Float"),
])  # fmt: skip
def test_other_dtypes_are_not_mixed(lib, name, given, own, due):
    norm, x = getattr(lib.nn, name)(*NORMS[name], dtype=getattr(lib, own)), lib.tensor(X, dtype=getattr(lib, given))
    with pytest.raises(RuntimeError, match=rf"^mixed dtype \(CPU\): {due}"):
        norm(x)


def test_running_statistics_that_require_grad():
    """PyTorch refuses them."""
    x, w = gw.tensor(X), gw.tensor(W)
    mean, var = gw.tensor(X.mean((0, 2)), requires_grad=True), gw.tensor(X.var((0, 2)), requires_grad=True)
    for f in (gw.nn.functional.batch_norm, gw.nn.functional.instance_norm):
        assert gw.autograd.gradcheck(lambda m, v, f=f: f(x, m, v, w, w, False), (mean, var))
