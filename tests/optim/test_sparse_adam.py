"""SparseAdam: PyTorch's steps of an embedding with sparse gradients, and rows that are left alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwright as gw


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")  # PyTorch's
def test_pytorchs_steps_of_an_embedding(maximize: bool, torch: Any) -> None:
    rng = np.random.default_rng(0)
    start = rng.normal(size=(7, 3))
    batches = [rng.integers(0, 7, 4) for _ in range(6)]
    found = []
    for T in (torch, gw):
        layer = T.nn.Embedding(7, 3, sparse=True, padding_idx=2, dtype=T.float64)
        with T.no_grad():
            layer.weight.copy_(T.tensor(start))
        optimizer = T.optim.SparseAdam(layer.parameters(), lr=0.1, betas=(0.8, 0.9), maximize=maximize)
        for batch in batches:
            optimizer.zero_grad()
            (layer(T.tensor(batch)) ** 3).sum().backward()
            optimizer.step()
        state = optimizer.state[layer.weight]
        found.append([layer.weight.detach().numpy(), state["exp_avg"].numpy(), state["exp_avg_sq"].numpy()])
    for theirs, mine in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-14)


def test_rows_without_a_gradient_stay() -> None:
    p = gw.ones(3, 2, requires_grad=True)
    optimizer = gw.optim.SparseAdam([p], lr=0.5)
    for _ in range(2):
        p.grad = gw.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 2.0]])
        optimizer.step()
    assert p[1].tolist() == [1, 1]
    assert p[0, 0].item() == pytest.approx(0, abs=1e-5)
    p.grad = gw.tensor([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    before = p.detach().clone()
    optimizer.step()
    assert (p[0] == before[0]).all()
    assert (p[1] < 1).all()


def test_what_is_refused() -> None:
    p = gw.ones(2, requires_grad=True)
    with pytest.raises(ValueError, match=r"(?i)learning rate|lr"):
        gw.optim.SparseAdam([p], lr=-1.0)
    with pytest.raises(ValueError, match=r"(?i)beta"):
        gw.optim.SparseAdam([p], betas=(1.0, 0.9))
