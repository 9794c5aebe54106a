"""Random numbers in compiled functions are those of the eager run."""

import pytest

import gradwright as gw
from gradwright.compilation.compiled import CompileWarning


def test_each_call_draws_what_an_eager_one_would():
    source = gw.Generator().manual_seed(3)

    def step(x):
        return x + gw.rand(3, generator=source) + gw.randn(3, generator=source)

    compiled, found = gw.compile(step), []
    for f in (step, compiled):
        source.manual_seed(3)
        found.append([f(gw.ones(3)).tolist() for _ in range(6)])
    assert found[0] == found[1]
    assert compiled.programs.entries


def test_numbers_that_a_checkpointed_function_draws_again_are_the_same_ones():
    gw.manual_seed(0)
    layer = gw.nn.Sequential(gw.nn.Linear(8, 8), gw.nn.Dropout(0.5))

    def step(x):
        layer.zero_grad()
        y = gw.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)
        y.sum().backward()
        return y, layer[0].bias.grad.clone()

    compiled = gw.compile(step, backend="plan")
    compiled(gw.ones(2, 8))
    with pytest.warns(CompileWarning, match="a state that was set in the step"):
        compiled(gw.ones(2, 8))
    for _ in range(3):
        y, g = compiled(gw.ones(2, 8))
        assert g.tolist() == (2.0 * (y != 0)).sum(0).tolist()
