"""Sampling at the points of a grid."""

import itertools

import numpy as np
import pytest

import gradwright as gw

draw = np.random.default_rng(0)
X, GRID = draw.standard_normal((2, 3, 5, 4)), draw.uniform(-1.6, 1.6, (2, 3, 4, 2))
VOLUME, POINTS = draw.standard_normal((2, 2, 3, 4, 3)), draw.uniform(-1.6, 1.6, (2, 2, 3, 1, 3))
PADDINGS = ("zeros", "border", "reflection")


def test_agree_with_torch(agree):
    for x, grid, modes in ((X, GRID, ("bilinear", "nearest", "bicubic")), (VOLUME, POINTS, ("bilinear", "nearest"))):
        for how in itertools.product(modes, PADDINGS, (False, True)):
            agree(lambda lib, x, g, how=how: lib.nn.functional.grid_sample(x, g, *how), x, grid, order=1)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_twice(mode):
    x, grid = gw.tensor(X[:1, :1], requires_grad=True), gw.tensor(GRID[:1, :1, :2], requires_grad=True)
    f = lambda x, g: gw.nn.functional.grid_sample(x, g, mode, align_corners=False)
    assert gw.autograd.gradcheck(f, (x, grid))
    assert gw.autograd.gradgradcheck(f, (x, grid))


def test_affine_grid(agree):
    flat, deep = draw.standard_normal((2, 2, 3)), draw.standard_normal((1, 3, 4))
    for align in (False, True):
        agree(lambda lib, t, a=align: lib.nn.functional.affine_grid(t, (2, 1, 3, 4), a), flat)
        agree(lambda lib, t, a=align: lib.nn.functional.affine_grid(t, (1, 1, 3, 4, 2), a), deep)


def test_the_identity_reads_the_image():
    theta = gw.tensor([[[1.0, 0, 0], [0, 1, 0]]], dtype=gw.float64)
    for align in (False, True):
        grid = gw.nn.functional.affine_grid(theta, (1, 3, 5, 4), align)
        y = gw.nn.functional.grid_sample(gw.tensor(X[:1]), grid, align_corners=align)
        np.testing.assert_allclose(y.numpy(), X[:1], 1e-12, 1e-12)


def test_warns_of_the_default(lib):
    with pytest.warns(UserWarning, match="Default grid_sample and affine_grid behavior has changed"):
        lib.nn.functional.grid_sample(lib.tensor(X), lib.tensor(GRID))


@pytest.mark.parametrize(("call", "kind"), [
    (lambda F, x, g: F.grid_sample(x, g, "linear", align_corners=False), ValueError),
    (lambda F, x, g: F.grid_sample(x, g, padding_mode="mirror", align_corners=False), ValueError),
    (lambda F, x, g: F.grid_sample(x[0], g, align_corners=False), RuntimeError),
    (lambda F, x, g: F.grid_sample(x[:1], g, align_corners=False), RuntimeError),
    (lambda F, x, g: F.grid_sample(x, g[..., :1], align_corners=False), RuntimeError),
    (lambda F, x, g: F.grid_sample(x[:, :, :0], g, align_corners=False), RuntimeError),
    (lambda F, x, g: F.grid_sample(x, g.float(), align_corners=False), RuntimeError),
    (lambda F, x, g: F.affine_grid(g[0], (2, 1, 3, 4), False), ValueError),
    (lambda F, x, g: F.affine_grid(x.long(), (2, 1, 3, 4), False), ValueError),
    (lambda F, x, g: F.affine_grid(x, (2, 3, 4), False), NotImplementedError),
    (lambda F, x, g: F.affine_grid(g[:, 0, :2, :2].repeat(1, 1, 2)[..., :3], (2, 1, 0, 4), False), ValueError),
])  # fmt: skip
def test_refuses(lib, call, kind):
    with pytest.raises(kind):
        call(lib.nn.functional, lib.tensor(X), lib.tensor(GRID))
