"""Pooling to a size: what the database's samples leave out."""

import numpy as np
import pytest

import gradwright as gw

X = np.random.default_rng(0).permutation(2 * 3 * 7 * 6).reshape(2, 3, 7, 6) / 50 - 2


def test_agree_with_torch(agree):
    calls = [
        lambda F, x: F.adaptive_avg_pool2d(x, (3, None)),
        lambda F, x: F.adaptive_avg_pool2d(x, 1),
        lambda F, x: F.adaptive_max_pool2d(x, (3, 4)),
        lambda F, x: F.adaptive_max_pool2d(x, (7, 2)),
        lambda F, x: F.adaptive_avg_pool3d(x, (2, 9, 4)),
    ]
    for call in calls:
        agree(lambda lib, x, f=call: f(lib.nn.functional, x), X)


@pytest.mark.parametrize("call", [
    lambda F, x: F.adaptive_max_pool2d(x, 3, True),
    lambda F, x: F.adaptive_max_pool2d_with_indices(x, (7, 3)),
])
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


@pytest.mark.parametrize(("call", "kind"), [
    (lambda F, lib, x: F.adaptive_avg_pool2d(x, -1), RuntimeError),
    (lambda F, lib, x: F.adaptive_max_pool2d(x[0, 0], (2, 2)), ValueError),
    (lambda F, lib, x: F.fractional_max_pool2d(x, 2), ValueError),
    (lambda F, lib, x: F.fractional_max_pool2d(x, 2, output_size=7), RuntimeError),
])
def test_refuses(lib, call, kind):
    with pytest.raises(kind):
        call(lib.nn.functional, lib, lib.tensor(X))
