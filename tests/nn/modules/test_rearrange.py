"""Layers that move entries: pixels, windows as columns, dims joined and split, other sizes."""

import pytest

import gradwright as gw
from tests.nn.module_cases import same

CASES = [
    ("PixelShuffle", (2,), {}, (3, 8, 2, 3)), ("PixelShuffle", (3,), {}, (9, 2, 1)),
    ("PixelUnshuffle", (2,), {}, (3, 2, 4, 6)), ("ChannelShuffle", (3,), {}, (2, 6, 2, 2)),
    ("Unfold", (2,), {}, (3, 5, 6)),
    *(("Unfold", ((2, 3),), settings, (2, 3, 5, 6)) for settings in (
        {}, {"dilation": (2, 1), "padding": 1}, {"padding": (1, 0), "stride": 2})),
    *(("Fold", ((5, 6), (2, 3)), settings, (2, 18, n)) for settings, n in (
        ({}, 16), ({"dilation": (2, 1), "padding": 1}, 30), ({"padding": (1, 0), "stride": 2}, 6))),
    *((name, args, {}, (3, 4, 5)) for name, args in (
        ("Flatten", ()), ("Flatten", (0, 1)), ("Flatten", (2,)), ("Unflatten", (1, (2, -1))),
        ("Unflatten", (-1, [5, 1])))),
    *((name, (), kwargs, (2, 3, 3, 4, 2)[: n + 2]) for name, kwargs, n in (
        ("Upsample", {"size": 5}, 1), ("Upsample", {"scale_factor": 2.5, "mode": "linear"}, 1),
        ("Upsample", {"scale_factor": (2, 3), "mode": "bilinear", "align_corners": True}, 2),
        ("Upsample", {"size": (6, 7), "mode": "bicubic"}, 2),
        ("Upsample", {"scale_factor": 2, "mode": "trilinear"}, 3),
        ("Upsample", {"scale_factor": 1.7, "mode": "linear", "recompute_scale_factor": True}, 1),
        ("UpsamplingNearest2d", {"scale_factor": 2}, 2), ("UpsamplingNearest2d", {"size": (3, 7)}, 2),
        ("UpsamplingBilinear2d", {"scale_factor": (2, 1.5)}, 2), ("UpsamplingBilinear2d", {"size": 7}, 2))),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "kwargs", "shape"), CASES)
def test_pytorch_agrees(torch, name, args, kwargs, shape):
    same(torch, name, args, kwargs, torch.randn(shape, requires_grad=True))


@pytest.mark.parametrize(("error", "message", "call"), [
    (RuntimeError, "divisible by", lambda nn, ones: nn.PixelUnshuffle(2)(ones(1, 1, 3, 4))),
    (RuntimeError, "divisible by", lambda nn, ones: nn.ChannelShuffle(2)(ones(1, 3, 4))),
    (ValueError, "either size or scale_factor should be defined", lambda nn, ones: nn.Upsample()(ones(1, 1, 3))),
    *((TypeError, "unflattened_size must be", lambda nn, ones, sizes=sizes: nn.Unflatten(1, sizes))
      for sizes in (6, "2", (2, 1.5))),
])  # fmt: skip
def test_errors(lib, error, message, call):
    with pytest.raises(error, match=message):
        call(lib.nn, lib.ones)


def test_a_dim_has_no_name():
    with pytest.raises(TypeError, match="dims have no names"):
        gw.nn.Unflatten("rows", (2, 3))
