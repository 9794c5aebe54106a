"""Weights of convolutions in another order of memory."""

import pytest

import gradwright as gw
from gradwright import nn


@pytest.mark.parametrize("n", [2, 3])
def test_weights_lie_in_the_order_asked_for_and_are_what_they_were(n, torch):
    name, order = f"Conv{n}d", "channels_last" if n == 2 else "channels_last_3d"
    model = nn.Sequential(getattr(nn, name)(2, 3, 3), nn.Linear(2, 2))
    weight = model[0].weight
    before = weight.tolist()
    assert getattr(nn.utils, f"convert_conv{n}d_weight_memory_format")(model, getattr(gw, order)) is model
    theirs = getattr(torch.nn, name)(2, 3, 3)
    getattr(torch.nn.utils, f"convert_conv{n}d_weight_memory_format")(theirs, getattr(torch, order))
    assert model[0].weight is weight
    assert weight.tolist() == before
    assert weight.stride() == theirs.weight.stride()
