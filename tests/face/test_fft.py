from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright import fft

NAMES = [base + end for base in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft") for end in ("", "2", "n")]
OPTIONS: list[Any] = [{}, {"norm": "ortho"}, {"norm": "forward", "dim": 0}, {"dim": (0, 1)}, {"s": (3, 6)}, {"n": 6}]
X = np.random.default_rng(0).standard_normal((3, 4))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["float32", "int64", "complex128"])
def test_agrees_with_torch(torch: ModuleType, name: str, options: Any, dtype: str) -> None:
    one = name[-1] not in "2n"
    if (one and ("s" in options or isinstance(options.get("dim"), tuple))) or (not one and "n" in options):
        return
    if dtype.startswith("complex") and name.startswith(("rfft", "ihfft")):
        return
    x = (10 * X + (X * 1j if dtype.startswith("complex") else 0)).astype(dtype)
    ours = getattr(fft, name)(gradwright.tensor(x), **options)
    theirs = getattr(torch.fft, name)(torch.tensor(x), **options)
    assert str(ours.dtype) == str(theirs.dtype)
    np.testing.assert_allclose(ours.numpy(), theirs.resolve_conj().numpy(), 1e-4, 1e-4)


REFUSED: list[Any] = [
    ("fft", np.ones(()), {}), ("fft", X, {"n": 0}), ("fft", X, {"norm": "x"}), ("fft", X, {"dim": 5}),
    ("fft", X, {"n": 2.5}), ("fft2", np.ones(3), {}), ("fftn", np.ones(3), {"s": (2, 2)}), ("fftn", X, {"dim": (0, 0)}),
    ("fftn", X, {"s": (2, 2), "dim": 0}), ("rfft", X + 0j, {}), ("irfft", np.ones(1), {}), ("rfftn", np.ones(()), {}),
    ("rfft", np.ones(3, np.float16), {}), ("hfft", np.ones(1), {}), ("fftshift", X, {"dim": 3}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "x", "options"), REFUSED)
def test_refuses_what_torch_refuses(torch: ModuleType, name: str, x: Any, options: Any) -> None:
    with pytest.raises((RuntimeError, IndexError, TypeError)) as theirs:
        getattr(torch.fft, name)(torch.tensor(x), **options)
    with pytest.raises(theirs.type):
        getattr(fft, name)(gradwright.tensor(x), **options)


def test_special_lengths() -> None:
    assert fft.hfft(gradwright.ones(3), n=1).shape == (1,)
    assert fft.fftn(gradwright.tensor(2.0)).item() == 2
    assert fft.fft2(gradwright.ones(3, 3), s=(-1, 2)).shape == (3, 2)
    with pytest.raises(TypeError, match="must be Tensor, not list"):
        fft.fft([1.0])


@pytest.mark.parametrize("n", [0, 1, 4, 5])
def test_frequencies_and_shifts(torch: ModuleType, n: int) -> None:
    for name in ("fftfreq", "rfftfreq"):
        ours = getattr(fft, name)(n, 0.5)
        assert ours.dtype is gradwright.float32
        np.testing.assert_allclose(ours.numpy(), getattr(torch.fft, name)(n, 0.5).numpy())
    x = np.arange(3.0 * n).reshape(3, n)
    for name in ("fftshift", "ifftshift"):
        for dim in (None, 1, (0,)):
            wanted = getattr(torch.fft, name)(torch.tensor(x), dim).numpy()
            assert np.array_equal(getattr(fft, name)(gradwright.tensor(x), dim).numpy(), wanted)
    assert fft.fftfreq(3, requires_grad=True).requires_grad
    for wrong in ({"n": -1}, {"n": 3, "dtype": gradwright.int64}):
        with pytest.raises(RuntimeError):
            fft.fftfreq(**wrong)
