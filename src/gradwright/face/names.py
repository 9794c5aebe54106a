"""NumPy's argument names, which PyTorch takes for its own: ``axis`` for ``dim``, ``keepdims`` for ``keepdim``."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

ALIASES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}


def numpy_names(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, which then takes the names in `ALIASES` too; TypeError if an argument is given under both names."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs and not ALIASES.keys().isdisjoint(kwargs):
            for name in ALIASES.keys() & kwargs.keys():
                if ALIASES[name] in kwargs:
                    raise TypeError(f"{function.__name__}(): '{name}' is another name of '{ALIASES[name]}'; both given")
                kwargs[ALIASES[name]] = kwargs.pop(name)
        return function(*args, **kwargs)

    return call
