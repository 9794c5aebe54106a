"""Pruning: masks and names as PyTorch's."""

import importlib

import numpy as np
import pytest

import gradwright as gw
from gradwright.nn.utils import prune as ours

STEPS = {
    "identity": lambda p, t, m: p.identity(m, "weight"),
    "l1": lambda p, t, m: p.l1_unstructured(m, "weight", 0.3),
    "l1, so many": lambda p, t, m: p.l1_unstructured(m, "weight", 5),
    "by importance": lambda p, t, m: p.l1_unstructured(m, "weight", 3, importance_scores=t.arange(12.0).reshape(3, 4)),
    "ln": lambda p, t, m: p.ln_structured(m, "weight", 1, 2, 1),
    "ln, inf": lambda p, t, m: p.ln_structured(m, "weight", 0.34, float("inf"), 0),
    "mask": lambda p, t, m: p.custom_from_mask(m, "bias", t.tensor([1, 0, 1])),
    "twice": lambda p, t, m: (p.l1_unstructured(m, "weight", 0.3), p.l1_unstructured(m, "weight", 0.5)),
    "structured, then not": lambda p, t, m: (p.ln_structured(m, "weight", 1, 1, 1), p.l1_unstructured(m, "weight", 2)),
    "not, then structured": lambda p, t, m: (p.l1_unstructured(m, "weight", 2), p.ln_structured(m, "weight", 1, 1, 0)),
    "all": lambda p, t, m: p.global_unstructured([(m, "weight"), (m, "bias")], p.L1Unstructured, amount=6),
}  # fmt: skip


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS.keys())
def test_it_is_pytorchs(torch, step):
    rng = np.random.default_rng(0)
    w, b = rng.standard_normal((3, 4)), rng.standard_normal(3)
    found = []
    for t, p in ((gw, ours), (torch, importlib.import_module("torch.nn.utils.prune"))):
        layer = t.nn.Linear(4, 3, dtype=t.float64)
        with t.no_grad():
            layer.weight.copy_(t.tensor(w))
            layer.bias.copy_(t.tensor(b))
        step(p, t, layer)
        assert p.is_pruned(layer)
        y = layer(t.ones(2, 4, dtype=t.float64))
        y.sum().backward()
        state = {k: v.numpy() for k, v in layer.state_dict().items()}
        grads = {k: None if v.grad is None else v.grad.numpy() for k, v in layer.named_parameters()}
        for name in ("weight", "bias"):
            if name + "_mask" in state:
                p.remove(layer, name)
        assert not p.is_pruned(layer)
        found.append({**state, **grads, "y": y.detach().numpy(), "w": layer.weight.detach().numpy()})
        with pytest.raises(ValueError, match="has to be pruned before pruning can be removed"):
            p.remove(layer, "weight")
    assert found[0].keys() == found[1].keys()
    for key, value in found[0].items():
        np.testing.assert_allclose(value, found[1][key], err_msg=key)


def test_at_random_so_many():
    gw.manual_seed(0)
    layer = ours.random_unstructured(gw.nn.Linear(4, 3), "weight", 5)
    assert int((layer.weight_mask == 0).sum()) == 5
    layer = ours.random_structured(gw.nn.Linear(4, 3), "weight", 2, 1)
    assert sorted(layer.weight_mask.sum(0).tolist()) == [0.0, 0.0, 3.0, 3.0]


def test_wrong_amounts(torch):
    for t, p in ((gw, ours), (torch, importlib.import_module("torch.nn.utils.prune"))):
        layer = t.nn.Linear(4, 3)
        with pytest.raises(ValueError, match="should either be a float in the range"):
            p.l1_unstructured(layer, "weight", 1.5)
        with pytest.raises(TypeError, match="Invalid type for amount"):
            p.l1_unstructured(layer, "weight", "all")
        with pytest.raises(ValueError, match="should be smaller than the number of parameters"):
            p.l1_unstructured(t.nn.Linear(4, 3), "weight", 50)
        with pytest.raises(ValueError, match="Structured pruning can only be applied"):
            p.ln_structured(t.nn.Linear(4, 3), "bias", 1, 2, 0)
