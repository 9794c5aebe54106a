"""Memory of libraries whose arrays are not written: what several tensors show of it, and how a write reaches them.

An array of such a library never changes, but tensors over it do: a view shows a part of what its base shows, and an
alias all of it, whatever is written later. Each has a `Part`: which memory, and the chain of views from all of it. A
write makes a new array of the whole memory, which the tensors over it read anew. A tensor that shares its memory with
nobody has no part, and takes the new array.

How tensors lie in that memory (which operations make views, what overlaps, strides and offsets) is what NumPy says of
a stand-in that nobody reads or writes.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from functools import partial
from math import prod
from typing import Any

import numpy as np

from gradwright import backends
from gradwright.backends.generic import overlapping
from gradwright.backends.steps import read
from gradwright.base import dtypes
from gradwright.base.cpython.at_once import Call, at_once, copying
from gradwright.base.errors import size
from gradwright.engine.levels import LevelArray
from gradwright.ops.declare import table


class Memory:
    """An array, and the tensors that show parts of it.

    Attributes:
        array: what is in it now.
        saved: whether it was made for a value that a graph had saved, whose own tensor is not known.
        counters: those of the versions of such tensors; several, if some do not count what is written through others.
    """

    __slots__ = ("__weakref__", "_over", "array", "counters", "saved")

    def __init__(self, array: Any, saved: bool) -> None:
        self.array, self.saved = array, saved
        self._over: dict[int, weakref.ref[Any]] = {}
        self.counters: list[list[Any]] = []

    def add(self, t: Any) -> None:
        """Count ``t`` among the tensors over it."""
        self._over[id(t)] = weakref.ref(t, partial(_gone, self._over, id(t)))
        self.count(t)

    def count(self, t: Any) -> None:
        """Note the counter that ``t`` has now."""
        if all(counter is not t._counter for counter in self.counters):
            self.counters.append(t._counter)

    def drop(self, t: Any) -> None:
        """``t`` shows other memory now."""
        self._over.pop(id(t), None)

    def tensors(self) -> Iterator[Any]:
        """The living tensors over it."""
        for ref in [*self._over.values()]:
            t = ref()
            part = getattr(t, "_part", None)
            if part is not None and part.memory is self:  # an interrupt may have kept it from being dropped
                yield t


def _gone(over: dict[int, Any], key: int, ref: Any) -> None:
    if over.get(key) is ref:
        del over[key]


class Part:
    """A tensor's part of a memory: the chain of views from all of it, and a stand-in with its strides."""

    __slots__ = ("layout", "memory", "steps")

    def __init__(self, memory: Memory, steps: tuple[Any, ...], layout: Any) -> None:
        self.memory, self.steps, self.layout = memory, steps, layout


def is_immutable(array: Any) -> bool:
    """Whether the tensors that share an array's memory are listed here, as the array itself is never written."""
    return array.__class__ is not np.ndarray and not backends.library(array).writes


def _part(t: Any, saved: bool = False) -> Part:
    found: Part | None = getattr(t, "_part", None)
    if found is None:
        array = t.array
        found = Part(Memory(array, saved), (), _standing(array))
        _enter(t, found)
    return found


def _enter(t: Any, part: Part) -> None:
    old = getattr(t, "_part", None)
    part.memory.add(t)  # first: a part whose memory did not know of it would miss what is written
    t._part = part
    if old is not None and old.memory is not part.memory:
        old.memory.drop(t)


def leave(t: Any) -> None:
    """``t`` gets memory of its own."""
    old = getattr(t, "_part", None)
    if old is not None:
        del t._part
        old.memory.drop(t)


def share(t: Any, source: Any) -> Any:
    """Let ``t`` show the memory that ``source`` shows, as its array says already; returns ``t``."""
    if is_immutable(t.array):
        _enter(t, _part(source))
    return t


def share_saved(t: Any) -> Any:
    """Note that ``t`` is what a graph has saved; returns ``t``."""
    if is_immutable(t.array):
        _part(t, saved=True)
    return t


def shows(t: Any, x: Any, op: Any, static: dict[str, Any], *which: int) -> bool:
    """Whether ``t``, result ``which`` of ``op`` for ``x``, is a view of it; where that is listed, it is from now on."""
    array = t.array
    if array.__class__ is np.ndarray or not is_immutable(array):
        return shares(array, x.array)
    part = _part(x)
    layout = read(part.layout, ((), (op, static, *which)))
    if not shares(layout, part.layout):
        return False
    whole = part.memory.array
    if op.reaches and whole.dtype == x.array.dtype:
        source = whole.shape, tuple(prod(whole.shape[k + 1 :]) for k in range(whole.ndim)), 0
        steps: tuple[Any, ...] = (), (op, {**static, "source": source})
        t.array = read(whole, steps)
    else:
        steps = part.steps, (op, static, *which)
    _enter(t, Part(part.memory, steps, layout))
    return True


