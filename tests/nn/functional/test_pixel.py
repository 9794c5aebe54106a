"""Channels and pixels."""

import numpy as np
import pytest

X = np.random.default_rng(0).standard_normal((2, 12, 4, 6))


def test_agree_with_torch(agree):
    for call in (
        lambda F, x: F.pixel_shuffle(x, 2),
        lambda F, x: F.pixel_unshuffle(x[0], 2),
        lambda F, x: F.channel_shuffle(x, 3),
    ):
        agree(lambda lib, x, f=call: f(lib.nn.functional, x), X)


def test_unshuffling_undoes_shuffling(lib):
    F, x = lib.nn.functional, lib.tensor(X)
    assert (F.pixel_unshuffle(F.pixel_shuffle(x, 2), 2) == x).all()
    assert (F.channel_shuffle(F.channel_shuffle(x, 3), 4) == x).all()


@pytest.mark.parametrize("call", [
    lambda F, x: F.pixel_shuffle(x, 5), lambda F, x: F.pixel_shuffle(x, 0), lambda F, x: F.pixel_shuffle(x[0, 0], 2),
    lambda F, x: F.pixel_unshuffle(x, 4), lambda F, x: F.pixel_unshuffle(x, 3), lambda F, x: F.channel_shuffle(x, 5),
    lambda F, x: F.channel_shuffle(x, 0), lambda F, x: F.channel_shuffle(x[0, 0], 2),
])  # fmt: skip
def test_refuses(lib, call):
    with pytest.raises(RuntimeError):
        call(lib.nn.functional, lib.tensor(X))


@pytest.mark.parametrize("name", ["pixel_shuffle", "pixel_unshuffle"])
def test_factors_of_another_type(lib, name):
    with pytest.raises(TypeError, match=rf"^{name}\(\): argument '(up|down)scale_factor' .*must be int, not float"):
        getattr(lib.nn.functional, name)(lib.ones(4, 2, 2), 2.0)
