"""The older weight_norm: numbers, names and state as PyTorch's."""

import numpy as np
import pytest

import gradwright as gw


@pytest.mark.parametrize("dim", [0, 1, None])
@pytest.mark.filterwarnings("ignore:.*weight_norm.*is deprecated:FutureWarning")
def test_it_is_pytorchs(torch, dim):
    rng = np.random.default_rng(0)
    w, x = rng.standard_normal((3, 4)), rng.standard_normal((2, 4))
    found = []
    for t in (gw, torch):
        layer = t.nn.Linear(4, 3, dtype=t.float64)
        with t.no_grad():
            layer.weight.copy_(t.tensor(w))
            layer.bias.zero_()
        layer = t.nn.utils.weight_norm(layer, dim=dim)
        names = list(layer.state_dict())
        optimizer = t.optim.SGD(layer.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            layer(t.tensor(x)).sin().sum().backward()
            optimizer.step()
        with pytest.raises(RuntimeError, match="Cannot register two weight_norm hooks"):
            t.nn.utils.weight_norm(layer)
        values = [layer.weight_g, layer.weight_v, layer.bias, layer(t.tensor(x))]
        t.nn.utils.remove_weight_norm(layer)
        assert isinstance(layer.weight, t.nn.Parameter)
        found.append((names, sorted(layer.state_dict()), [v.detach().numpy() for v in [*values, layer.weight]]))
        with pytest.raises(ValueError, match="weight_norm of 'weight' not found in"):
            t.nn.utils.remove_weight_norm(layer)
    assert sorted(found[0][0]) == sorted(found[1][0])
    assert found[0][1] == found[1][1]
    for ours, theirs in zip(found[0][2], found[1][2], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)
