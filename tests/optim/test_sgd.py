"""Gradient descent, plain, with momentum, averaged, and Muon."""

import numpy as np
import pytest

import gradwright as gw


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lr": -1}, "Invalid learning rate: -1"),
        ({"momentum": -0.5}, "Invalid momentum value: -0.5"),
        ({"weight_decay": -0.5}, "Invalid weight_decay value: -0.5"),
        ({"nesterov": True}, "Nesterov momentum requires a momentum and zero dampening"),
        ({"lr": gw.ones(2)}, "Tensor lr must be 1-element"),
    ],
)
def test_errors_of_sgd(options, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        gw.optim.SGD([gw.ones(1)], **options)


@pytest.mark.parametrize("name", ["SGD", "Adam", "Adagrad"])
def test_ways_to_run_that_exclude_each_other(torch, name):
    for lib in gw, torch:
        make = getattr(lib.optim, name)
        with pytest.raises(RuntimeError, match=r"^`fused` does not support `differentiable`"):
            make([lib.ones(1)], fused=True, differentiable=True)
        with pytest.raises(RuntimeError, match=r"^`fused` and `foreach` cannot be `True` together"):
            make([lib.ones(1)], fused=True, foreach=True)


def test_no_momentum_no_state(torch):
    for lib in gw, torch:
        p = lib.ones(1, requires_grad=True)
        optimizer = lib.optim.SGD([p])
        p.grad = lib.ones(1)
        optimizer.step()
        assert optimizer.state_dict()["state"] == {}


def test_momentum_may_be_switched_on_later(torch):
    found = []
    for lib in gw, torch:
        p = lib.ones(2, requires_grad=True)
        optimizer = lib.optim.SGD([p], lr=0.1)
        for k in range(4):
            optimizer.param_groups[0]["momentum"] = 0.9 * (k > 0)
            p.grad = lib.full((2,), k + 1.0)
            optimizer.step()
        found.append(p.tolist())
    assert found[0] == pytest.approx(found[1])


def test_averages():
    """ASGD one step after t0 and later: ax is the mean of where p has been."""
    p = gw.zeros(1, requires_grad=True)
    optimizer = gw.optim.ASGD([p], lr=0.1, lambd=0.0, t0=1)
    seen = []
    for k in range(6):
        p.grad = gw.full((1,), float(k))
        optimizer.step()
        seen.append(p.item())
    assert optimizer.state[p]["ax"].item() == pytest.approx(sum(seen[2:]) / 4)


def test_five_steps(torch, twins):
    from torch.testing._internal.common_optimizers import optim_inputs_func_muon

    cases = [case.kwargs for case in optim_inputs_func_muon("cpu")]
    for options in [*cases, {"adjust_lr_fn": "match_rms_adamw"}, {"nesterov": False}]:
        both = twins("Muon", options, shapes=[(9, 4), (3, 8), (5, 5)])
        for _ in range(5):
            both.step()
        lr = float(options.get("lr", 1e-3))
        both.check(rtol=1e-4, atol=0.2 * lr)


def test_steps_are_nearly_orthogonal():
    p = gw.zeros(6, 20, requires_grad=True)
    p.grad = gw.tensor(np.random.default_rng(0).standard_normal((6, 20)), dtype=gw.float32)
    gw.optim.Muon([p], lr=1.0, weight_decay=0.0).step()
    values = np.linalg.svd(p.detach().numpy(), compute_uv=False)
    assert values.min() > 0.6
    assert values.max() < 1.3


@pytest.mark.parametrize(
    ("options", "message"),
    [({"lr": -1}, "Learning rate should be >= 0 but is: -1"), ({"momentum": -1}, "momentum should be >= 0 but is: -1"),
     ({"weight_decay": -1}, "weight decay should be >= 0"),
     ({"adjust_lr_fn": "x"}, "Adjust learning rate function x is not supported")],
)  # fmt: skip
def test_errors_of_muon(options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        gw.optim.Muon([gw.ones(2, 2)], **options)


def test_matrices_only():
    with pytest.raises(ValueError, match=r"^Muon only supports 2D parameters whereas .* with size: \[2, 3, 4\]"):
        gw.optim.Muon([gw.ones(2, 3, 4)])
    p = gw.ones(2, 2, dtype=gw.complex64, requires_grad=True)
    p.grad = gw.ones(2, 2, dtype=gw.complex64)
    with pytest.raises(RuntimeError, match=r"^Muon does not support complex parameters"):
        gw.optim.Muon([p]).step()


@pytest.mark.parametrize(
    ("options", "message"),
    [({"ns_steps": 100}, "Number of steps must be less than 100"),
     ({"ns_coefficients": (1, 2)}, "Coefficients must be a tuple of exactly 3 values")],
)  # fmt: skip
def test_iterations(options, message):
    p = gw.ones(2, 2, requires_grad=True)
    p.grad = gw.ones(2, 2)
    with pytest.raises(ValueError, match=f"^{message}"):
        gw.optim.Muon([p], **options).step()
