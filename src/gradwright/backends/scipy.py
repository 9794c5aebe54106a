"""SciPy's functions of NumPy's arrays, loaded when first asked for, and what there is without SciPy."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np


class Transforms:
    """Fast Fourier transforms: those of `scipy.fft`, several times as fast, or else of `numpy.fft`."""

    def __getattr__(self, name: str) -> Any:
        try:
            library = importlib.import_module("scipy.fft")
        except ImportError:
            library = importlib.import_module("numpy.fft")
        setattr(self, name, getattr(library, name))
        return getattr(library, name)


_ONE_BY_ONE = {"erf": np.vectorize(math.erf, otypes="d"), "erfc": np.vectorize(math.erfc, otypes="d")}
"""What Python computes as well where SciPy is not installed, of one number at a time."""


class Special:
    """The functions of `scipy.special`. A result has the dtype of the last argument, which SciPy would widen."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        try:
            function = getattr(importlib.import_module("scipy.special"), name)
        except ImportError as e:
            if name not in _ONE_BY_ONE:
                raise ImportError(
                    f"the special function {name} needs SciPy: pip install scipy", name="scipy"
                ) from e
            function = _ONE_BY_ONE[name]

        def call(*args: Any) -> Any:
            results = function(*args)
            dtype = args[-1].dtype
            if isinstance(results, tuple):
                return tuple(finished(r, dtype) for r in results)
            return finished(results, dtype)

        def finished(y: Any, dtype: Any) -> Any:
            return y if y.dtype == dtype else y.astype(dtype)

        setattr(self, name, call)
        return call
