"""The tensors and the memory that a traced run meets: how they were before, what was read and what written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from gradwright import backends
from gradwright.backends.numpy import NUMPY
from gradwright.compilation.trace.traced import Traced, Untraceable
from gradwright.compilation.watch.guards import Guard
from gradwright.engine.base import TensorBase
from gradwright.engine.levels import LevelArray
from gradwright.engine.memory import lying_as, root, whole
from gradwright.engine.node import AccumulateGrad


def look(t: Any) -> tuple[Any, ...]:
    """What of a tensor a program depends on, beside its values; of other libraries its device in place of strides."""
    array, node = t.array, t._node
    strides = array.strides if array.__class__ is np.ndarray else getattr(array, "sharding", ())
    history = "none" if node is None else "leaf" if type(node) is AccumulateGrad else "made"
    hooks = () if node is None else hooks_of(node)
    return type(t), array.shape, array.dtype, strides, history, getattr(t, "_grad", None) is None, hooks


def hooks_of(node: Any) -> tuple[Any, ...]:
    """The hooks of a node."""
    hooks = node._hooks
    if hooks is None:
        return ()
    kinds = hooks.tensor, hooks.pre, hooks.post, hooks.accumulated
    return tuple(f for kind in kinds for f in kind.values()) + tuple(map(id, hooks.retained))


def copied(array: Any) -> Any:
    """A copy of an array of NumPy's that lies in memory as it does: code may ask for its strides."""
    copy = array.copy(order="K")
    if copy.strides == array.strides or not array.size:
        return copy
    copy = lying_as(array)
    copy[...] = array
    return copy


def outside(leaf: tuple[str, Any], leaves: Sequence[Any]) -> Any:
    """The tensor from outside that a leaf of a record stands for: an argument, or always the same."""
    return leaves[leaf[1]] if leaf[0] == "argument" else leaf[1]


class State:
    """How a tensor was before a run."""

    __slots__ = ("array", "counter", "grad", "hooks", "look", "node", "tensor", "version", "view")

    def __init__(self, t: Any) -> None:
        hooks = None if t._node is None else t._node._hooks
        self.hooks: Any = hooks, hooks and [dict(getattr(hooks, kind)) for kind in _HOOKS], hooks and [*hooks.retained]
        self.tensor, self.array, self.node, self.counter = t, t.array, t._node, t._counter
        self.grad, self.view = getattr(t, "_grad", None), t._view
        self.version = t._counter[0]
        self.look = look(t)

    def restore(self) -> None:
        """Let its hooks be so again: all else was changed for the thread of the run alone."""
        t = self.tensor
        hooks, kinds, retained = self.hooks
        if hooks is not None:
            for kind, held in zip(_HOOKS, kinds, strict=True):
                registry = getattr(hooks, kind)  # which handles know
                registry.clear()
                registry.update(held)
            hooks.retained = retained
        if t._node is not None:
            t._node._hooks = hooks


_HOOKS = "tensor", "pre", "post", "accumulated"


class Unit:
    """Memory that a traced run has read or written: an input of the program.

    Attributes:
        array: the array; None of what was made in the run.
        tensor: the one through which it was met.
        start: what it held, traced.
        showing: the tensors over it, with the arrays that they held.
        parts: what these showed of memory, where the library keeps that, by id.
        whole: whether it is all of such memory, of which they show parts.
    """

    def __init__(self, array: Any, tensor: Any, start: Traced, whole: bool = False) -> None:
        self.array, self.tensor, self.start, self.whole = array, tensor, start, whole
        self.showing: list[tuple[Any, Any]] = []
        self.parts: dict[int, Any] = {}

    def now(self) -> Any:
        """Its array now, traced."""
        first = self.showing[0][0]
        part = getattr(first, "_part", None)
        return first.array if part is None else part.memory.array


