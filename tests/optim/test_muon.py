"""Muon, against PyTorch, which makes its matrices orthogonal in bfloat16: to the digits that has."""

import numpy as np
import pytest

import gradwright as gw


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
def test_errors(options, message):
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
