"""Where arrays come from. Each module here is one array library as the formulas see it: `xp`.

A formula may use the array API standard and the handful of functions listed in `EXTRAS`, which the standard lacks.
A backend module holds only what its library lacks (and, for NumPy, quick forms of what it does slowly).
"""

from __future__ import annotations

from typing import Any

EXTRAS = ("einsum", "put", "scatter_add", "write_view")

_by_type: dict[type, Any] = {}


def register(namespace: Any, *types: type) -> None:
    """Make ``namespace`` the `xp` of arrays of these types."""
    for t in types:
        _by_type[t] = namespace


def namespace(array: Any) -> Any:
    """The `xp` of an array: what a formula must be handed to work on it.

    Raises TypeError if the value is no array of a registered library.
    """
    cls = type(array)
    try:
        return _by_type[cls]
    except KeyError:
        for base in cls.__mro__[1:]:
            if base in _by_type:
                _by_type[cls] = _by_type[base]
                return _by_type[base]
    raise TypeError(f"expected an array or a Tensor, got {cls.__name__}")
