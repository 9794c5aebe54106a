"""Averages of weights, and their schedule: as PyTorch's."""

import importlib

import numpy as np
import pytest

import gradwright as gw
from gradwright.optim import swa_utils as ours


def sides(torch):
    return (gw, ours), (torch, importlib.import_module("torch.optim.swa_utils"))


@pytest.mark.parametrize("options", [
    lambda u: {}, lambda u: {"multi_avg_fn": u.get_ema_multi_avg_fn(0.9)}, lambda u: {"avg_fn": u.get_ema_avg_fn(0.5)},
    lambda u: {"avg_fn": u.get_swa_avg_fn(), "use_buffers": True}, lambda u: {"use_buffers": True},
])  # fmt: skip
def test_averages(torch, options):
    found = []
    for t, u in sides(torch):
        model = t.nn.Sequential(t.nn.Linear(2, 3), t.nn.BatchNorm1d(3)).double()
        average = u.AveragedModel(model, **options(u))
        rng = np.random.default_rng(0)
        for _ in range(4):
            with t.no_grad():
                for p in model.parameters():
                    p.copy_(t.tensor(rng.standard_normal(tuple(p.shape))))
            model(t.tensor(rng.standard_normal((5, 2))))
            average.update_parameters(model)
        batches = [t.tensor(rng.standard_normal((6, 2))) for _ in range(3)]
        state = {k: v.numpy().copy() for k, v in average.state_dict().items()}
        u.update_bn([(b, None) for b in batches], average)
        state |= {f"bn {k}": v.numpy() for k, v in average.state_dict().items()}
        found.append({**state, "y": average(batches[0]).detach().numpy()})
    assert found[0].keys() == found[1].keys()
    for key, value in found[0].items():
        np.testing.assert_allclose(value, found[1][key], rtol=1e-9, atol=1e-12, err_msg=key)


@pytest.mark.parametrize("strategy", ["cos", "linear"])
@pytest.mark.parametrize("epochs", [0, 1, 4])
def test_the_schedule(torch, strategy, epochs):
    found = []
    for t, u in sides(torch):
        w, v = (t.zeros(1, requires_grad=True) for _ in range(2))
        optimizer = t.optim.SGD([{"params": [w], "lr": 1.0}, {"params": [v], "lr": 0.5}], lr=0.1)
        scheduler = u.SWALR(optimizer, [0.05, 0.2], anneal_epochs=epochs, anneal_strategy=strategy)
        rates = [scheduler.get_last_lr()]
        for _ in range(6):
            optimizer.step()
            scheduler.step()
            rates.append(scheduler.get_last_lr())
        found.append(rates)
    np.testing.assert_allclose(*found, rtol=1e-9)


def test_wrong_arguments(torch):
    for t, u in sides(torch):
        optimizer = t.optim.SGD([t.zeros(1, requires_grad=True)], lr=0.1)
        with pytest.raises(ValueError, match="anneal_strategy must be one of"):
            u.SWALR(optimizer, 0.1, anneal_strategy="steps")
        with pytest.raises(ValueError, match="swa_lr must have the same length"):
            u.SWALR(optimizer, [0.1, 0.2])
        with pytest.raises(AssertionError, match="Only one of avg_fn and multi_avg_fn"):
            u.AveragedModel(t.nn.Linear(1, 1), avg_fn=u.get_swa_avg_fn(), multi_avg_fn=u.get_swa_multi_avg_fn())
        with pytest.raises(ValueError, match="Invalid decay value"):
            u.get_ema_avg_fn(1.5)
