"""Whether tensors and arrays are as they were at the last look: a few words of memory each, compared in C.

It leans on how CPython lays out slots, and NumPy its arrays: the part of its ABI that macros read. Where it is found
to be otherwise, or threads may change objects meanwhile, there are no `Words`, and all is looked at in Python.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gradwright.compilation.by_c.build import CannotCompileError, load
from gradwright.engine.base import TensorBase
from gradwright.engine.node import AccumulateGrad, Node

_EQUAL, _EQUAL_INT, _NOTHING, _SOMETHING = range(4)
_HEAD = object.__basicsize__
_TYPE = _HEAD - 8
_DATA, _NDIM, _SHAPE, _STRIDES, _DTYPE, _FLAGS = (_HEAD + at for at in (0, 8, 16, 24, 40, 48))
_NONE = id(None)


def _word(at: int) -> int:
    return ctypes.c_int64.from_address(at).value


class _Slots(NamedTuple):
    """How far from the beginning of an object its slots lie."""

    array: int
    node: int
    view: int
    grad: int
    hooks: int


def _slots() -> _Slots | None:
    """Where they lie, and an array's parts do, if all of that is found to be so."""
    locked = sys.version_info < (3, 13) or getattr(sys, "_is_gil_enabled", bool)()
    if sys.implementation.name != "cpython" or not locked:
        return None
    probe = np.ones((3, 5), np.float32)[:, ::2]
    at = id(probe)
    shown = probe.__array_interface__
    if _word(at + _TYPE) != id(np.ndarray) or _word(at + _DATA) != shown["data"][0] or _word(at + _NDIM) & 0xFFFF != 2:
        return None
    rows = [_word(_word(at + where) + 8 * k) for where in (_SHAPE, _STRIDES) for k in range(2)]
    if rows != [*probe.shape, *probe.strides] or _word(at + _DTYPE) != id(probe.dtype):
        return None
    flags = _word(at + _FLAGS)
    probe.flags.writeable = False
    if (flags ^ _word(at + _FLAGS)) & 0xFFFFFFFF != 0x400:
        return None
    t, found = TensorBase(), []
    node: Any = object.__new__(AccumulateGrad)
    for cls, holder, name in ((TensorBase, t, "array"), (TensorBase, t, "_node"), (TensorBase, t, "_view"),
                              (TensorBase, t, "_grad"), (Node, node, "_hooks")):  # fmt: skip
        value = object()
        setattr(holder, name, value)
        places = [k for k in range(_HEAD, type(holder).__basicsize__, 8) if _word(id(holder) + k) == id(value)]
        if len(places) != 1 or name not in vars(cls):
            return None
        found += places
    return _Slots(*found)


@cache
def _ready() -> tuple[_Slots, Any] | None:
    slots = _slots()
    if slots is None:
        return None
    try:
        library = load(Path(__file__).with_name("words.c").read_text(encoding="utf-8"))
    except CannotCompileError:
        return None
    found = ctypes.PyDLL(library._name).words  # nothing else may run meanwhile
    found.argtypes, found.restype = [ctypes.c_void_p, ctypes.c_long, ctypes.c_longlong], ctypes.c_long
    return slots, found


class Words:
    """What is remembered of tensors, in the order in which they are added.

    Attributes:
        held: whether all can be remembered that was added.
    """

    def __init__(self) -> None:
        self._rows: list[tuple[int, int, int]] = []
        self._alive: list[Any] = []
        ready = _ready()
        self.held = ready is not None
        if ready is not None:
            self._slots, self._function = ready

    def tensor(self, t: Any, grad_of: Any, asks_for_grad: bool) -> None:
        """A tensor, which is the ``.grad`` of another one unless that is None."""
        node = t._node
        if not self.held or t._view is not None or (node is not None and node._hooks is not None):
            self.held = False
            return
        slots, at = self._slots, id(t)
        if grad_of is not None:
            self._rows.append((id(grad_of) + slots.grad, at, _EQUAL))
        self._rows += [(at + _TYPE, id(type(t)), _EQUAL), (at + slots.view, _NONE, _EQUAL),
                       (at + slots.node, id(node), _EQUAL)]  # fmt: skip
        if node is not None:
            self._rows.append((id(node) + slots.hooks, _NONE, _EQUAL))
        if asks_for_grad:
            nothing = getattr(t, "_grad", None) is None
            self._rows.append((at + slots.grad, 0, _NOTHING if nothing else _SOMETHING))
        self._rows.append((at + slots.array, id(t.array), _EQUAL))
        self.array(t.array)

    def array(self, array: Any) -> None:
        """A NumPy array."""
        if not self.held or type(array) is not np.ndarray:
            self.held = False
            return
        at = id(array)
        self._alive.append(array)
        rows = [(at + k, _word(at + k), _EQUAL) for k in (_DATA, _SHAPE, _STRIDES, _DTYPE)]
        rows += [(at + k, ctypes.c_int.from_address(at + k).value, _EQUAL_INT) for k in (_NDIM, _FLAGS)]
        for where, numbers in ((_SHAPE, array.shape), (_STRIDES, array.strides)):
            start = _word(at + where)
            rows += [(start + 8 * k, number, _EQUAL) for k, number in enumerate(numbers)]
        self._rows += rows

    def question(self) -> Callable[[], int]:
        """A function, while these words live: 0 if all that was added is as it was."""
        rows = (ctypes.c_longlong * (3 * len(self._rows)))(*(word for row in self._rows for word in row))
        self._alive.append(rows)
        return partial(self._function, ctypes.addressof(rows), len(self._rows), _NONE)
