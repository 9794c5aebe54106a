from __future__ import annotations

import importlib
from types import ModuleType

import numpy as np
import pytest

from gradwright.backends.fft import Transforms


def test_uses_scipy_and_keeps_single_precision() -> None:
    scipy = pytest.importorskip("scipy.fft")
    transforms = Transforms()
    assert transforms.fftn is scipy.fftn
    assert transforms.rfftn(np.ones(3, np.float32)).dtype == np.complex64


def test_does_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.import_module

    def without(name: str) -> ModuleType:
        if name.startswith("scipy"):
            raise ImportError(name)
        return find(name)

    monkeypatch.setattr(importlib, "import_module", without)
    assert Transforms().irfftn is np.fft.irfftn
