"""Pooling to a given size, as modules."""

import pytest

import gradwright as gw
from tests.nn.module_cases import run, same

LAYERS = [f"nn.Adaptive{kind}Pool{n}d" for kind in ("Avg", "Max") for n in (1, 2, 3)]


@pytest.mark.parametrize("name", LAYERS)
def test_pytorch_agrees(torch, name):
    run(torch, name)


@pytest.mark.parametrize("size", [3, (2, None), (1, 1), (5, 4)])
@pytest.mark.parametrize("kind", ["Avg", "Max"])
def test_sizes(torch, kind, size):
    same(torch, f"Adaptive{kind}Pool2d", (size,), {}, torch.randn(2, 3, 5, 7, requires_grad=True))


def test_places(torch):
    same(torch, "AdaptiveMaxPool1d", (2, True), {}, torch.randn(3, 7, requires_grad=True))
    assert gw.nn.AdaptiveMaxPool1d(1, return_indices=True)(gw.tensor([[1.0, 5.0, 2.0]]))[1].tolist() == [[1]]
