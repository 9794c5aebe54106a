"""Where arrays come from. Each module here is one array library as the formulas see it: `xp`.

A formula may use the array API standard and the handful of functions listed in `EXTRAS`, which the standard lacks.
A backend module holds only what its library lacks (and, for NumPy, quick forms of what it does slowly).
"""

from __future__ import annotations

from typing import Any

EXTRAS = (
    "at", "batch_last", "conj", "einsum", "exp2", "fmod", "ones_like", "put", "restride", "scatter", "scatter_add",
    "scatter_max", "scatter_prod", "to_complex", "unstride", "unwindows", "view_as_complex", "view_as_real",
    "windows", "write_view", "zeros_like",
)  # the `_like`s take a shape; `conj` takes real arrays too


class _ByType(dict[type, Any]):
    """Array types and their namespaces; a subclass is looked up once."""

    def __missing__(self, cls: type) -> Any:
        for base in cls.__mro__[1:]:
            if base in self:
                self[cls] = self[base]
                return self[base]
        raise TypeError(f"expected an array or a Tensor, got {cls.__name__}")


_by_type = _ByType()


def register(namespace: Any, *types: type) -> None:
    """Make ``namespace`` the `xp` of arrays of these types."""
    _by_type.update(dict.fromkeys(types, namespace))


def namespace(array: Any) -> Any:
    """The `xp` of an array: what a formula must be handed to work on it.

    Raises TypeError if the value is no array of a registered library.
    """
    return _by_type[type(array)]
