"""Tensors and the arrays that hold them in a file: what shares memory is stored once, and shares it again."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from gradwright.backends import to_host
from gradwright.backends.devices import CPU, device
from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.engine.base import TensorBase, warn_of_lost_history, wrap
from gradwright.engine.memory import layout
from gradwright.face.tensor import Tensor
from gradwright.nn.parameter import Buffer, Parameter, is_lazy

_PATIENCE: Any = 1000  # of NumPy, which can take very long to tell whether two strided arrays have an element in common
_CLASSES = {"Tensor": Tensor, "Parameter": Parameter, "Buffer": Buffer}


class Store:
    """The tensors and arrays of the data that are being saved, each with a name, in the order they were met.

    ``attributes``: by number, the JSON of what the user has set on a tensor.
    """

    def __init__(self) -> None:
        self.found: list[tuple[Any, str]] = []
        self._numbers: dict[int, int] = {}
        self.attributes: dict[int, Any] = {}
        self._names = {"__metadata__"}
        self._arrays: list[Any] = []

    def number(self, value: Any, name: str) -> int:
        """The number by which the structure refers to ``value``: the same object has the same one."""
        if id(value) not in self._numbers:
            self._numbers[id(value)] = len(self.found)
            self.found.append((value, self._unused(name)))
        return self._numbers[id(value)]

    def _unused(self, name: str) -> str:
        """``name`` as it may stand in a file: of characters that have a code in UTF-8, and another's name nowhere."""
        name = stem = name.encode(errors="replace").decode() or "tensor"
        while name in self._names:
            name = f"{stem}#{len(self._names)}"
        self._names.add(name)
        return name

    def lay_out(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The arrays to store, by name, and for each tensor a record: what it is, and where it lies in which of them.

        A tensor alone in its memory is stored as it is, made contiguous. Several of the same memory, shape and strides
        are stored once. Of several that overlap, the one that holds them all is stored, or else the memory from the
        first byte to the last; the others are places in it.
        """
        stored: dict[str, Any] = {}
        records: list[dict[str, Any]] = [self._record(i, v) for i, (v, _) in enumerate(self.found)]
        for group in self._groups():
            arrays = [self._arrays[members[0]] for members in group]
            whole = _whole(arrays)
            name = self.found[group[0 if whole is None else whole][0]][1]
            if whole is None:
                low, high = _reach(arrays)
                name = self._unused(f"{name}.memory")
                stored[name] = _memory(low, high)
            else:
                low = arrays[whole].__array_interface__["data"][0]
                stored[name] = _storable(arrays[whole])
            for position, members in enumerate(group):
                place = {} if position == whole else _place(arrays[position], low)
                for i in members:
                    records[i] |= {"in": name, **place}
        return stored, records

    def as_they_lie(self) -> tuple[list[Any], list[dict[str, Any]]]:
        """The memory to store, as arrays of bytes, and a record for each tensor, which says where in which it lies.

        Here every tensor keeps its strides, where these are whole numbers of entries and none goes backwards.
        """
        stored: list[Any] = []
        records: list[dict[str, Any]] = [self._record(i, v) for i, (v, _) in enumerate(self.found)]
        for group in sorted(self._groups()):
            arrays = [self._arrays[members[0]] for members in group]
            low, high = _reach(arrays) if arrays[0].size else (0, 0)
            places = [_place(a, low) for a in arrays]
            if all(n >= 0 and n % a.itemsize == 0 for a, p in zip(arrays, places, strict=True)
                   for n in (p["offset"], *p["strides"])):  # fmt: skip
                parts = [(_memory(low, high), list(zip(group, places, strict=True)))]
            else:
                own = [np.array(a, order="C") for a in arrays]
                parts = [(a.reshape(-1).view(np.uint8), [(members, _place(a, a.__array_interface__["data"][0]))])
                         for a, members in zip(own, group, strict=True)]  # fmt: skip
            for memory, placed in parts:
                for members, place in placed:
                    for i in members:
                        records[i] |= {"in": len(stored), **place}
                stored.append(memory)
        return stored, records

    def _groups(self) -> Iterator[list[list[int]]]:
        """What was found, by its numbers: in a group what overlaps, in a list of it what lies at the same place."""
        arrays = [np.asarray(_on_host(v) if isinstance(v, TensorBase) else v) for v, _ in self.found]
        self._arrays = arrays  # of other libraries, copies that nobody else holds
        same: dict[Any, list[int]] = {}
        for i, a in enumerate(arrays):
            key = (a.__array_interface__["data"][0], a.shape, a.strides, a.dtype) if a.size else i
            same.setdefault(key, []).append(i)
        return _overlapping([arrays[members[0]] for members in same.values()], list(same.values()))

    def _record(self, i: int, value: Any) -> dict[str, Any]:
        array = value.array if isinstance(value, TensorBase) else value
        what = type(value).__name__ if isinstance(value, TensorBase) else "ndarray"
        if not getattr(value, "is_leaf", True):
            warn_of_lost_history(value, "saved")
        record = {"is": what, "dtype": dtypes.of(array.dtype).name, "grad": getattr(value, "requires_grad", False)}
        record |= {"persistent": value.persistent} if isinstance(value, Buffer) else {}
        return record | {"attributes": self.attributes[i]} if i in self.attributes else record


def _on_host(t: Any) -> Any:
    """The array of a tensor; of another library's, a copy that lies in its memory as it does."""
    array = layout(t)
    if array is not t.array:
        array.flags.writeable = True  # NumPy locks whatever has been broadcast
        array[...] = to_host(t.array)
    return array


def check(value: Any) -> None:
    """Raise TypeError unless a tensor or array is of a sort that can be saved."""
    if isinstance(value, TensorBase):
        if is_lazy(value):
            raise TypeError("it has no shape yet: call the module once before")
        if type(value) not in _CLASSES.values():
            raise TypeError(f"a {kind(value)}, a class derived from Tensor: save value.detach()")
    elif type(value) not in (np.ndarray, np.memmap):
        raise TypeError(f"{kind(value)}: save numpy.asarray(value)")
    elif not value.dtype.isnative:
        raise TypeError(f"an array of foreign byte order, {value.dtype}: save value.astype(value.dtype.newbyteorder())")
    else:
        dtypes.of(value.dtype)


def _storable(array: Any) -> Any:
    """An array of a dtype that the format has: complex128 as pairs of float64."""
    return np.asarray(array, order="C")[..., None].view(np.float64) if array.dtype == np.complex128 else array


def _reach(arrays: list[Any]) -> tuple[int, int]:
    """The first address of their memory, and the one after the last."""
    bounds = [np.lib.array_utils.byte_bounds(a) for a in arrays]
    return min(low for low, _ in bounds), max(high for _, high in bounds)


def _overlapping(arrays: list[Any], items: list[Any]) -> Iterator[list[Any]]:
    """The items in groups whose arrays lie over one another in memory."""
    bounds = [_reach([a]) if a.size else (0, 0) for a in arrays]
    group: list[int] = []
    reach = 0
    for i in [*sorted(range(len(arrays)), key=lambda i: bounds[i]), None]:
        if i is not None and (not group or bounds[i][0] < reach):
            group.append(i)
            reach = max(reach, bounds[i][1])
            continue
        shared = [arrays[j] for j in group]
        if len(group) > 1 and _whole(shared) is None and not _touch(shared):  # interleaved, such as columns
            yield from ([items[j]] for j in group)
        elif group:
            yield [items[j] for j in sorted(group)]
        if i is not None:
            group, reach = [i], bounds[i][1]


def _whole(arrays: list[Any]) -> int | None:
    """Which of them holds, without gaps and in row-major order, all the memory of the others; None if none does."""
    if len(arrays) == 1:
        return 0
    reach = _reach(arrays)
    return next((i for i, a in enumerate(arrays) if a.flags.c_contiguous and _reach([a]) == reach), None)


def _touch(arrays: list[Any]) -> bool:
    """Whether an element of one is an element of another; for those hard to tell, yes."""
    try:
        return any(np.shares_memory(a, b, max_work=_PATIENCE) for a, b in combinations(arrays, 2))
    except np.exceptions.TooHardError:
        return True


def _memory(low: int, high: int) -> Any:
    """The bytes from one address to another, of arrays that live."""
    if low == high:
        return np.empty(0, np.uint8)

    class Bytes:
        __array_interface__ = {"version": 3, "typestr": "|u1", "shape": (high - low,), "data": (low, True)}

    return np.asarray(Bytes())


def _place(array: Any, low: int) -> dict[str, Any]:
    offset = array.__array_interface__["data"][0] - low if array.size else 0
    return {"shape": list(array.shape), "strides": list(array.strides), "offset": offset}


# -- loading --


def restore(records: list[dict[str, Any]], arrays: dict[str, Any], to: device = CPU) -> list[Any]:
    """The tensors and arrays of these records. Those in one stored array share its memory, and count its changes."""
    counters: dict[str, list[Any]] = {name: [0] for name in arrays}
    return [_restored(r, arrays[r["in"]], counters[r["in"]], to) for r in records]


def _restored(record: dict[str, Any], stored: Any, counter: list[Any], to: device) -> Any:
    dtype = dtypes.of(record["dtype"]).dtype
    if "strides" in record:
        memory = stored.reshape(-1).view(np.uint8)
        array = np.ndarray(record["shape"], dtype, memory, record["offset"], record["strides"])
    else:
        array = stored.view(dtype)[..., 0] if dtype == np.complex128 else stored.view()
    if array.dtype != dtype:
        raise ValueError(f"{dtype} in an array of {array.dtype}")
    if record["is"] == "ndarray":
        return array
    tensor = wrap(to.hold(array), counter=counter if to == CPU else None)
    tensor._grad = None
    cls = _CLASSES[record["is"]]
    if cls is Parameter:
        return Parameter(tensor, record["grad"])
    if record["grad"]:
        tensor.requires_grad_()
    return Buffer(tensor, persistent=record["persistent"]) if cls is Buffer else tensor
