"""Transforms that run: what stands between an operation and the tensors inside, where arrays carry more than numbers.

Forward mode and vmap are each a `Level`. A tensor inside one holds a `LevelArray`, which has a shape and a dtype as an
array has, and is made of tensors of the levels outside: a value and its tangent, or a batch of values. An operation on
such tensors comes to `gradwright.engine.general`, as all do that are not quick, and is there handed to the innermost
level that any of them belongs to; that computes with the tensors it is made of, by operations again. So levels nest in
any order, each sees only its own, and a tensor of no level is a constant to all.

Of reverse mode nothing need be said here: a tensor of a level may have a history as any other; its cotangents are
tensors then, not arrays, so that a pass computes with what the levels hold.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

from gradwright import backends
from gradwright.base import dtypes
from gradwright.engine.base import TensorBase, ticket, wrap
from gradwright.engine.mode import Mode, now, switch
from gradwright.engine.watch import drawing
from gradwright.ops.declare import Op

_number = count().__next__


def latest() -> int:
    """A number that no level has yet: larger than those of all that have been entered."""
    return _number()


class Level:
    """One transform while it runs.

    Attributes:
        number: later ones have larger numbers: they are further inside.
        alive: whether it runs still.
        start: nodes with a smaller number were made before it.
        began: when the last operation at it began: nodes with a smaller number were made before.
        encloses: whether what comes out of it keeps a history from outside, whether or not a pass inside was recorded.
    """

    encloses = True

    def __init__(self) -> None:
        self.number = _number()
        self.start = self.began = ticket()
        self.alive = True
        self._outside = now()
        self._modes: dict[tuple[int, bool], Mode] = {}

    @property
    def records_outside(self) -> bool:
        """Whether operations are recorded at a level outside."""
        outside = self._outside
        return outside.records or (outside.level is not None and outside.level.records_outside)

    @contextmanager
    def running(self, records: bool | None = None) -> Any:
        """Be the innermost level; afterwards, none any more. ``records``: whether operations are recorded inside."""
        before = self._outside
        try:
            switch(before.but(watches=(), level=self, records=before.records if records is None else records))
            yield self
        finally:
            self.alive = False
            switch(before)

    def outside(self, f: Callable[..., Any], *args: Any) -> Any:
        """The result of ``f`` in the mode in which the level was entered; nothing is recorded if the user said so."""
        before = now()
        stopped, guarded = before.stopped, False
        if stopped >= self.number:
            listener = before.listener
            guarded = before.guarded or (listener is not None and listener.follows and not listener.declared)
        mode = self._modes.get((stopped, guarded))
        if mode is None:
            outside = self._outside
            records = outside.records and stopped < self.number
            mode = outside.but(records=records, stopped=stopped, guarded=guarded or outside.guarded)
            self._modes[stopped, guarded] = mode
        try:
            switch(mode)
            return f(*args)
        finally:
            switch(before)

    def without(self, t: Any) -> Any:
        """A tensor from outside without a history that ends in a function inside, of which nothing outside knows.

        It would be right to leave it, but to record it there costs time. A long one is left.
        """
        node = t._node
        if node is None or node._seq < self.start:
            return t
        stack = [node]
        for _ in range(8):
            node = stack.pop()
            if node._seq < self.start or not (node._next or node._inner):
                return t
            stack += node._next
            if not stack:
                return wrap(t.array, None, t._counter)
        return t

    def read(self, op: Op, inputs: Sequence[Any], static: dict[str, Any]) -> Any:
        """The array, or the list of arrays, that ``op`` makes of tensors of this level and of those outside of it."""
        raise NotImplementedError

    def generator(self, source: Any) -> Any:
        """The generator of random numbers: that of the levels outside."""
        return self.outside(drawing, source)

    def streams(self) -> list[Any]:
        """This level and those outside that draw for each example, as sources of what has been drawn there."""
        level = self._outside.level
        return [] if level is None else level.streams()

    def call(self, function: Any, inputs: Sequence[Any]) -> Any:
        """The result of a user's Function for these arguments, some of them of this level."""
        raise NotImplementedError

    def held(self, t: Any) -> LevelArray:
        """An array of this level in place of that of ``t``, a tensor from outside which is about to be written to."""
        raise NotImplementedError

    def write(self, array: Any, value: Any) -> None:
        """Put the values of an array, of this level or from outside, into the memory of one of this level."""
        raise NotImplementedError


_NAMES = {"true_divide": "divide", "power": "pow", "absolute": "abs"}
"""The standard's names of NumPy's functions."""


