"""Distances and angles between vectors."""

import numpy as np
import pytest

import gradwright

draw = np.random.default_rng(0)
X, Y = draw.standard_normal((4, 3)), draw.standard_normal((4, 3))


@pytest.mark.parametrize("call", [
    lambda F, x, y: F.cosine_similarity(x, y),
    lambda F, x, y: F.cosine_similarity(x, y[:, :1], dim=1),
    lambda F, x, y: F.cosine_similarity(x.unsqueeze(0), y.unsqueeze(1), dim=-1),
    lambda F, x, y: F.pairwise_distance(x, y),
    lambda F, x, y: F.pairwise_distance(x, y[0], 3, 0.0, True),
    lambda F, x, y: F.pairwise_distance(x, y, float("inf")),
    lambda F, x, y: F.bilinear(x, y, (x.t() @ y).unsqueeze(0).expand(2, 3, 3), x[0, :2]),
])  # fmt: skip
def test_agree_with_torch(agree, call):
    agree(lambda lib, x, y: call(lib.nn.functional, x, y), X, Y)


def test_a_vector_of_zeros(agree):
    agree(lambda lib, x, y: lib.nn.functional.cosine_similarity(x, y * 0, dim=0), X, Y, order=1)


@pytest.mark.parametrize("p", [0, 1, 2, 2.5, float("inf")])
def test_pdist(agree, p):
    agree(lambda lib, x: lib.nn.functional.pdist(x, p), X, order=1)


@pytest.mark.parametrize(("call", "kind"), [
    (lambda F, lib, x: F.cosine_similarity(x.long(), x.long()), RuntimeError),
    (lambda F, lib, x: F.pdist(x[0]), RuntimeError),
    (lambda F, lib, x: F.pdist(x, -1), RuntimeError),
    (lambda F, lib, x: F.bilinear(x, x[:2], lib.ones(1, 3, 3)), RuntimeError),
    (lambda F, lib, x: F.bilinear(x, x, lib.ones(1, 3, 2)), RuntimeError),
])  # fmt: skip
def test_refuses(lib, call, kind):
    with pytest.raises(kind):
        call(lib.nn.functional, lib, lib.ones(4, 3))


def test_second_slope_of_a_cosine_at_zero() -> None:
    a = gradwright.tensor([[0.0, 0.0], [1.0, 2.0]], requires_grad=True)
    b = gradwright.tensor([[1.0, 2.0], [2.0, 0.0]], requires_grad=True)
    out = gradwright.nn.functional.cosine_similarity(a, b)
    (g,) = gradwright.autograd.grad(out.sum(), a, create_graph=True)
    (second,) = gradwright.autograd.grad(g.sum(), a)
    assert np.isnan(second.numpy()).tolist() == [[True, True], [False, False]]
