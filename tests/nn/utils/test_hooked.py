"""Hooks that undo themselves, beside hooks that do not; what they compute, in copies and after a load."""

import copy
import warnings

import pytest

import gradwright as gw
from gradwright.nn.utils.hooked import undone


def test_one_hook_is_undone_and_the_others_stay():
    layer, seen = gw.nn.Linear(2, 2), []
    layer.register_forward_pre_hook(lambda module, inputs: seen.append("mine"))
    gw.nn.utils.weight_norm(layer)
    assert not undone(layer, lambda hook: False)
    assert "weight_g" in dict(layer.named_parameters())
    assert undone(layer, lambda hook: hasattr(hook, "compute_weight"))
    assert {*dict(layer.named_parameters())} == {"weight", "bias"}
    assert not undone(layer, lambda hook: hasattr(hook, "compute_weight"))
    layer(gw.ones(1, 2))
    assert seen == ["mine"]


COMPUTED = {
    "weight_norm": (gw.nn.utils.weight_norm, "weight_g"),
    "weight_norm, one length": (lambda m: gw.nn.utils.weight_norm(m, dim=None), "weight_v"),
    "spectral_norm": (gw.nn.utils.spectral_norm, "weight_orig"),
    "pruned": (lambda m: gw.nn.utils.prune.l1_unstructured(m, "weight", 1), "weight_orig"),
}


@pytest.mark.parametrize("called", [False, True])
@pytest.mark.parametrize("name", COMPUTED)
def test_a_deep_copy_computes_of_its_own(name, called):
    hook, part = COMPUTED[name]
    with warnings.catch_warnings(action="ignore"):
        layer = hook(gw.nn.Linear(2, 3)).eval()
    x = gw.tensor([[1.0, 2.0]])
    if called:
        layer(x)
    other = copy.deepcopy(copy.deepcopy(layer))
    assert gw.equal(other.weight, layer.weight)
    if layer.weight.requires_grad:  # spectral_norm divides it in the first call
        (g,) = gw.autograd.grad(layer.weight.pow(2).sum(), getattr(layer, part), retain_graph=True)
        (h,) = gw.autograd.grad(other.weight.pow(2).sum(), getattr(other, part), retain_graph=True)
        assert gw.equal(g, h)
    with gw.no_grad():
        getattr(other, part).mul_(2)
    before = layer(x)
    other(x).sum().backward()
    assert gw.equal(layer(x), before)
    assert getattr(layer, part).grad is None
    assert getattr(other, part).grad is not None


def test_a_loaded_weight_norm_computes_at_once():
    with warnings.catch_warnings(action="ignore"):
        one, two = (gw.nn.utils.weight_norm(gw.nn.Linear(2, 3)) for _ in range(2))
    two.load_state_dict(one.state_dict())
    assert gw.equal(one.weight, two.weight)
    gw.nn.utils.remove_weight_norm(two)
    two.load_state_dict({"weight": gw.ones(3, 2), "bias": gw.zeros(3)})
    assert two.weight.tolist() == [[1, 1]] * 3
    assert isinstance(two.weight, gw.nn.Parameter)
