"""First values: exact where they are, their distribution where they are drawn, and what is refused."""

import math
import re
import warnings

import numpy as np
import pytest

import gradwright as gw

DEPRECATED = ("uniform", "normal", "constant", "eye", "dirac", "orthogonal", "sparse", "xavier_uniform",
              "xavier_normal", "kaiming_uniform", "kaiming_normal")  # fmt: skip


@pytest.fixture
def init(lib):
    lib.manual_seed(0)
    return lib.nn.init


def values(t):
    return np.asarray(t.detach().tolist())


# ---- exact ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("fill", "size", "expected"), [
    (lambda i, t: i.zeros_(t), (2,), [0, 0]),
    (lambda i, t: i.ones_(t), (2,), [1, 1]),
    (lambda i, t: i.constant_(t, 0.5), (2,), [0.5, 0.5]),
    (lambda i, t: i.eye_(t), (2, 3), [[1, 0, 0], [0, 1, 0]]),
    (lambda i, t: i.dirac_(t), (3, 2, 3), [[[0, 1, 0], [0, 0, 0]], [[0, 0, 0], [0, 1, 0]], [[0, 0, 0], [0, 0, 0]]]),
    (lambda i, t: i.dirac_(t, 2), (2, 3, 1), [[[1], [0], [0]], [[1], [0], [0]]]),
    (lambda i, t: i.dirac_(t), (1, 1, 2, 2), [[[[0, 0], [0, 1]]]]),
    (lambda i, t: i.dirac_(t), (1, 1, 2, 1, 2), [[[[[0, 0]], [[0, 1]]]]]),
])  # fmt: skip
def test_what_is_not_drawn(lib, init, fill, size, expected):
    t = lib.full(size, 7.0, requires_grad=True)
    assert fill(init, t) is t
    assert t.tolist() == expected
    assert t.is_leaf


@pytest.mark.parametrize("args", [
    *[(name,) for name in ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
                           "conv_transpose3d", "sigmoid", "tanh", "relu", "selu", "leaky_relu")],
    ("leaky_relu", 0.5), ("leaky_relu", 0), ("tanh", 3),
])  # fmt: skip
def test_gains(torch, args):
    assert gw.nn.init.calculate_gain(*args) == pytest.approx(torch.nn.init.calculate_gain(*args), rel=1e-15)


# ---- drawn ----------------------------------------------------------------------------------------------


UNIFORM, NORMAL = math.sqrt(1 / 3), 1.0
"""The standard deviation of each distribution in units of its bound, or scale."""


@pytest.mark.parametrize(("name", "args", "size", "low", "high", "std"), [
    ("uniform_", (2, 3), (4000,), 2, 3, UNIFORM / 2),
    ("normal_", (1, 2), (4000,), -9, 11, 2),
    ("trunc_normal_", (), (4000,), -2, 2, 0.8796),
    ("trunc_normal_", (1.0, 2.0, 1.0, 2.0), (4000,), 1, 2, 0.2883),
    ("xavier_uniform_", (2.0,), (40, 10, 5), -0.31, 0.31, 2 * math.sqrt(6 / 250) * UNIFORM),
    ("xavier_normal_", (2.0,), (40, 10, 5), -2, 2, 2 * math.sqrt(2 / 250)),
    ("kaiming_uniform_", (), (40, 10, 5), -0.3465, 0.3465, math.sqrt(2 / 50)),
    ("kaiming_uniform_", (1.0, "fan_out", "leaky_relu"), (40, 10, 5), -0.1225, 0.1225, math.sqrt(1 / 200)),
    ("kaiming_normal_", (0, "fan_out", "tanh"), (40, 10, 5), -2, 2, 5 / 3 * math.sqrt(1 / 200)),
    ("kaiming_normal_", (0, "FAN_IN", "selu"), (40, 10, 5), -2, 2, 3 / 4 * math.sqrt(1 / 50)),
])  # fmt: skip
def test_distributions(lib, init, name, args, size, low, high, std):
    t = lib.empty(size, requires_grad=True)
    assert getattr(init, name)(t, *args) is t
    drawn = values(t)
    assert low <= drawn.min() < drawn.max() <= high
    assert drawn.std() == pytest.approx(std, rel=0.08)
    t.sum().backward()  # filling it is not recorded


@pytest.mark.parametrize("size", [(4, 6), (6, 4), (3, 2, 2), (5, 5)])
def test_orthogonal(lib, init, size):
    m = values(init.orthogonal_(lib.empty(size, dtype=lib.float64), gain=2)).reshape(size[0], -1)
    small = m @ m.T if m.shape[0] <= m.shape[1] else m.T @ m
    assert np.allclose(small, 4 * np.eye(len(small)))


