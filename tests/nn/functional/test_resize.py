"""Interpolation."""

import numpy as np
import pytest

import gradwright as gw

X = np.random.default_rng(0).standard_normal((2, 3, 5, 7))
UNALIGNED = ("nearest", "nearest-exact", "area")


@pytest.mark.parametrize("mode", [*UNALIGNED, "bilinear", "bicubic"])
@pytest.mark.parametrize("size", [(8, 3), (1, 14), (5, 7)])
def test_agree_with_torch(agree, mode, size):
    for align in (None,) if mode in UNALIGNED else (False, True):
        agree(lambda lib, x, a=align: lib.nn.functional.interpolate(x, size, mode=mode, align_corners=a), X)


def test_factors_agree_with_torch(agree):
    for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "area"):
        for factor in (1.7, (0.6, 2.3)):
            for again in (None, True):
                agree(
                    lambda lib, x, m=mode, f=factor, r=again: lib.nn.functional.interpolate(
                        x, scale_factor=f, mode=m, recompute_scale_factor=r
                    ),
                    X,
                )


@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "lanczos"])
def test_antialias_agrees_with_torch(agree, mode):
    for size in ((2, 3), (9, 4)):
        agree(lambda lib, x, s=size: lib.nn.functional.interpolate(x, s, mode=mode, antialias=True), X, order=1)


def test_long_axes_agree_with_torch(agree):
    x = np.random.default_rng(0).standard_normal((1, 1, 300))
    for mode in ("linear", "nearest"):
        agree(lambda lib, x, m=mode: lib.nn.functional.interpolate(x, 450, mode=m), x)


def test_a_straight_line_stays_one():
    x = gw.arange(5.0).reshape(1, 1, 5)
    y = gw.nn.functional.interpolate(x, 9, mode="linear", align_corners=True)
    np.testing.assert_allclose(y.numpy().ravel(), np.arange(9) / 2)


def test_bytes(lib):
    x = lib.tensor([[[[0, 255], [100, 20]]]], dtype=lib.uint8)
    assert lib.nn.functional.interpolate(x, scale_factor=2).flatten().tolist()[:4] == [0, 0, 255, 255]
    assert gw.nn.functional.interpolate(gw.tensor(x.numpy()), 1, mode="bilinear").item() == 94


def test_old_names(lib):
    F, x = lib.nn.functional, lib.tensor(X)
    for name, mode in (("upsample", {}), ("upsample_nearest", {}),
                       ("upsample_bilinear", {"mode": "bilinear", "align_corners": True})):  # fmt: skip
        with pytest.warns(UserWarning, match=f"`nn.functional.{name}` is deprecated"):
            y = getattr(F, name)(x, scale_factor=2)
        assert (y == F.interpolate(x, scale_factor=2, **mode)).all()


@pytest.mark.parametrize(("given", "kind"), [
    ({}, ValueError), ({"size": 3, "scale_factor": 2.0}, ValueError), ({"size": (3, 3, 3)}, ValueError),
    ({"scale_factor": (2.0,)}, ValueError), ({"size": (2.5, 3)}, TypeError),
    ({"size": 3, "align_corners": True}, ValueError), ({"size": 3, "recompute_scale_factor": True}, ValueError),
    ({"size": 3, "antialias": True}, ValueError), ({"size": 3, "mode": "linear"}, NotImplementedError),
    ({"size": 3, "mode": "cubic"}, NotImplementedError), ({"size": 0}, RuntimeError),
    ({"size": 3, "mode": "lanczos"}, ValueError),
])  # fmt: skip
def test_refuses(lib, given, kind):
    with pytest.raises(kind):
        lib.nn.functional.interpolate(lib.tensor(X), **given)