def shares(result: Any, array: Any) -> bool:
    """Whether what an operation made of a NumPy array is a view of its memory."""
    if not isinstance(result, np.ndarray):
        return isinstance(result, LevelArray) and isinstance(array, LevelArray) and result.shares(array)
    if isinstance(array, LevelArray):  # of which it is a value alone
        return shares(result, array.tensor.array)
    owner = array if array.base is None else array.base
    return result is array or result.base is array or (result.base is not None and result.base is owner)


def same(x: Any, y: Any) -> bool:
    """Whether two tensors show the same memory, or parts of it that lie side by side."""
    if isinstance(x.array, LevelArray) or isinstance(y.array, LevelArray):
        return x._counter is y._counter
    if is_immutable(x.array) or is_immutable(y.array):
        mine = getattr(x, "_part", None)
        if mine is None or mine.memory is not getattr(getattr(y, "_part", None), "memory", None):
            return x is y
    return np.may_share_memory(layout(x), layout(y))


OVERLAPS = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
    "Please clone() the tensor before performing the operation."
)


def overlaps(t: Any) -> bool:
    """Whether two entries of ``t`` may lie at one place, as in an expanded tensor or in sliding windows."""
    array = layout(t)
    flags = getattr(array, "flags", None)
    if flags is None or flags.forc:  # as those without entries are
        return False
    return overlapping(array.shape, [step // array.itemsize for step in array.strides])


def lying_as(array: Any) -> Any:
    """Another array that lies in memory of its own as this one does, gaps and all. Not one without entries."""
    ends = [(n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)]
    low, high = sum(e for e in ends if e < 0), sum(e for e in ends if e > 0)
    return np.ndarray(array.shape, array.dtype, bytearray(high - low + array.itemsize), -low, array.strides)


def lying(array: Any) -> tuple[int, ...] | None:
    """The axes of an array as they lie in memory, outermost first; None for row-major order, gaps, and other libraries.

    Those of length 1, which may lie anywhere, come first.
    """
    shape, steps = array.shape, getattr(array, "strides", None)
    if steps is None or (array.__class__ is np.ndarray and array.flags.c_contiguous):
        return None
    order = sorted(range(len(shape)), key=lambda k: (shape[k] > 1, -steps[k]))
    dense = array.itemsize
    for k in reversed(order):
        if shape[k] > 1 and steps[k] != dense:
            return None
        dense *= shape[k]
    inner = [k for k in order if shape[k] > 1]
    return None if inner == sorted(inner) else tuple(order)


def layout(t: Any) -> Any:
    """A NumPy array that lies in its memory as ``t`` does: its array, or a stand-in."""
    array = t.array
    if isinstance(array, LevelArray):
        plain = array.plain
        if plain.__class__ is not np.ndarray or not plain.size:
            return np.empty(array.shape, dtypes.of(array.dtype).dtype)
        one = plain[(0,) * (plain.ndim - array.ndim)]  # of a batch, an example, in memory of its own
        return lying_as(one)
    if not is_immutable(array):
        return array
    found = getattr(t, "_part", None)
    return _standing(array) if found is None else found.layout


def _standing(array: Any) -> Any:
    """A stand-in with the strides of an array that is never written: its NumPy array, or one in row-major order.

    That is the owner of its memory, in which no two entries lie at one place, as they do where a number is spread.
    """
    plain = array.plain if hasattr(array, "strides") else None
    if plain.__class__ is np.ndarray and 0 not in plain.strides:
        return plain
    return np.empty(array.shape, dtypes.of(array.dtype).dtype)


def _holding(t: Any, array: Any) -> list[Call]:
    leaf = t._node
    more = [] if leaf is None or leaf._array is None else [(setattr, leaf, "_array", array)]
    return [(setattr, t, "array", array), *more]


def check(t: Any) -> None:
    """Raise RuntimeError if it is not known who else would have to see a write to ``t``."""
    part = getattr(t, "_part", None) if is_immutable(t.array) else None
    if part is None:
        return
    library = backends.library(part.memory.array)
    if part.memory.saved:
        raise RuntimeError(
            f"a tensor of {size(t.array.shape)} that was saved for backward is being written in place, and arrays of "
            f"{library.name} are not written: whose values it shows is not known any more. Write to a clone() of it."
        )
    if library.views is None and next((o for o in part.memory.tensors() if o is not t), None) is not None:
        raise RuntimeError(
            f"a tensor of {size(t.array.shape)} that is a view, or has views or aliases, is being written in place, "
            f"but whether arrays of {library.name} share memory is not known (see gradwright.backends.register). "
            "Write to a clone() of it."
        )


def writable(t: Any) -> Any:
    """The array of ``t``, ready to be written: a 0-d result held as a NumPy scalar becomes an array first."""
    if isinstance(t.array, np.generic):
        t.array = np.asarray(t.array)
    return t.array


def write(t: Any, new: Any) -> None:
    """Put an array of its shape where ``t`` is read from, for every tensor over that memory to see."""
    at_once(overwriting(t, new))


def overwriting(t: Any, new: Any) -> list[Call]:
    """The calls of `write`, which interrupts leave undone or done."""
    array = writable(t)
    if not is_immutable(array):
        if isinstance(array, LevelArray):
            array.writer = t._counter
        return [copying(array, new)]
    if backends.library(array).traces:
        new = array.noted(new)
    new = new if new.dtype == array.dtype else backends.namespace(array).astype(new, array.dtype)
    new = backends.library(array).lying_as(new, array)
    part = getattr(t, "_part", None)
    calls = _holding(t, new)
    if part is not None:
        memory = part.memory
        whole = new
        if part.steps:
            whole = backends.namespace(new).write_view(memory.array, new, steps=part.steps)
            whole = backends.library(whole).lying_as(whole, memory.array)
        calls += _showing(memory, whole, t)
    return calls


def _showing(memory: Memory, array: Any, but: Any = None) -> list[Call]:
    calls: list[Call] = [(setattr, memory, "array", array)]
    for t in memory.tensors():
        if t is not but:
            calls += _holding(t, read(array, t._part.steps))
    return calls


def whole(t: Any) -> Any:
    """The array of all of the memory that ``t`` shows a part of."""
    part = getattr(t, "_part", None)
    return t.array if part is None or not is_immutable(t.array) else part.memory.array


def steps_of(t: Any) -> tuple[Any, ...]:
    """The chain of views from all of that memory to ``t``."""
    part = getattr(t, "_part", None)
    return () if part is None else part.steps


def beside(t: Any) -> list[Any]:
    """The other tensors that share memory with ``t``, where these are listed here."""
    part = getattr(t, "_part", None)
    return [] if part is None or not is_immutable(t.array) else [o for o in part.memory.tensors() if o is not t]


def moved_to(t: Any, memory: Memory, array: Any) -> None:
    """Let ``t`` be over other memory, of which it shows what it did of its own: ``array``."""
    old = t._part
    t.array = array
    _enter(t, Part(memory, old.steps, old.layout))


def back_to(t: Any, part: Part | None, array: Any) -> None:
    """Let ``t`` be over the memory that it was over, as ``part`` says, and hold this array."""
    leave(t)
    t.array = array
    if part is not None:
        _enter(t, part)


def laid(t: Any, order: tuple[int, ...]) -> None:
    """Let ``t``, which has memory of its own, lie there with its axes in this order."""
    back = tuple(order.index(k) for k in range(len(order)))
    turn = table["permute_dims"]
    memory = Memory(turn(t.array, axes=order), False)
    _enter(t, Part(memory, ((), (turn, {"axes": back})), _standing(memory.array).transpose(back)))


def rebind(t: Any, array: Any, all_of_it: bool) -> None:
    """Let ``t`` hold a new array, or, if ``all_of_it``, the memory that it is over; all over that memory see it."""
    part = getattr(t, "_part", None)
    if part is None or (not part.steps and len(part.memory._over) == 1):
        t.array = array
        leaf = t._node
        if leaf is not None and leaf._array is not None:
            leaf._array = array
        if part is not None:
            part.memory.array = array
    elif all_of_it:
        at_once(_showing(part.memory, array))
    else:
        write(t, array)


def owner(t: Any) -> Any:
    """The owner of all the memory that ``t`` shows: the array that others view, a `Memory`, or ``t`` itself."""
    array = t.array
    if isinstance(array, np.ndarray):
        return root(array)
    if isinstance(array, LevelArray):
        return owner(array.tensor)
    part = getattr(t, "_part", None)
    return t if part is None else part.memory


def root(array: Any) -> Any:
    """The NumPy array of which ``array`` is a view, or a view of a view; itself if it is none."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def content(holder: Any) -> Any:
    """The contents of an `owner` now; for `refill`."""
    return unwritten(holder if isinstance(holder, np.ndarray) else holder.array)


def refill(holder: Any, values: Any) -> None:
    """Let an `owner` hold what `content` returned, for every tensor over that memory to see."""
    if isinstance(holder, np.ndarray):
        holder[...] = values
    elif isinstance(holder, Memory):
        at_once(_showing(holder, values))
    else:
        write(holder, values)


def unwritten(array: Any) -> Any:
    """The values of an array that no write to another will reach."""
    return array.copy() if hasattr(array, "copy") and not is_immutable(array) else array
