from types import ModuleType

import numpy as np
import pytest

import gradwright

NAMES = ["bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [0, 1, 2, 5, 8])
def test_agrees_with_torch(torch: ModuleType, name: str, n: int) -> None:
    for periodic in (True, False):
        ours = getattr(gradwright, name)(n, periodic, dtype=gradwright.float64)
        theirs = getattr(torch, name)(n, periodic, dtype=torch.float64)
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=0, atol=1e-7 if "kaiser" in name else 1e-14)
    assert getattr(gradwright, name)(n).dtype is gradwright.float32


def test_parameters(torch: ModuleType) -> None:
    ours = gradwright.hamming_window(5, True, 0.6, beta=0.3)
    np.testing.assert_allclose(ours.numpy(), torch.hamming_window(5, True, 0.6, beta=0.3).numpy(), 1e-6)
    np.testing.assert_allclose(gradwright.kaiser_window(5, False, 3.0).numpy(), np.kaiser(5, 3.0), 1e-6)


def test_what_it_refuses() -> None:
    with pytest.raises(RuntimeError, match="non-negative"):
        gradwright.hann_window(-1)
    with pytest.raises(RuntimeError, match="floating point"):
        gradwright.hann_window(3, dtype=gradwright.int64)
    with pytest.raises(TypeError, match=r"hann_window\(\) takes window_length, periodic"):
        gradwright.hann_window(3, alpha=1.0)
