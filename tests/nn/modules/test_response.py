"""Normalisation by neighbouring channels."""

import pytest

import gradwright as gw
from tests.nn.module_cases import run, same


def test_pytorch_agrees(torch):
    run(torch, "nn.LocalResponseNorm")


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_across_maps(torch, size):
    """Channel 0 is 0: PyTorch forgets to take it off again."""
    x = torch.randn(2, 7, 3, 2)
    x[:, 0] = 0
    same(torch, "CrossMapLRN2d", (size, 2.0, 0.6, 1.5), {}, x)


def test_across_maps_differentiates():
    x = gw.randn(1, 4, 2, 1, dtype=gw.float64, requires_grad=True)
    assert gw.autograd.gradcheck(gw.nn.CrossMapLRN2d(3, 2.0), x)


def test_four_dims(lib):
    with pytest.raises(ValueError, match="CrossMapLRN2d: Expected input to be 4D, got 3D instead"):
        lib.nn.CrossMapLRN2d(3)(lib.ones(1, 2, 3))