class LevelArray:
    """The array of a tensor of a `Level`; ``tensor`` is the (first) tensor outside that it is made of.

    ``began`` is when the operation that made it began (see `Level`), ``writer`` the counter of who wrote to it last.
    """

    __slots__ = ("__weakref__", "began", "dtype", "level", "ndim", "shape", "size", "tensor", "writer")
    base = None
    batch = False
    began: int
    writer: Any
    level: Any
    tensor: Any
    shape: tuple[int, ...]
    dtype: Any
    ndim: int
    size: int

    @property
    def plain(self) -> Any:
        """The array of a library below all levels."""
        array = self.tensor.array
        while isinstance(array, LevelArray):
            array = array.tensor.array
        return array

    @property
    def device(self) -> Any:
        """Its device, as the library says."""
        return self.plain.device

    @property
    def itemsize(self) -> int:
        """Bytes of one entry."""
        return int(self.plain.itemsize)

    def _apply(self, op: Op, arrays: Sequence[Any], static: dict[str, Any]) -> Any:
        return taken_from(wrap(self)._apply(op, [as_tensor(a) for a in arrays], static))

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """The values in another dtype."""
        return taken_from(wrap(self.values()).to(dtypes.of(dtype)))

    @property
    def followed(self) -> bool:
        """Whether what it is made of has a history, or a tangent."""
        return followed(self.tensor)

    def settled(self) -> Any:
        """Its array when its level has ended, or an error."""
        raise NotImplementedError

    def detached(self) -> Any:
        """The same values in the same memory, without history or tangents."""
        raise NotImplementedError

    @property
    def parts(self) -> tuple[Any, ...]:
        """The tensors outside that it is made of."""
        return (self.tensor,)

    def of(self, f: Callable[[Any], Any]) -> Any:
        """The same with ``f`` applied to its tensors; itself if ``f`` returns them unchanged."""
        parts = [f(t) for t in self.parts]
        same = all(a is b for a, b in zip(parts, self.parts, strict=True))
        cls: Any = type(self)
        return self if same else cls(self.level, *parts)

    def beside(self) -> str:
        """Its part of a repr, beside the values."""
        return ""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.parts))})"

    def shares(self, other: Any) -> bool:
        """Whether it shows the memory of another of the same level, of which it was made as a view might be."""
        return bool(self.tensor._counter is other.tensor._counter)

    def copy(self) -> Any:
        """The same in memory of its own."""
        return wrap(self).clone().array

    def __setitem__(self, key: Any, value: Any) -> None:
        self.level.write(self, value)

    def _refuses(self, what: str) -> Exception:
        raise NotImplementedError

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        if self.level.alive:
            raise self._refuses("numpy()")
        return backends.to_host(self.settled())

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if self.level.alive:
            return getattr(backends.namespace(self), _NAMES.get(ufunc.__name__, ufunc.__name__))(*inputs)
        given = [x.settled() if x is self else x for x in inputs]
        return getattr(ufunc, method)(*given, **kwargs)

    def item(self) -> Any:
        """The one number in it."""
        raise self._refuses("item()")

    tolist = item

    def values(self) -> Any:
        """An array of the values alone, of a library or a batch: what computes with arrays knows no derivatives.

        Decisions are made of it: whether an index is in range, whether there is a NaN.
        """
        raise NotImplementedError

    def each(self, f: Callable[..., Any], args: Sequence[Any]) -> Any:
        """The results of a function of arrays without derivatives for each example, in one array of this level."""
        raise NotImplementedError

    def __getitem__(self, key: Any) -> Any:
        return _of_values(operator.getitem, self, key)


def _of_values(f: Callable[..., Any], *args: Any) -> Any:
    """The result of ``f`` for the values of arrays: an array."""
    given = [a.values() if isinstance(a, LevelArray) else a for a in args]
    if any(isinstance(a, LevelArray) for a in given):
        given = [as_tensor(a) for a in given]
    return taken_from(f(*given))


