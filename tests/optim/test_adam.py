"""Adam and its relatives."""

from typing import Any

import numpy as np
import pytest

import gradwright as gw

TWO = gw.tensor([0.1, 0.2])


@pytest.mark.parametrize("name", ["Adam", "AdamW", "NAdam", "RAdam", "Adamax"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lr": -1}, "Invalid learning rate: -1"),
        ({"eps": -1e-3}, "Invalid epsilon value: -0.001"),
        ({"betas": (1.0, 0.5)}, "Invalid beta parameter at index 0: 1.0"),
        ({"betas": (0.5, -1)}, "Invalid beta parameter at index 1: -1"),
        ({"weight_decay": -1}, "Invalid weight_decay value: -1"),
        ({"lr": TWO}, "Tensor lr must be 1-element"),
    ],
)
def test_errors(name, options, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        getattr(gw.optim, name)([gw.ones(1)], **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (lambda lib: {"betas": (lib.tensor(0.9), 0.99)}, "betas must be either both floats or both Tensors"),
        (lambda lib: {"lr": lib.tensor(0.1), "foreach": True}, "lr as a Tensor is not supported for capturable=False"),
        (lambda lib: {"betas": (lib.tensor(0.9), lib.tensor(0.9)), "foreach": True}, r"betas\[0\] as a Tensor is not"),
        (lambda lib: {"betas": (lib.tensor(0.9), lib.tensor([0.9, 1]))}, r"Tensor betas\[1\] must be 1-element"),
    ],
)
def test_tensors_for_numbers(options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        gw.optim.Adam([gw.ones(1)], **options(gw))


def test_momentum_decay():
    with pytest.raises(ValueError, match=r"^Invalid momentum_decay value: -1$"):
        gw.optim.NAdam([gw.ones(1)], momentum_decay=-1)


def test_no_learning_rate_no_change():
    p = gw.ones(2, requires_grad=True)
    optimizer = gw.optim.Adam([p], lr=0.0)
    p.grad = gw.tensor([0.0, 1.0])
    optimizer.step()
    assert p.tolist() == [1, 1]


def test_an_overflow_stays_where_it_is(torch):
    found = []
    for lib in gw, torch:
        p = lib.ones(2, requires_grad=True)
        optimizer = lib.optim.Adam([p], lr=0.1)
        for slope in (1e30, 1.0, 1.0):  # whose square is infinite
            p.grad = lib.tensor([slope, 1.0])
            optimizer.step()
        found.append(p.tolist())
    assert found[0] == pytest.approx(found[1])


def test_adamw_decays_whatever_was_loaded():
    p = gw.ones(1, requires_grad=True)
    optimizer = gw.optim.AdamW([p])
    optimizer.load_state_dict(gw.optim.Adam([p]).state_dict())
    assert optimizer.param_groups[0]["decoupled_weight_decay"] is True


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
