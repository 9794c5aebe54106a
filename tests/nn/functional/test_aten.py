"""The top-level forms."""

import numpy as np
import pytest

import gradwright as gw

draw = np.random.default_rng(0).standard_normal
X, W, B = draw((2, 4, 6, 5)), draw((4, 2, 3, 2)), draw(4)


def test_agree_with_torch(agree):
    calls = [
        lambda lib, x, w, b: lib.convolution(x, w, b, (1, 2), (1, 0), (1, 1), False, (0, 0), 2),
        lambda lib, x, w, b: lib.convolution(x, w, b, (1, 2), (1, 0), (1, 1), True, (0, 1), 2),
        lambda lib, x, w, b: lib.conv_tbc(x[0].permute(1, 2, 0), w[:, :, :, 0].permute(2, 0, 1), b[:2], 1),
        lambda lib, x, w, b: lib.adaptive_max_pool1d(x[0], 2)[0],
        lambda lib, x, w, b: lib.affine_grid_generator(x.transpose(0, 1)[:, :, 0, :3], (4, 1, 2, 2), False),
        lambda lib, x, w, b: lib.avg_pool1d(x[0], 2),
    ]  # fmt: skip
    for call in calls:
        agree(call, X, W, B)


def test_modes_by_number(torch):
    grid = draw((2, 3, 3, 2))
    for mode, padding in ((0, 0), (1, 1), (2, 2)):
        mine, theirs = (lib.grid_sampler(lib.tensor(X), lib.tensor(grid), mode, padding, False) for lib in (gw, torch))
        np.testing.assert_allclose(mine.numpy(), theirs.numpy(), 1e-9, 1e-9)


def test_convolution_needs_a_weight_of_3_to_5_axes():
    with pytest.raises(RuntimeError, match=r"^convolution\(\): expected a weight of 3, 4 or 5 axes, but got 2 axes$"):
        gw.convolution(gw.ones(1, 1), gw.ones(1, 1), None, 1, 0, 1, False, 0, 1)
