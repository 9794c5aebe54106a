"""Hooks that undo themselves, beside hooks that do not."""

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
