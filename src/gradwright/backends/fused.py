"""NumPy memory for rules that work entry by entry on many arrays: end to end in few buffers, a cache full at a time.

What is remembered of many arrays lies end to end in a few flat buffers. An update takes neighbours in runs. In a run
small arrays are gathered to a piece that the processor's cache holds, and written back; large ones are worked on where
they lie, in chunks of that size. Complex numbers count as pairs of real ones; 16-bit numbers are computed in float32.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, pairwise
from operator import setitem
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from gradwright.backends.in_place import InPlace
from gradwright.base.cpython.at_once import Call, copying

_CHUNK = 1 << 18  # bytes of each array: a few fit a second-level cache, and a call is short beside the work on one

_SINGLE = np.dtype(np.float32)
_concatenate = getattr(np.concatenate, "_implementation", np.concatenate)
"""Without the Python function that asks whose an array is: see `gradwright.base.cpython.at_once`."""
Update = Callable[..., tuple[Call, ...]]


def is_numpy(array: Any) -> bool:
    """Whether this is memory for `Memory`."""
    return array.__class__ is np.ndarray or isinstance(array, (np.ndarray, np.generic))


def is_large(array: Any) -> bool:
    """Whether an array is worked on where it lies."""
    return bool(array.nbytes > 2 * _CHUNK)


class Memory:
    """Arrays of one dtype, and what is remembered of them: numbers, and arrays of the same shapes.

    Of ``wide`` ones, which are of 16 bits, arrays of float32 are remembered.

    Attributes:
        arrays: the arrays as last seen; see `place`.
        numbers: a row for each number that is remembered, a column for each array.
        buffers: by name, the flat buffers, of real numbers.
    """

    def __init__(self, arrays: list[Any], names: Iterable[str], numbers: dict[str, float], number_dtype: Any,
                 wide: bool = False) -> None:  # fmt: skip
        self.arrays = list(arrays)
        self._shapes = [a.shape for a in arrays]
        self._dtype = arrays[0].dtype
        self._real = np.empty(0, self._dtype).real.dtype
        width = self._dtype.itemsize // self._real.itemsize
        self._bounds = list(accumulate((width * a.size for a in arrays), initial=0))
        self._state_dtype = _SINGLE if wide else self._real
        self.buffers = {name: np.empty(self._bounds[-1], self._state_dtype) for name in names}
        self._names = tuple(numbers)
        self.numbers = np.empty((len(numbers), len(arrays)), number_dtype)
        self.numbers[:] = np.reshape([*numbers.values()], (-1, 1))
        self._pieces: dict[range, list[_Piece]] = {}
        self._rows: dict[range, list[tuple[Any, ...]] | None] = {}
        self._sharing: set[int] | None = None
        self._spares: list[Any] = []
        self._grads = np.empty(0, self._dtype)
        self._longest = 0

    def views(self, i: int) -> Iterator[tuple[str, Any]]:
        """What is remembered of array ``i``, by name."""
        numbers, columns = self.numbers, len(self.arrays)
        for k, name in enumerate(self._names):
            yield name, np.ndarray((), numbers.dtype, numbers, (k * columns + i) * numbers.itemsize)
        start, shape = self._bounds[i] * self._state_dtype.itemsize, self._shapes[i]
        dtype = self._dtype if self._state_dtype is self._real else self._state_dtype
        for name, buffer in self.buffers.items():
            yield name, np.ndarray(shape, dtype, buffer, start)

    def fits(self, i: int, array: Any) -> bool:
        """Whether an array may take the place of array ``i``."""
        return is_numpy(array) and array.shape == self._shapes[i] and array.dtype == self._dtype

    def place(self, i: int, array: Any) -> None:
        """Array ``i`` lies here from now on."""
        self._pieces.clear()
        self._rows.clear()
        self._sharing = None
        self.arrays[i] = array  # last: an interrupt before leaves the old one, which is asked for again

    def runs(self, slots: list[int]) -> Iterator[tuple[range, dict[str, float]]]:
        """Stretches of neighbours among ``slots`` that have the same numbers and share no memory, and these numbers."""
        if self._sharing is None:
            self._sharing = sharing(self.arrays)
        shared, slots = self._sharing, sorted(slots)
        alike = [True] * len(self.arrays)
        if self._names:
            alike = np.logical_and.reduce(self.numbers[:, 1:] == self.numbers[:, :-1]).tolist()
        cuts = [k for k, (i, j) in enumerate(pairwise(slots), 1) if j != i + 1 or not alike[i] or j in shared]
        again = [slots[k] for k in cuts if slots[k] == slots[k - 1]]
        if again:
            yield from self.runs(list({*slots}))
            yield from self.runs(again)
            return
        for i, j in pairwise([0, *cuts, len(slots)]):
            now = self.numbers[:, slots[i]].tolist()
            yield range(slots[i], slots[j - 1] + 1), dict(zip(self._names, now, strict=True))

    def remembering(self, run: range, numbers: dict[str, float]) -> list[Call]:
        """The calls that keep these numbers of a run."""
        return [(setitem, row, slice(run.start, run.stop), numbers[name])
                for name, row in zip(self._names, self.numbers, strict=True)]  # fmt: skip

    def updates(self, run: range, grads: list[Any], rule: InPlace, numbers: Iterable[float]) -> list[Call]:
        """The calls that overwrite the arrays of a run, and those remembered of them, by ``rule``.

        That takes an array, its gradient, and the arrays that are remembered, in order; and these ``numbers``.
        """
        if self._dtype is self._real and (form := rule.update(self._real, *numbers)) and (rows := self._in_rows(run)):
            return [(form[0], rows, grads, form[1])]
        pieces = self._pieces.get(run)
        if pieces is None:
            if len(self._pieces) > len(self.arrays):  # the runs are ever others
                self._pieces.clear()
            pieces = [self._piece(i, j) for i, j in pairwise(self._cuts(run))]
            self._longest = max(self._longest, *[piece.length for piece in pieces])
            gathered = max(piece.gathered for piece in pieces)
            if gathered > self._grads.size:
                self._grads = np.empty(gathered, self._dtype)
            self._pieces[run] = pieces
        kind, spares = self._real, rule.spares
        if kind.itemsize == 2:
            kind, spares = _SINGLE, spares + 2 + len(self.buffers)
        if len(self._spares) < spares or (spares and self._spares[0].size < self._longest):
            self._spares = [np.empty(self._longest, kind) for _ in range(spares)]
        update, start = rule.calls(kind, *numbers), run.start
        calls: list[Call] = []
        for piece in pieces:
            mine = grads[piece.first - start : piece.stop - start]
            calls += piece.updates(update, mine, self._grads, self._spares[:spares])
        return calls

    def _in_rows(self, run: range) -> list[tuple[Any, ...]] | None:
        """Each array of a run and what is remembered of it; None if one has gaps or another order than by rows."""
        if run not in self._rows:
            if len(self._rows) > len(self.arrays):
                self._rows.clear()
            parts = [slice(self._bounds[i], self._bounds[i + 1]) for i in run]
            arrays = self.arrays[run.start : run.stop]
            rows = [(a, *(b[part] for b in self.buffers.values())) for a, part in zip(arrays, parts, strict=True)]
            self._rows[run] = rows if all(a.flags.carray for a in arrays) else None
        return self._rows[run]

    def _cuts(self, run: range) -> list[int]:
        """Where to cut a run for pieces of about the size of a chunk, and arrays much larger each for itself."""
        limit = _CHUNK // self._real.itemsize
        cuts, size = [run.start], 0
        for i in run:
            own = self._bounds[i + 1] - self._bounds[i]
            if size and (size >= limit or own > 2 * limit):
                cuts.append(i)
                size = 0
            size += own
        return [*cuts, run.stop]

    def _piece(self, first: int, stop: int) -> _Piece:
        part = slice(self._bounds[first], self._bounds[stop])
        return _Piece(first, stop, self.arrays[first:stop], [buffer[part] for buffer in self.buffers.values()],
                      self._real)  # fmt: skip


class _Piece:
    """Neighbours that are updated together: one array where it lies, or several gathered.

    Attributes:
        first, stop: which arrays.
        length: how many numbers of each buffer are worked on at a time.
        gathered: how long the arrays are that are gathered.
    """

    def __init__(self, first: int, stop: int, arrays: list[Any], state: list[Any], real: Any) -> None:
        self.first, self.stop, self._arrays, self._state = first, stop, arrays, state
        self._views: list[Any] = []
        if len(arrays) == 1 and arrays[0].flags.c_contiguous:
            flat = arrays[0].reshape(-1)
            self.gathered = 0
        else:
            bounds = list(accumulate((a.size for a in arrays), initial=0))
            flat = np.empty(bounds[-1], arrays[0].dtype)
            self.gathered = bounds[-1]
            self._views = [flat[i:j].reshape(a.shape) for a, (i, j) in zip(arrays, pairwise(bounds), strict=True)]
        self._flat, self._p = flat, flat.view(real)
        self.length = -(-self._p.size // max(1, round(self._p.nbytes / _CHUNK)))

    def updates(self, update: Update, grads: list[Any], gathered: Any, spares: list[Any]) -> list[Call]:
        """The calls of ``update`` on the arrays and what is remembered of them."""
        calls: list[Call] = []
        if self._views:
            g = gathered[: self.gathered]
            calls += (_concatenate, self._arrays, None, self._flat), (_concatenate, grads, None, g)
        else:
            g = np.ravel(grads[0])
        parts = [self._p, g.view(self._p.dtype), *self._state]
        size, length = self._p.size, self.length
        for start in range(0, size, length or 1):
            stop = min(start + length, size)
            if stop - start < size:
                arrays, more = [a[start:stop] for a in parts], [a[: stop - start] for a in spares]
            else:
                arrays, more = parts, [a[:size] for a in spares]
            calls += update(*arrays, *more) if self._p.itemsize > 2 else _in_single(update, arrays, more)
        calls += map(copying, self._arrays, self._views)
        return calls


def _in_single(update: Update, arrays: list[Any], spares: list[Any]) -> list[Call]:
    """The calls of ``update`` on arrays of 16-bit numbers, computed in float32 and rounded once at the end."""
    n = len(arrays)
    wide = [a if a.dtype == _SINGLE else spare for a, spare in zip(arrays, spares[:n], strict=True)]
    moved = [(a, w) for a, w in zip(arrays, wide, strict=True) if a is not w]
    back = [(a, w) for a, w in moved if a is not arrays[1]]  # not the gradient
    return [*[copying(w, a) for a, w in moved], *update(*wide, *spares[n:]), *[copying(a, w) for a, w in back]]


def sharing(arrays: Iterable[Any]) -> set[int]:
    """Which of these arrays may share memory with another."""
    bounds = sorted((*byte_bounds(a), i) for i, a in enumerate(map(np.asarray, arrays)) if a.size)
    found = set()
    end, last = 0, -1
    for low, high, i in bounds:
        if low < end:
            found |= {i, last}
        if high > end:
            end, last = high, i
    return found
