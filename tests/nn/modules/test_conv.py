"""Convolutions as modules."""

from itertools import product

import numpy as np
import pytest

import gradwright as gw
from tests.nn.module_cases import same

SETTINGS = [
    {"stride": 2, "padding": 1, "bias": False},
    {"padding": (1, 2), "padding_mode": "reflect"},
    {"padding": "same", "padding_mode": "replicate", "dilation": 2},
    {"padding": 2, "padding_mode": "circular", "stride": (2, 1)},
    {"padding": "valid", "padding_mode": "reflect"},
    {"groups": 2, "dilation": (1, 2)},
    {"groups": 4},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_settings(torch, settings):
    same(torch, "Conv2d", (4, 8, 3), settings, torch.randn(2, 4, 7, 6, requires_grad=True))


def test_even_windows_keep_the_size(torch):
    same(torch, "Conv1d", (2, 3, 4), {"padding": "same"}, torch.randn(2, 7, requires_grad=True))


@pytest.mark.parametrize("settings", [
    {"stride": 2, "output_padding": 1, "groups": 2, "bias": False},
    {"stride": (2, 3), "padding": (1, 0), "dilation": 2, "output_padding": (1, 2)},
], ids=str)  # fmt: skip
def test_transposed_settings(torch, settings):
    same(torch, "ConvTranspose2d", (4, 6, 3), settings, torch.randn(2, 4, 5, 4, requires_grad=True))


@pytest.mark.parametrize("size", [(11, 15), (12, 17), (2, 6, 12, 16)])
def test_output_size(lib, size):
    m = lib.nn.ConvTranspose2d(4, 6, 3, stride=(2, 3))
    assert m(lib.ones(2, 4, 5, 5), output_size=size).shape == (2, 6, *size[-2:])
    assert m(lib.ones(4, 5, 5), output_size=size[-2:]).shape == (6, *size[-2:])


def test_output_size_out_of_reach(lib):
    m = lib.nn.ConvTranspose1d(1, 1, 3, stride=2)
    with pytest.raises(ValueError, match=r"requested an output size of .*, but valid sizes range from"):
        m(lib.ones(1, 1, 4), output_size=(8,))
    with pytest.raises(ValueError, match="output_size must have 1 or 3 elements"):
        m(lib.ones(1, 1, 4), output_size=(1, 9))


def test_initial_values(lib):
    for m, fan in ((lib.nn.Conv2d(8, 100, 3, groups=2), 4 * 9), (lib.nn.ConvTranspose2d(100, 8, 3, groups=2), 4 * 9)):
        for values in (m.weight, m.bias):
            drawn = values.detach().numpy().ravel() * np.sqrt(fan)
            assert np.abs(drawn).max() <= 1
            assert abs((drawn**2).mean() - 1 / 3) < 4 / np.sqrt(drawn.size)


@pytest.mark.parametrize(("args", "kwargs", "message"), [
    ((3, 4, 3), {"groups": 2}, "in_channels must be divisible by groups"),
    ((4, 3, 3), {"groups": 2}, "out_channels must be divisible by groups"),
    ((4, 4, 3), {"groups": 0}, "groups must be a positive integer"),
    ((4, 4, 3), {"padding": "most"}, "Invalid padding string 'most', should be one of"),
    ((4, 4, 3), {"padding": "same", "stride": 2}, "padding='same' is not supported for strided convolutions"),
    ((4, 4, 3), {"padding_mode": "odd"}, "padding_mode must be one of .*, but got padding_mode='odd'"),
])  # fmt: skip
def test_refused_when_made(lib, args, kwargs, message):
    with pytest.raises(ValueError, match=message):
        lib.nn.Conv2d(*args, **kwargs)


def test_a_transposed_one_pads_with_zeros_only(lib):
    with pytest.raises(ValueError, match='Only "zeros" padding mode is supported for ConvTranspose2d'):
        lib.nn.ConvTranspose2d(1, 1, 3, padding_mode="reflect")


def test_a_wrong_input_is_told_the_layer_and_its_shape():
    net = gw.nn.Sequential(gw.nn.Conv2d(1, 4, 3), gw.nn.Sequential(gw.nn.ReLU(), gw.nn.Conv2d(3, 4, 3)))
    with pytest.raises(RuntimeError, match="to have 3 channels, but got 4 channels instead") as caught:
        net(gw.ones(2, 1, 8, 8))
    note, = caught.value.__notes__  # fmt: skip
    assert note.startswith("in Sequential.1.1: Conv2d(3, 4, kernel_size=(3, 3), stride=(1, 1)) was given")
    assert note.endswith("(2, 4, 6, 6); it takes (N, 3, H, W) or (3, H, W)")


@pytest.mark.parametrize(("batch", "stride", "padding"), list(product((3, 20), (1, 2), (0, 1))))
def test_many_small_images(torch, batch, stride, padding):
    """Both ways to lay windows out: by the image, and with the batch as the last axis."""
    x = torch.randn(batch, 2, 8, 9, requires_grad=True)
    same(torch, "Conv2d", (2, 6, 3), {"stride": stride, "padding": padding}, x)
