"""Pooling: what the database's samples leave out."""

import numpy as np
import pytest

import gradwright as gw

X = np.random.default_rng(0).permutation(2 * 3 * 7 * 6).reshape(2, 3, 7, 6) / 50 - 2


def test_agree_with_torch(agree):
    calls = [
        lambda F, x: F.max_pool2d(x, (3, 2), (2, 1), 1, (1, 2), True),
        lambda F, x: F.max_pool1d(x[0, :, :, 0], 3, 2, 1),
        lambda F, x: F.max_pool3d(x, 2, ceil_mode=True),
        lambda F, x: F.avg_pool2d(x, 3, 2, 1, True, False),
        lambda F, x: F.avg_pool2d(x, 3, 2, 1, True),
        lambda F, x: F.avg_pool2d(x, (2, 3), divisor_override=-5),
        lambda F, x: F.avg_pool3d(x, (1, 2, 2), (1, 2, 2)),
        lambda F, x: F.avg_pool1d(x[0, :, :, 0], 4, 2, 2, count_include_pad=False),
        lambda F, x: F.lp_pool2d(x.abs(), 3, 2),
        lambda F, x: F.lp_pool1d(x[0], float("inf"), 2),
        lambda F, x: F.adaptive_avg_pool2d(x, (3, None)),
        lambda F, x: F.adaptive_avg_pool2d(x, 1),
        lambda F, x: F.adaptive_max_pool2d(x, (3, 4)),
        lambda F, x: F.adaptive_max_pool2d(x, (7, 2)),
        lambda F, x: F.adaptive_avg_pool3d(x, (2, 9, 4)),
    ]
    for call in calls:
        agree(lambda lib, x, f=call: f(lib.nn.functional, x), X)


@pytest.mark.parametrize("call", [
    lambda F, x: F.max_pool2d(x, 3, 2, 1, return_indices=True),
    lambda F, x: F.max_pool2d_with_indices(x, 2),
    lambda F, x: F.adaptive_max_pool2d(x, 3, True),
    lambda F, x: F.adaptive_max_pool2d_with_indices(x, (7, 3)),
])  # fmt: skip
def test_places(torch, call):
    mine, theirs = (call(lib.nn.functional, lib.tensor(X)) for lib in (gw, torch))
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_fractional_windows(torch):
    u = np.random.default_rng(1).random((2, 3, 2))
    for size in ({"output_size": (3, 2)}, {"output_ratio": (0.5, 0.8)}, {"output_size": 1}):
        found = []
        for lib in (gw, torch):
            x = lib.tensor(X, requires_grad=True)
            y, places = lib.nn.functional.fractional_max_pool2d(
                x, (3, 2), **size, return_indices=True, _random_samples=lib.tensor(u)
            )
            (y * y).sum().backward()
            found.append([y.detach().numpy(), places.numpy(), x.grad.numpy()])
        for mine, theirs in zip(*found, strict=True):
            np.testing.assert_array_equal(mine, theirs)
    gw.manual_seed(0)
    assert gw.nn.functional.fractional_max_pool3d(gw.tensor(X), 2, output_size=(2, 3, 3)).shape == (2, 2, 3, 3)


def test_unpooling_undoes_pooling(lib):
    F, x = lib.nn.functional, lib.tensor(X)
    y, places = F.max_pool2d(x, 2, return_indices=True)
    back = F.max_unpool2d(y, places, 2, output_size=(7, 6))
    assert back.shape == x.shape
    assert F.max_pool2d(back.clamp(min=0), 2).tolist() == y.clamp(min=0).tolist()
    assert ((back == 0) | (back == x)).all()


def test_where_all_is_minus_infinity(lib):
    """A masked window passes its slope to an entry of the input, not of the padding."""
    x = lib.full((1, 4, 4), -float("inf"), requires_grad=True)
    y, places = lib.nn.functional.max_pool2d(x, 3, 2, 1, return_indices=True)
    y.sum().backward()
    assert x.grad.sum() == 4
    assert places.min() >= 0


def test_names(lib):
    F, x = lib.nn.functional, lib.ones(1, 4, 4, requires_grad=True)
    assert F.max_pool2d(x.unsqueeze(0), 2).grad_fn.name() == "MaxPool2DWithIndicesBackward0"
    assert F.avg_pool2d(x, 2).grad_fn.name() == "AvgPool2DBackward0"
    assert F.max_pool2d.__name__ in ("max_pool2d", "fn", "boolean_dispatch")


@pytest.mark.parametrize(("call", "kind"), [
    (lambda F, lib, x: F.max_pool2d(x, 2, padding=2), RuntimeError),
    (lambda F, lib, x: F.max_pool2d(x, 2, padding=-1), RuntimeError),
    (lambda F, lib, x: F.max_pool2d(x, 0), RuntimeError),
    (lambda F, lib, x: F.max_pool2d(x, 2, 0), RuntimeError),
    (lambda F, lib, x: F.max_pool2d(x, 8), RuntimeError),
    (lambda F, lib, x: F.max_pool2d(x, (2, 2, 2)), RuntimeError),
    (lambda F, lib, x: F.max_pool2d(x[0, 0], 2), RuntimeError),
    (lambda F, lib, x: F.max_pool2d(x[:, :0], 2), RuntimeError),
    (lambda F, lib, x: F.avg_pool2d(x, 2, divisor_override=0), RuntimeError),
    (lambda F, lib, x: F.max_unpool2d(x, x, 2), RuntimeError),
    (lambda F, lib, x: F.max_unpool2d(x, x.long()[0], 2), RuntimeError),
    (lambda F, lib, x: F.max_unpool2d(x, x.long() + 1000, 2), RuntimeError),
    (lambda F, lib, x: F.max_unpool2d(x, x.long(), 2, output_size=(3, 3)), ValueError),
    (lambda F, lib, x: F.adaptive_avg_pool2d(x, -1), RuntimeError),
    (lambda F, lib, x: F.adaptive_max_pool2d(x[0, 0], (2, 2)), ValueError),
    (lambda F, lib, x: F.fractional_max_pool2d(x, 2), ValueError),
    (lambda F, lib, x: F.fractional_max_pool2d(x, 2, output_size=7), RuntimeError),
])  # fmt: skip
def test_refuses(lib, call, kind):
    with pytest.raises(kind):
        call(lib.nn.functional, lib, lib.tensor(X))
