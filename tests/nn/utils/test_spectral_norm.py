"""The older spectral_norm: numbers, names and state as PyTorch's."""

import numpy as np
import pytest

import gradwright as gw


@pytest.mark.filterwarnings("ignore:.*spectral_norm.*is deprecated:FutureWarning")
@pytest.mark.parametrize("make", [lambda t: t.nn.Linear(4, 3, dtype=t.float64),
                                  lambda t: t.nn.ConvTranspose1d(2, 3, 2, dtype=t.float64)])  # fmt: skip
def test_it_is_pytorchs(torch, make):
    rng = np.random.default_rng(0)
    found = []
    parts = {}
    for t in (torch, gw):
        layer = t.nn.utils.spectral_norm(make(t), n_power_iterations=2)
        for name, value in layer.state_dict().items():
            if name not in parts:
                parts[name] = rng.standard_normal(tuple(value.shape))
            value.copy_(t.tensor(parts[name]))
        x = t.tensor(np.linspace(-1, 1, 8)).reshape((2, 4) if layer.weight.ndim == 2 else (1, 2, 4))
        out = []
        for _ in range(2):
            layer.zero_grad()
            y = layer(x)
            y.sin().sum().backward()
            out += [y, layer.weight_orig.grad.clone(), layer.weight_u.clone()]
        out.append(layer.eval()(x))
        with pytest.raises(RuntimeError, match="Cannot register two spectral_norm hooks"):
            t.nn.utils.spectral_norm(layer)
        t.nn.utils.remove_spectral_norm(layer)
        out += [layer.weight, layer(x)]
        found.append((sorted(layer.state_dict()), [v.detach().numpy() for v in out]))
        with pytest.raises(ValueError, match="spectral_norm of 'weight' not found in"):
            t.nn.utils.remove_spectral_norm(layer)
    assert found[0][0] == found[1][0]
    for theirs, ours in zip(found[0][1], found[1][1], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_wrong_arguments():
    with pytest.raises(ValueError, match="Expected n_power_iterations to be positive"):
        gw.nn.utils.spectral_norm(gw.nn.Linear(1, 1), n_power_iterations=0)