def _operator(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *others: _of_values(f, self, *others)


def _reflected(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: _of_values(f, other, self)


def _refused(what: str) -> Callable[[Any], Any]:
    def refuse(self: Any) -> Any:
        raise self._refuses(what)

    return refuse


for _name in ("bool", "int", "float", "complex"):
    setattr(LevelArray, f"__{_name}__", _refused(f"{_name}()"))
LevelArray.__index__ = _refused("an index")  # type: ignore[attr-defined]
_TWO = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")
for _name in (*_TWO, "lt", "le", "gt", "ge", "eq", "ne", "neg", "invert", "abs"):
    setattr(LevelArray, f"__{_name}__", _operator(getattr(operator, f"__{_name}__")))
for _name in _TWO:
    setattr(LevelArray, f"__r{_name}__", _reflected(getattr(operator, f"__{_name}__")))


def below(array: Any) -> Any:
    """An array of a library below all levels: this one, or what it is made of."""
    while isinstance(array, LevelArray):
        array = array.tensor.array
    return array


def current(array: Any) -> Any:
    """The array, or what is left of it if its level has ended."""
    while isinstance(array, LevelArray) and not array.level.alive:
        array = array.settled()
    return array


def settle(t: Any) -> Any:
    """Turn a tensor whose level has ended into its remains, and return its array; RuntimeError without any."""
    while isinstance(array := t.array, LevelArray) and not array.level.alive:
        if t._view is not None:
            settle(t._view.base)
        t.array = array.settled()
        if array.tensor.requires_grad:
            t._node = array.tensor._node
    return array


def detached(array: Any) -> Any:
    """The same values in the same memory, without history or tangents."""
    return array.detached() if isinstance(array, LevelArray) else array


def shown(array: Any) -> str:
    """An array's part of a repr, beside its values."""
    return array.beside() if isinstance(array, LevelArray) and array.level.alive else ""


def varies(x: Any, y: Any) -> bool:
    """Whether an array is another one in each example of a `vmap` for which ``y`` is one for all."""
    return bool(batches(x) - batches(y))


def batches(array: Any) -> set[Level]:
    """The levels of all batches that an array is made of."""
    found = set()
    while isinstance(array, LevelArray):
        if array.batch:
            found.add(array.level)
        array = array.tensor.array
    return found


def moves(array: Any) -> bool:
    """Whether an array has a tangent or a series, in some example of a batch."""
    while isinstance(array, LevelArray):
        if not array.batch:
            return array.level.alive
        array = array.tensor.array
    return False


def is_followed(array: Any) -> bool:
    """Whether an array is made of tensors that have a history, or a tangent."""
    return isinstance(array, LevelArray) and bool(array.followed)


def as_tensor(value: Any) -> Any:
    """An array as a tensor; what is none, as it is."""
    if isinstance(value, (list, tuple)):
        return type(value)([as_tensor(v) for v in value])
    return wrap(value) if isinstance(value, LevelArray) or backends.is_array(value) else value


def taken_from(value: Any) -> Any:
    """The arrays of tensors, in lists too; what is no tensor, as it is."""
    if isinstance(value, (list, tuple)):
        return [taken_from(v) for v in value]
    return value.array if isinstance(value, TensorBase) else value


def innermost(inputs: Sequence[Any], arrays: list[Any]) -> Level | None:
    """The innermost level that arrays of tensors belong to; those whose level has ended are settled first."""
    found: Level | None = None
    for k, array in enumerate(arrays):
        if isinstance(array, LevelArray) and not array.level.alive:
            array = arrays[k] = settle(inputs[k])
        if isinstance(array, LevelArray) and (found is None or array.level.number > found.number):
            found = array.level
    return found


def further_inside(out: Any, x: Any) -> Level | None:
    """The innermost level that ``out`` belongs to, if it is further inside than those of ``x``."""
    level, own = (innermost((t,), [t.array]) for t in (out, x))
    return level if level is not None and (own is None or own.number < level.number) else None


def followed(t: Any) -> bool:
    """Whether a tensor has a history, or a tangent."""
    return t.requires_grad or is_followed(t.array)


def of_arguments(args: Sequence[Any]) -> Level | None:
    """The innermost level that tensors among the arguments of a Function belong to."""
    tensors = [a for a in args if isinstance(a, TensorBase)]
    return innermost(tensors, [t.array for t in tensors])


def promote(x: Any, level: Level) -> None:
    """Let ``x``, with the tensor that it is a view of, hold arrays of this level, in place of what they hold."""
    base = x if x._view is None else x._view.base
    base.array = level.held(base)
    reread(x)


def reread(x: Any) -> bool:
    """Let a view show what its base shows now, if that has come to a level or left one; returns whether it has."""
    view = x._view
    if view is None:
        return False
    now, before = view.base.array, x.array
    left = isinstance(before, LevelArray) and not before.level.alive
    if not left and (not isinstance(now, LevelArray) or getattr(before, "level", None) is now.level):
        return False
    x.array = backends.steps.read(wrap(now), view.steps).array
    return True
