import numpy as np
import pytest

import gradwright
from gradwright import xp
from gradwright.ops import fft

NORMS = ["backward", "forward", "ortho"]
X = np.random.default_rng(0).standard_normal((3, 5))


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("forward", [True, False])
def test_is_the_defining_sum(norm: str, forward: bool) -> None:
    n = 5
    k = np.arange(n)
    matrix = np.exp((-2j if forward else 2j) * np.pi * np.outer(k, k) / n)
    factor = {"backward": 1 if forward else 1 / n, "forward": 1 / n if forward else 1, "ortho": n**-0.5}[norm]
    np.testing.assert_allclose(fft.fft_c2c(X + 0j, axes=(1,), norm=norm, forward=forward), factor * X @ matrix, 1e-12)
    np.testing.assert_allclose(fft.fft_r2c(X, axes=(1,), norm=norm, forward=forward), factor * X @ matrix, 1e-12)


@pytest.mark.parametrize("norm", NORMS)
def test_half_spectra_are_half_of_the_whole(norm: str) -> None:
    for n in (4, 5):
        x = X[:, :n]
        half = fft.fft_r2h(x, axes=(1,), norm=norm)
        np.testing.assert_allclose(half, np.fft.fft(x, norm=norm)[:, : n // 2 + 1], 1e-12, 1e-12)
        np.testing.assert_allclose(fft.fft_h2r(half, axes=(1,), n=n, norm=norm), x, 1e-12, 1e-12)


def test_energy_is_kept() -> None:
    """Parseval: the gradient of sum |F x|**2 / 2 is n x for each of the two ways to compute F x."""
    for transform in (fft.transform, fft.half_transform):
        x = gradwright.tensor(X, requires_grad=True)
        y = transform(xp, x, (5,), (1,), "backward", True)
        weight = 1 if transform is fft.transform else gradwright.tensor([1.0, 2.0, 2.0], dtype=xp.float64)
        (weight * (y.real * y.real + y.imag * y.imag)).sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), 10 * X, 1e-12)


def test_resized() -> None:
    x = gradwright.ones(2, 3)
    assert fft.resized(xp, x, (3, 2), (0, 1)).tolist() == [[1, 1], [1, 1], [0, 0]]
    assert fft.resized(xp, x, (3,), (1,)) is x