class Setting:
    """A number that a program reads anew at every call: an entry of a dictionary, or of a tuple in it."""

    def __init__(self, container: dict[str, Any], key: str, index: int | None, value: float, start: Traced) -> None:
        self.container, self.key, self.index, self.value, self.start = container, key, index, value, start

    def read(self) -> Any:
        """The number as it is; None if it is no number that may stand in its place."""
        value = self.container.get(self.key)
        if self.index is not None:
            value = value[self.index] if type(value) is tuple and len(value) > self.index else None
        return value if type(value) is float and value != 0 else None


def unguarded(guards: Iterable[Guard], settings: Iterable[Setting]) -> list[Guard]:
    """The guards that are not about settings, which are read at every call."""
    read = {(id(setting.container), setting.key) for setting in settings}
    return [guard for guard in guards if not guard.in_passing or (id(guard.container), guard.key) not in read]


def where_it_is_used(options: dict[str, Any], value: float) -> Any:
    """A number as an array of the library, and on the device, of the parameters beside it."""
    params = options.get("params")
    array = params[0].array if isinstance(params, list) and params and isinstance(params[0], TensorBase) else None
    plain = array.plain if isinstance(array, Traced) else array
    by = NUMPY if plain is None or isinstance(plain, LevelArray) else backends.library(plain)
    return np.array(value) if by is NUMPY else by.brought(np.array(value), None, by.place_of(plain))


def place(array: Any) -> tuple[Any, ...]:
    """Where and how an array lies in memory; of one that is never written, which it is."""
    if not isinstance(array, np.ndarray):
        return (id(array),)
    at = array.__array_interface__["data"][0] if array.size else id(array)
    return at, array.shape, array.strides, array.dtype


def of_one_memory(t: Any, other: Any) -> bool:
    """Whether a tensor is another one, or shows the same memory, while both hold traced arrays."""
    mine, its = getattr(t, "_part", None), getattr(other, "_part", None)
    return t is other or (mine is not None and its is not None and mine.memory is its.memory)


_NONE: tuple[Any, list[Any]] = None, []


def met(t: Any) -> None:
    """An operation reads ``t``, and may save it under the counter that it has."""
    part = getattr(t, "_part", None)
    if part is not None:
        part.memory.count(t)


class Overwritten:
    """Values that memory held before it was written, where several counters count what is written there."""

    def __init__(self) -> None:
        self._values: dict[int, tuple[Any, list[Any]]] = {}

    def note(self, t: Any) -> None:
        """``t`` is about to be written."""
        met(t)
        part, held = getattr(t, "_part", None), whole(t)
        if part is not None and len(part.memory.counters) > 1 and isinstance(held.plain, np.ndarray):
            value = _owner(held.plain)
            others = [counter for counter in part.memory.counters if counter is not t._counter]
            self._values.setdefault(id(value), (value, []))[1].extend(others)

    def check(self, node: Any) -> None:
        """Raise `Untraceable` if a node, which is about to run backward, has saved such values under such a counter."""
        for array, counter, version in _saved(node) if self._values else ():
            _, counters = self._values.get(id(_owner(array.plain)), _NONE)
            if counter[0] == version and any(other is counter for other in counters):
                raise Untraceable(
                    f"backward of {node.name()} reads a tensor that has been written since through .data, or through "
                    "another tensor of the same memory that counts its own writes: write to a clone() of it, or to the "
                    "tensor itself under no_grad(), which notices"
                )


def _saved(node: Any) -> Iterator[tuple[Any, Any, int]]:
    """The arrays that a node has saved, some of them several under one name, with their counters and versions."""
    for entry in getattr(node, "_saved", None) or ():
        for one in entry if type(entry) is tuple and entry and type(entry[0]) is tuple else (entry,):
            if type(one) is tuple and len(one) == 4 and isinstance(one[0], Traced):
                yield one[:3]


def _owner(value: Any) -> Any:
    """What owns the memory of values in a traced run: those of a view are a view."""
    return root(value) if isinstance(value, np.ndarray) else value