def test_orthogonal_matrices_are_drawn_uniformly(lib, init):
    corners = [init.orthogonal_(lib.empty(2, 2))[0, 0].item() for _ in range(300)]
    assert abs(np.mean(corners)) < 0.15


def test_sparse(lib, init):
    m = values(init.sparse_(lib.empty(10, 300), 0.25, std=2))
    assert ((m == 0).sum(0) == 3).all()
    assert m[m != 0].std() == pytest.approx(2, rel=0.1)
    assert len({tuple(column) for column in (m == 0).T}) > 50


@pytest.mark.parametrize("name", ["uniform_", "normal_", "trunc_normal_", "xavier_uniform_", "xavier_normal_",
                                  "kaiming_uniform_", "kaiming_normal_", "orthogonal_", "sparse_"])  # fmt: skip
def test_a_generator_draws(lib, init, name):
    if name == "sparse_" and lib is not gw:
        pytest.skip("there the zeros are drawn from the global generator")
    args = (0.5,) if name == "sparse_" else ()
    one, two = (getattr(init, name)(lib.empty(4, 4), *args, generator=lib.Generator().manual_seed(3)) for _ in "ab")
    assert one.tolist() == two.tolist()
    assert one.tolist() != getattr(init, name)(lib.empty(4, 4), *args).tolist()


# ---- refused --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda i, e: i.calculate_gain("x"), ValueError, "Unsupported nonlinearity x"),
    (lambda i, e: i.calculate_gain("leaky_relu", True), ValueError, "negative_slope True not a valid number"),
    (lambda i, e: i.calculate_gain("leaky_relu", "a"), ValueError, "negative_slope a not a valid number"),
    (lambda i, e: i.eye_(e(2)), ValueError, "Only tensors with 2 dimensions are supported"),
    (lambda i, e: i.dirac_(e(2, 2)), ValueError, "Only tensors with 3, 4, or 5 dimensions are supported"),
    (lambda i, e: i.dirac_(e(3, 2, 3), 2), ValueError, "dim 0 must be divisible by groups"),
    (lambda i, e: i.xavier_uniform_(e(3)), ValueError,
     "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"),
    (lambda i, e: i.kaiming_normal_(e(3, 3), mode="fan"), ValueError,
     "Mode fan not supported, please use one of ['fan_in', 'fan_out']"),
    (lambda i, e: i.kaiming_normal_(e(3, 3), nonlinearity="fan"), ValueError, "Unsupported nonlinearity fan"),
    (lambda i, e: i.orthogonal_(e(3)), ValueError, "Only tensors with 2 or more dimensions are supported"),
    (lambda i, e: i.sparse_(e(3), 0.1), ValueError, "Only tensors with 2 dimensions are supported"),
    (lambda i, e: i.uniform_(e(2), 2, 1), RuntimeError, "uniform_ expects to return a [from, to) range, but found"),
    (lambda i, e: i.trunc_normal_(e(2), a=2, b=1), RuntimeError, "uniform_ expects to return a [from, to) range"),
    (lambda i, e: i.normal_(e(2), 0, -1), RuntimeError, "normal expects std >= 0.0, but found std -1"),
])  # fmt: skip
def test_errors(lib, init, call, error, message):
    with pytest.raises(error, match=f"^{re.escape(message)}"):
        call(init, lib.empty)


@pytest.mark.parametrize(("call", "message"), [
    (lambda i, t: i.kaiming_uniform_(t(0, 3)), "Initializing zero-element tensors is a no-op"),
    (lambda i, t: i.trunc_normal_(t(3), mean=5.0), r"mean is more than 2 std from \[a, b\] in nn.init.trunc_normal_"),
])  # fmt: skip
def test_warnings(lib, init, call, message):
    with pytest.warns(UserWarning, match=message):
        call(init, lib.empty)


@pytest.mark.parametrize("name", DEPRECATED)
def test_old_names(lib, init, name):
    args = {"constant": (1,), "sparse": (0.5,)}.get(name, ())
    size = (2, 2, 2) if name == "dirac" else (2, 2)
    t = lib.empty(size)
    with pytest.warns(FutureWarning, match=f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`."):
        assert getattr(init, name)(t, *args) is t


def test_nothing_of_pytorch_is_missing(torch):
    names = {name for name in dir(torch.nn.init) if name.endswith("_") and not name.startswith("_")}
    assert {*names, *DEPRECATED, "calculate_gain"} <= set(dir(gw.nn.init))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gw.nn.init.xavier_uniform_(gw.empty(0, 3))
        gw.nn.init.orthogonal_(gw.empty(0, 3))
