"""Convolution, its adjoint, and windows as columns."""

import numpy as np
import pytest

import gradwright as gw

draw = np.random.default_rng(0).standard_normal
X, W, B, T = draw((2, 4, 6, 5)), draw((6, 2, 3, 2)), draw(6), draw((4, 3, 3, 2))


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")
def test_agree_with_torch(agree):
    calls = [
        lambda F, x, w, b: F.conv2d(x, w, b, groups=2),
        lambda F, x, w, b: F.conv2d(x, w, b, (2, 1), (1, 0), (1, 2), 2),
        lambda F, x, w, b: F.conv2d(x[0], w, b, padding="same", dilation=(2, 1), groups=2),
        lambda F, x, w, b: F.conv2d(x, w, padding="valid", groups=2),
        lambda F, x, w, b: F.conv1d(x[0, :, :, 0], w[..., 0], b, 2, 1, groups=2),
        lambda F, x, w, b: F.conv3d(x.unsqueeze(2), w.unsqueeze(2), b, padding=(1, 0, 0), groups=2),
    ]
    for call in calls:
        agree(lambda lib, *xs, f=call: f(lib.nn.functional, *xs), X, W, B)
    calls = [
        lambda F, x, w, b: F.conv_transpose2d(x, w, b[:3]),
        lambda F, x, w, b: F.conv_transpose2d(x, w, b, (2, 3), (1, 0), (1, 2), 2, (1, 2)),
        lambda F, x, w, b: F.conv_transpose2d(x[0], w, None, 1, 1, (1, 0), 1, 2),
        lambda F, x, w, b: F.conv_transpose1d(x[0, :, :, 0], w[..., 0], stride=2, output_padding=1),
        lambda F, x, w, b: F.conv_transpose3d(x.unsqueeze(2), w.unsqueeze(2), b[:3], 2),
        lambda F, x, w, b: F.unfold(x, (3, 2), (1, 2), (1, 0), 2),
        lambda F, x, w, b: F.fold(x.reshape(2, 12, 10), (6, 3), (2, 3), padding=(0, 1), stride=(1, 2)),
    ]
    for call in calls:
        agree(lambda lib, *xs, f=call: f(lib.nn.functional, *xs), X, T, B)


def test_complex(agree):
    def f(lib, *parts):
        x, w = (lib.complex(parts[k], parts[k + 1]) for k in (0, 2))
        return lib.view_as_real(lib.nn.functional.conv2d(x, w, groups=2, padding=1))

    agree(f, X, X[::-1].copy(), W, W[::-1].copy())


def test_empty_batches_and_float32():
    y = gw.conv2d(gw.ones(0, 4, 6, 5, requires_grad=True), gw.ones(6, 2, 3, 2), groups=2)
    assert y.shape == (0, 6, 4, 4)
    assert y.dtype is gw.float32
    y.sum().backward()


def test_large(torch):
    """Whole batches in float32, as networks have them."""
    x, w, b = (draw(s).astype("f") for s in ((8, 16, 32, 32), (32, 16, 3, 3), (32,)))
    mine = gw.conv2d(gw.tensor(x), gw.tensor(w), gw.tensor(b), 2, 1).numpy()
    theirs = torch.conv2d(torch.tensor(x), torch.tensor(w), torch.tensor(b), 2, 1).numpy()
    np.testing.assert_allclose(mine, theirs, 1e-4, 1e-4)


@pytest.mark.parametrize("call", [
    lambda F, lib, x, w: F.conv2d(x[0, 0], w, groups=2),
    lambda F, lib, x, w: F.conv2d(x, w[0], groups=2),
    lambda F, lib, x, w: F.conv2d(x, w),
    lambda F, lib, x, w: F.conv2d(x, w, groups=4),
    lambda F, lib, x, w: F.conv2d(x, w, groups=0),
    lambda F, lib, x, w: F.conv2d(x, w, lib.ones(5, dtype=x.dtype), groups=2),
    lambda F, lib, x, w: F.conv2d(x, w.float(), groups=2),
    lambda F, lib, x, w: F.conv2d(x, w[..., :0], groups=2),
    lambda F, lib, x, w: F.conv2d(x, w, stride=0, groups=2),
    lambda F, lib, x, w: F.conv2d(x, w, padding=-1, groups=2),
    lambda F, lib, x, w: F.conv2d(x, w, dilation=0, groups=2),
    lambda F, lib, x, w: F.conv2d(x, w, stride=(1, 1, 1), groups=2),
    lambda F, lib, x, w: F.conv2d(x, w, stride=2, padding="same", groups=2),
    lambda F, lib, x, w: F.conv2d(x, w, padding="full", groups=2),
    lambda F, lib, x, w: F.conv2d(x, w, dilation=3, groups=2),
    lambda F, lib, x, w: F.conv_transpose2d(x, w),
    lambda F, lib, x, w: F.conv_transpose2d(x, w[:4], output_padding=1),
    lambda F, lib, x, w: F.conv_transpose2d(x[:, :, :1], w[:4], padding=2),
    lambda F, lib, x, w: F.unfold(x, 7),
    lambda F, lib, x, w: F.unfold(x, 0),
    lambda F, lib, x, w: F.fold(x[0], (6, 5), 3),
    lambda F, lib, x, w: F.fold(x[0, :, :, :4], (6, 5), 2),
])  # fmt: skip
def test_refuses(lib, call):
    with pytest.raises(RuntimeError):
        call(lib.nn.functional, lib, lib.tensor(X), lib.tensor(W))


def test_refuses_what_is_no_tensor():
    with pytest.raises(TypeError, match=r"^conv2d\(\): argument 'weight' \(position 2\) must be Tensor, not float"):
        gw.conv2d(gw.ones(1, 1, 2, 2), 1.0)
