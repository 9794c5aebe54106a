"""Where arrays come from. Each module here is one array library as the formulas see it: `xp`.

A formula may use the array API standard and the handful of functions listed in `EXTRAS`, which the standard lacks.
A backend module holds only what its library lacks (and, for NumPy, quick forms of what it does slowly).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

EXTRAS = (
    "at", "batch_last", "conj", "einsum", "exp2", "fmod", "may_hold", "ones_like", "put", "restride", "scatter",
    "scatter_add", "scatter_max", "scatter_prod", "to_complex", "unstride", "unwindows", "view_as_complex",
    "view_as_real", "windows", "write_view", "zeros_like",
)  # the `_like`s take a shape; `conj` takes real arrays too


@dataclass(frozen=True, eq=False)
class Library:
    """What gradwright knows of one array library.

    Attributes:
        name: what messages call it.
        xp: its namespace, as formulas see it.
        writes: whether its arrays are written in place. Where they are not, a write on a tensor puts a new array into
            it, and its views are read anew: values and gradients are the same.
        views: whether two arrays of it may share memory; None if that cannot be known, and then a write raises.
    """

    name: str
    xp: Any
    writes: bool = False
    views: bool | None = False


class _ByType(dict[type, Library]):
    """Array types and their libraries; a subclass is looked up once."""

    def __missing__(self, cls: type) -> Library:
        for base in cls.__mro__[1:]:
            if base in self:
                self[cls] = self[base]
                return self[base]
        known = ", ".join(sorted({one.name for one in self.values()}))
        whose = "" if cls.__module__ == "builtins" else f" of {cls.__module__}"
        raise TypeError(
            f"expected an array or a Tensor, got {cls.__name__}{whose}. The array libraries known are {known}; "
            "gradwright.backends.register makes another one known"
        )


_by_type = _ByType()


def register(namespace: Any, *types: type, name: str = "", writes: bool = False, views: bool | None = False) -> Library:
    """Make ``namespace`` the `xp` of arrays of these types; what the library can do is said as in `Library`."""
    library = Library(name or getattr(namespace, "__name__", types[0].__module__.partition(".")[0]), namespace, writes,
                      views)  # fmt: skip
    _by_type.update(dict.fromkeys(types, library))
    return library


def library(array: Any) -> Library:
    """The library that an array is of. Raises TypeError if the value is no array of a registered one."""
    return _by_type[type(array)]


def namespace(array: Any) -> Any:
    """The `xp` of an array: what a formula must be handed to work on it.

    Raises TypeError if the value is no array of a registered library.
    """
    return _by_type[type(array)].xp
