"""``nn.grad``: against PyTorch, and against `autograd.grad` of the convolution."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.nn import grad as of


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_gradients_of_a_convolution(n, torch):
    rng = np.random.default_rng(n)
    x, w = rng.normal(size=(2, 4, *[6] * n)), rng.normal(size=(6, 2, *[3] * n))
    options = {"stride": 2, "padding": 1, "dilation": 1, "groups": 2}
    g = rng.normal(size=tuple(getattr(torch.nn.functional, f"conv{n}d")(*map(torch.tensor, (x, w)), **options).shape))
    for by, given in (("input", (x.shape, w, g)), ("weight", (x, w.shape, g))):
        ours, theirs = (
            getattr(home, f"conv{n}d_{by}")(*[make(v) if isinstance(v, np.ndarray) else v for v in given], **options)
            for home, make in ((of, gw.tensor), (torch.nn.grad, torch.tensor))
        )
        assert np.allclose(ours, theirs, rtol=1e-12)
        assert not ours.requires_grad


def test_they_are_recorded():
    x, w, g = gw.ones(1, 1, 5), gw.ones(1, 1, 3).requires_grad_(), gw.ones(1, 1, 3)
    of.conv1d_input(x.shape, w, g).sum().backward()
    assert w.grad.tolist() == [[[3.0, 3.0, 3.0]]]
    with gw.no_grad():
        assert not of.conv1d_input(x.shape, w, g).requires_grad


@pytest.mark.parametrize("arguments", ["made inside", "made outside", "that require grad"])
def test_in_inference_mode(arguments, T):
    with T.inference_mode(arguments == "made inside"):
        x, w, g = T.arange(5.0).reshape(1, 1, 5), T.tensor([[[1.0, 2.0, 3.0]]]), T.ones(1, 1, 3)
    if arguments == "that require grad":
        x.requires_grad_(), w.requires_grad_()
    with T.inference_mode():
        found = T.nn.grad.conv1d_input(x.shape, w, g), T.nn.grad.conv1d_weight(x, w.shape, g)
    assert [v.tolist() for v in found] == [[[[1, 3, 6, 5, 3]]], [[[3, 6, 9]]]]
    assert all(v.is_inference() and not v.requires_grad for v in found)


def test_of_inference_tensors_outside(T):
    with T.inference_mode():
        w, g = T.tensor([[[1.0, 2.0, 3.0]]]), T.ones(1, 1, 3)
    found = T.nn.grad.conv1d_input((1, 1, 5), w, g)
    assert found.tolist() == [[[1, 3, 6, 5, 3]]]
    assert not found.is_inference()
    assert not found.requires_grad
