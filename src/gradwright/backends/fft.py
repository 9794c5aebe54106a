"""Fast Fourier transforms of NumPy arrays: SciPy's, several times as fast, or NumPy's without SciPy."""

from __future__ import annotations

import importlib
from typing import Any


class Transforms:
    """The functions of `scipy.fft` or `numpy.fft`. The library is loaded when a function is first asked for."""

    def __getattr__(self, name: str) -> Any:
        try:
            library = importlib.import_module("scipy.fft")
        except ImportError:
            library = importlib.import_module("numpy.fft")
        setattr(self, name, getattr(library, name))
        return getattr(library, name)
