from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright.signal import windows

CASES: list[Any] = [
    ("bartlett", {}), ("blackman", {}), ("cosine", {}), ("exponential", {}), ("exponential", {"tau": 2.5}),
    ("exponential", {"center": 1.0, "sym": False}), ("gaussian", {"std": 2.0}),
    ("general_cosine", {"a": [0.5, 0.3, 0.2]}),
    ("general_hamming", {"alpha": 0.3}), ("hamming", {}), ("hann", {}), ("kaiser", {"beta": 3.0}), ("nuttall", {}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options"), CASES)
@pytest.mark.parametrize("n", [0, 1, 2, 5, 8])
def test_agrees_with_torch(torch: ModuleType, name: str, options: Any, n: int) -> None:
    for sym in [options["sym"]] if "sym" in options else [True, False]:
        for d in ("float32", "float64"):
            ours = getattr(windows, name)(n, **options | {"sym": sym}, dtype=getattr(gradwright, d))
            theirs = getattr(torch.signal.windows, name)(n, **options | {"sym": sym}, dtype=getattr(torch, d))
            assert ours.dtype.name == d
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=0, atol=1e-6 if d == "float32" else 1e-14)


def test_names_match(torch: ModuleType) -> None:
    assert sorted(windows.__all__) == sorted(torch.signal.windows.__all__)


@pytest.mark.parametrize(("name", "options", "error"), [
    ("hann", {"M": -1}, ValueError), ("hann", {"dtype": "int64"}, ValueError), ("gaussian", {"std": -1}, ValueError),
    ("kaiser", {"beta": -1}, ValueError), ("exponential", {"tau": 0}, ValueError),
    ("hann", {"dtype": "float16"}, ValueError),
    ("exponential", {"center": 1.0}, ValueError), ("general_cosine", {"a": 1.0}, TypeError),
    ("general_cosine", {"a": []}, ValueError),
])  # fmt: skip
def test_what_it_refuses(name: str, options: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        getattr(windows, name)(**{"M": 5} | options)


def test_requires_grad() -> None:
    assert windows.hann(4, requires_grad=True).requires_grad
