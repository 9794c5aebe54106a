"""Special functions: those of `scipy.special`, on the arrays of any library."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np


class Special:
    """The functions of `scipy.special`, each looked up once; the library is loaded when the first is asked for.

    A result has the dtype of the last argument, which SciPy would widen from half precision. Arrays of a library other
    than NumPy are converted there and back: ``xp`` is its namespace.
    """

    def __init__(self, xp: Any = None) -> None:
        self._xp = xp

    def __getattr__(self, name: str) -> Callable[..., Any]:
        try:
            function = getattr(importlib.import_module("scipy.special"), name)
        except ImportError as e:
            raise ImportError(
                f"the special function {name} needs SciPy: pip install 'gradwright[special]'", name="scipy"
            ) from e
        xp = self._xp

        def call(*args: Any) -> Any:
            if xp is not None:
                args = tuple(a if isinstance(a, (int, float)) else np.asarray(a) for a in args)
            results = function(*args)
            dtype = args[-1].dtype
            if isinstance(results, tuple):
                return tuple(finished(r, dtype) for r in results)
            return finished(results, dtype)

        def finished(y: Any, dtype: Any) -> Any:
            y = y if y.dtype == dtype else y.astype(dtype)
            return y if xp is None else xp.asarray(y)

        setattr(self, name, call)
        return call
