"""Where arrays come from. Each module here is one array library as the formulas see it: `xp`.

A formula may use the array API standard and the handful of functions listed in `EXTRAS`, which the standard lacks.
A backend module holds only what its library lacks (and, for NumPy, quick forms of what it does slowly).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright.base.lazy import surroundings

EXTRAS = (
    "argselect", "argtop", "at", "batch_last", "bincount", "conj", "einsum", "exp2", "fmod", "frexp", "gcd",
    "histogram", "isin", "lcm", "ldexp", "may_hold", "ones_like", "put", "restride", "running_extremum", "scatter",
    "scatter_add", "scatter_max", "scatter_prod", "sorted_lines", "spread_windows", "times_windows", "to_complex",
    "unindex", "unstride", "fold_windows", "view_as_complex", "view_as_real", "weigh_windows", "windows", "write_view",
    "zero", "zeros_like",
)  # the `_like`s take a shape; `conj` takes real arrays too

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise AttributeError(f"{__name__} has no {name!r}{surroundings(__name__, name)}", name=name)


@dataclass(frozen=True, eq=False)
class Library:
    """What gradwright knows of one array library.

    Attributes:
        name: what messages call it.
        xp: its namespace, as formulas see it.
        writes: whether its arrays are written in place. Where they are not, a write on a tensor puts a new array into
            it, and its views are read anew: values and gradients are the same.
        views: whether two arrays of it may share memory; None if that cannot be known, and then a write raises.
        host: whether all its arrays lie in the memory of this process, where there is one device.
        outer: whether its arrays stand for those of others: with them it is what an operation computes with.
        compiles: whether programs of its arrays are compiled (by `gradwright.compile`), as NumPy's are.
        traces: whether each of them stands for one array, its ``plain``, with which it shares a device.
        to_host: a NumPy array of what an array of it holds. It may be the same memory, and is not to be written.
    """

    name: str
    xp: Any
    writes: bool = False
    views: bool | None = False
    host: bool = False
    outer: bool = False
    compiles: bool = False
    traces: bool = False
    to_host: Callable[[Any], Any] = np.asarray

    def devices(self) -> list[Any]:
        """Its devices, as it lists them."""
        return list(self.xp.__array_namespace_info__().devices())

    def default_device(self) -> Any:
        """The device on which it makes an array unless told otherwise."""
        return self.xp.__array_namespace_info__().default_device()

    def kinds(self) -> dict[str, list[Any]]:
        """Its devices by the names that they go by, in order; one under several names goes by the last of them."""
        return {self.name: self.devices()}

    def taken(self, array: Any) -> Any:
        """An array of it, from elsewhere, as a tensor may hold it."""
        return array

    def place_of(self, array: Any) -> Any:
        """The device that an array lies on; RuntimeError if they are several that are no mesh."""
        return array.device

    def named(self, native: Any) -> tuple[str, int | None, str | None]:
        """What its device goes by: a name, and its place among those of that name; or a name, and which mesh it is."""
        kinds = self.kinds()
        name = [name for name, known in kinds.items() if native in known][-1]
        return name, kinds[name].index(native), None

    def mesh(self, kind: str, text: str) -> Any:
        """The mesh of several of its devices that goes by this; RuntimeError where there is none."""
        raise RuntimeError(f"gradwright has no device '{kind}:{text}': {self.name} has no meshes of devices")

    def moved(self, array: Any, native: Any, exact: bool = False) -> Any:
        """An array of it on another device; on a mesh, if ``exact``, laid out there as ``native`` says."""
        return array if array.device == native else array.to_device(native)

    def brought(self, host: Any, dtype: Any, native: Any) -> Any:
        """A copy of an array of NumPy's on a device, in a dtype of its own."""
        return self.xp.asarray(host, dtype=dtype, device=native, copy=True)

    def lying_as(self, new: Any, array: Any) -> Any:
        """``new``, of the same shape and on the same device, parted among the devices of a mesh as ``array`` is."""
        return new

    def is_here(self, array: Any) -> bool:
        """Whether this process has all of an array's values."""
        return True

    def is_elsewhere(self, array: Any) -> bool:
        """Whether other processes compute with an array, too: it lies on devices of theirs."""
        return False

    def agree(self, what: str, mend: str) -> None:
        """Raise RuntimeError, saying who says what, unless all processes say the same here."""

    def together(self) -> AbstractContextManager[None]:
        """All processes do what the block does: values that lie in several of them are gathered when they are read."""
        return nullcontext()


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


def register(namespace: Any, *types: type, name: str = "", **abilities: Any) -> Library:
    """Make ``namespace`` the `xp` of arrays of these types; what the library can do is said as in `Library`.

    A library that was registered under the same name before is forgotten.
    """
    name = name or getattr(namespace, "__name__", types[0].__module__.partition(".")[0])
    return enter(Library(name, namespace, **abilities), *types)


def enter(library: Library, *types: type) -> Library:
    """Make ``library`` that of arrays of these types, and forget one that was known under its name; returns it."""
    for cls in [cls for cls, one in _by_type.items() if one.name == library.name]:
        del _by_type[cls]
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


def to_host(array: Any) -> Any:
    """The values of an array of any registered library as a NumPy array, or NumPy scalar.

    It may be the same memory: copy it before you write to it.
    """
    return array if array.__class__ is np.ndarray else _by_type[type(array)].to_host(array)


def where_is(array: Any) -> Any:
    """The device of an array, as its library says; None of what stands for one while JAX compiles."""
    return getattr(array, "device", None)


def is_array(value: Any) -> bool:
    """Whether a value is an array of a registered library, or a Tensor."""
    return not _by_type.keys().isdisjoint(type(value).__mro__)


def common(name: str, arrays: Sequence[Any]) -> Library:
    """The library of arrays that an operation of this name is to compute with.

    Raises RuntimeError if they are of several, or on several devices of one.
    """
    one = library(arrays[0])
    for outer in map(library, arrays):
        if outer.outer:
            if outer.traces:
                common(name, [a.plain if library(a).traces else a for a in arrays])
            return outer
    for array in arrays:
        other = one if array.__class__ is arrays[0].__class__ else library(array)
        if other is not one:
            raise _mixed(name, "of one array library", one.name, other.name)
        if not one.host and array.device != arrays[0].device:
            here, there = map(one.place_of, (arrays[0], array))
            if here != there:
                raise _mixed(name, f"on one device of {one.name}", _shown(one, here), _shown(one, there))
    return one


def differ(name: str, a: Any, b: Any) -> bool:
    """Whether two arrays have different dtypes; RuntimeError, as from `common`, if they are of two libraries.

    The dtypes of two libraries differ even where they mean the same.
    """
    if a.__class__ is not b.__class__:
        common(name, (a, b))
    return bool(a.dtype != b.dtype)


def _shown(one: Library, native: Any) -> str:
    kind, index, mesh = one.named(native)
    return f"{kind}:{index if mesh is None else mesh}"


def _mixed(name: str, wanted: str, *found: Any) -> RuntimeError:
    return RuntimeError(
        f"{name}{'()' * name.isidentifier()}: expected all tensors to be {wanted}, but found two, "
        f"{' and '.join(map(str, found))}. Move one of them: with x.to(y.device), all of a model with "
        "model.to(x.device), or by gradwright.xp.asarray or gradwright.from_dlpack of an array of the library where it "
        "is wanted"
    )


def libraries() -> list[Library]:
    """The registered libraries."""
    return list(dict.fromkeys(_by_type.values()))
