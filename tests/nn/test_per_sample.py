"""Gradients of each example against a loop and against PyTorch."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.nn.per_sample import per_sample_gradients

F = gw.nn.functional


def looped(module, loss, inputs, *targets):
    """The same, one example after another."""
    found = {}
    for k in range(len(targets[0])):
        args = [x[k : k + 1] for x in (inputs if isinstance(inputs, tuple) else (inputs,))]
        module.zero_grad()
        loss(module(*args), *[t[k : k + 1] for t in targets]).backward()
        for name, p in module.named_parameters():
            if p.requires_grad:
                found.setdefault(name, []).append(p.grad.numpy().copy())
    module.zero_grad()
    return {name: np.stack(rows) for name, rows in found.items()}


def agree(found, expected):
    assert found.keys() == expected.keys()
    for name, g in found.items():
        np.testing.assert_allclose(g.numpy(), expected[name], rtol=2e-5, atol=1e-6, err_msg=name)


def convolutional():
    return gw.nn.Sequential(gw.nn.Conv2d(1, 2, 3), gw.nn.GroupNorm(1, 2), gw.nn.ReLU(), gw.nn.MaxPool2d(2),
                            gw.nn.Flatten(), gw.nn.Linear(8, 3))  # fmt: skip


def words():
    return gw.nn.Sequential(gw.nn.Embedding(7, 4), gw.nn.LayerNorm(4), gw.nn.Flatten(), gw.nn.Linear(12, 3))


@pytest.mark.parametrize("chunk_size", [None, 2])
@pytest.mark.parametrize(
    ("made", "inputs"),
    [
        (lambda: gw.nn.Sequential(gw.nn.Linear(3, 4), gw.nn.Tanh(), gw.nn.Linear(4, 3)), lambda: gw.randn(5, 3)),
        (convolutional, lambda: gw.randn(5, 1, 6, 6)),
        (words, lambda: gw.randint(0, 7, (5, 3))),
    ],
)
def test_they_are_those_of_a_loop(made, inputs, chunk_size):
    gw.manual_seed(0)
    module, x, y = made(), inputs(), gw.tensor([0, 1, 2, 1, 0])
    found = per_sample_gradients(module, F.cross_entropy, x, y, chunk_size=chunk_size)
    agree(found, looped(module, F.cross_entropy, x, y))
    assert all(p.grad is None for p in module.parameters())
    assert not any(g.requires_grad for g in found.values())


def test_their_mean_is_the_gradient_of_the_mean_loss():
    module, x, y = gw.nn.Linear(3, 2), gw.randn(6, 3), gw.randn(6, 2)
    found = per_sample_gradients(module, F.mse_loss, x, y)
    F.mse_loss(module(x), y).backward()
    np.testing.assert_allclose(found["weight"].mean(0).numpy(), module.weight.grad.numpy(), rtol=1e-5, atol=1e-7)


def test_several_arguments_tied_and_frozen_parameters():
    class Two(gw.nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = gw.nn.Linear(3, 3), gw.nn.Linear(3, 3), gw.nn.Linear(3, 3)
            self.b.weight = self.a.weight
            self.c.requires_grad_(False)

        def forward(self, x, y):
            return self.c(self.b(self.a(x).tanh()) * y)

    module = Two()
    inputs, target = (gw.randn(4, 3), gw.randn(4, 3)), gw.randn(4, 3)
    found = per_sample_gradients(module, F.mse_loss, inputs, target)
    agree(found, looped(module, F.mse_loss, inputs, target))
    assert set(found) == {"a.weight", "a.bias", "b.bias"}


def test_a_loss_of_the_output_alone():
    found = per_sample_gradients(gw.nn.Linear(2, 1), lambda out: (out**2).sum(), gw.ones(3, 2))
    assert found["weight"].shape == (3, 1, 2)


@pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")
def test_they_agree_with_pytorch():
    torch = pytest.importorskip("torch")
    module, x, y = gw.nn.Linear(3, 2), gw.randn(5, 3), gw.tensor([0, 1, 0, 1, 1])
    found = per_sample_gradients(module, F.cross_entropy, x, y)
    parameters = {n: torch.tensor(p.detach().numpy()) for n, p in module.named_parameters()}

    def of_one(p, x, y):
        return torch.nn.functional.cross_entropy((x @ p["weight"].T + p["bias"])[None], y[None])

    theirs = torch.func.vmap(torch.func.grad(of_one), (None, 0, 0))(
        parameters, torch.tensor(x.numpy()), torch.tensor(y.numpy())
    )
    agree(found, {name: g.numpy() for name, g in theirs.items()})


def test_a_batch_norm_has_none_in_training_and_those_of_a_loop_in_evaluation():
    module = gw.nn.Sequential(gw.nn.Linear(3, 4), gw.nn.BatchNorm1d(4), gw.nn.Linear(4, 2))
    x, y = gw.randn(5, 3), gw.randn(5, 2)
    with pytest.raises(RuntimeError, match=r"batch norm, '1', .*depends on the others.*module.eval\(\)"):
        per_sample_gradients(module, F.mse_loss, x, y)
    module.eval()
    agree(per_sample_gradients(module, F.mse_loss, x, y), looped(module, F.mse_loss, x, y))


def test_bad_input():
    module = gw.nn.Linear(2, 2)
    with pytest.raises(ValueError, match="sizes"):
        per_sample_gradients(module, F.mse_loss, gw.ones(3, 2), gw.ones(4, 2))
    with pytest.raises(RuntimeError, match="grad"):
        per_sample_gradients(module, lambda out: out, gw.ones(3, 2))
    with pytest.raises(ValueError, match="no parameter that requires a gradient"):
        per_sample_gradients(module.requires_grad_(False), F.mse_loss, gw.ones(3, 2), gw.ones(3, 2))
