"""Where the state of parameters lies, and how they are gathered for an update.

The state of many parameters of one dtype lies end to end in a few flat buffers, a `Block`; what the user finds in
``optimizer.state[p]`` are views of these. A step takes the parameters in runs, neighbours that are at the same step. In
a run small parameters are gathered, with their gradients, to a piece that the processor's cache holds, and written
back; large ones are worked on where they lie, in chunks of that size. Complex numbers count as pairs of real ones, and
float16 and bfloat16 are computed in float32.

Nothing is taken for granted from one step to the next: a parameter's memory may be exchanged, and its state replaced.
Parameters that share memory are not updated at the same time, but one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from gradwright import dtypes
from gradwright.backends import namespace
from gradwright.engine.base import wrap
from gradwright.engine.memory import writable
from gradwright.engine.view import check_writable
from gradwright.errors import size

_CHUNK = 1 << 18  # bytes of each array: a few fit a second-level cache, and a call is short beside the work on one


def number_dtype() -> dtypes.dtype:
    """The dtype in which "step" and other numbers are kept."""
    return dtypes.float64 if dtypes.default() is dtypes.float64 else dtypes.float32


def start_of(value: float, dtype: Any) -> complex:
    """An initial value for arrays of a NumPy dtype: both parts of a complex number begin there."""
    return complex(value, value) if dtype.kind == "c" else value


def check_state(held: dict[str, Any], shapes: dict[str, Any], shape: Any) -> None:
    """Raise KeyError if of what is kept of a parameter some is missing, RuntimeError if some has another shape."""
    missing = [name for name in shapes if name not in held]
    if 0 < len(missing) < len(shapes):
        raise KeyError(
            f"{', '.join(missing)}: missing in the state of a parameter of shape {size(shape)}, which has "
            f"{', '.join(name for name in shapes if name in held)}: empty it to begin anew"
        )
    for name, expected in shapes.items():
        value = held.get(name)
        found = expected if value is None else np.shape(getattr(value, "array", value))
        if found != expected and (expected or found != (1,)):
            raise RuntimeError(f"The size of {name} {size(found)}, in the state of a parameter of shape {size(shape)}, "
                               f"must be {size(expected)}: is it another parameter's?")  # fmt: skip


def laid_out(params: list[Any], numbers: dict[str, float], arrays: dict[str, float]) -> Iterator[Block]:
    """Blocks for these parameters, one for each dtype.

    Large parameters come last, so that the small ones are neighbours; but not where the order could matter.
    """
    by_dtype: dict[Any, dict[int, Any]] = {}
    for p in params:
        by_dtype.setdefault(p.array.dtype, {})[id(p)] = p
    for group in by_dtype.values():
        members = list(group.values())
        if not _sharing([p.array for p in members]):
            members.sort(key=lambda p: p.array.nbytes > 2 * _CHUNK)
        yield Block(members, numbers, arrays)


class Block:
    """The state of some parameters of one dtype.

    Attributes:
        params: the parameters.
        names: of all that is kept of each.
        xp: the namespace of the arrays.
        bounds: where in the buffers each parameter begins, and where the last one ends.
        buffers: by name, the flat buffers, of real numbers.
        numbers: a row for each number that is kept, a column for each parameter.
        held: for each parameter, what its state consists of: names, tensors and the arrays under these.
    """

    def __init__(self, params: list[Any], numbers: dict[str, float], arrays: dict[str, float]) -> None:
        self.params = params
        self.names = (*numbers, *arrays)
        self._start = {**numbers, **arrays}
        self._kept = tuple(numbers)
        self._memory = [np.empty(0)] * len(params)  # the array of each parameter, as last seen
        self._pieces: dict[range, list[Piece]] = {}
        self._apart: set[int] = set()
        self.dtype = params[0].array.dtype
        self.real = dtypes.of(self.dtype).to_real().dtype
        self.shapes = [p.array.shape for p in params]
        width = self.dtype.itemsize // self.real.itemsize
        self.bounds = list(accumulate((width * p.array.size for p in params), initial=0))
        self.buffers = {name: np.empty(self.bounds[-1], self.real) for name in arrays}
        self.numbers = np.empty((len(numbers), len(params)), number_dtype().dtype)
        for row, value in zip(self.numbers, numbers.values(), strict=True):
            row[:] = value
        self.xp = namespace(self.numbers)
        counters: dict[str, list[Any]] = {name: [0] for name in self.names}
        self.held = [
            [(name, wrap(a, None, counters[name]), a) for name, a in self._views(i)] for i in range(len(params))
        ]
        for i in range(len(params)):
            self.knows(i)

    def _views(self, i: int) -> Iterator[tuple[str, Any]]:
        for name, row in zip(self._kept, self.numbers, strict=True):
            if name[0] != "_":
                yield name, row[i : i + 1].reshape(())
        for name, buffer in self.buffers.items():
            yield name, buffer[self.bounds[i] : self.bounds[i + 1]].view(self.dtype).reshape(self.shapes[i])

    def knows(self, i: int) -> bool:
        """Whether parameter ``i`` still fits its place; it may have been given other memory."""
        p = self.params[i]
        if p.array is self._memory[i]:
            return True
        if p.array.shape != self.shapes[i] or p.array.dtype != self.dtype:
            return False
        check_writable(p, False)
        self._memory[i] = writable(p)
        self._pieces.clear()
        self._apart = _sharing(self._memory)
        return True

    def settle(self, i: int, state: Any) -> None:
        """See that what ``state`` has for parameter ``i`` are our views; what else it has, is copied into them."""
        mine = state.get(self.params[i])
        if mine is None:
            mine = state[self.params[i]] = {}
        for name, t, array in self.held[i]:
            if mine.get(name) is not t or t.array is not array:
                break
        else:
            return
        check_state(mine, {name: array.shape for name, _, array in self.held[i]}, self.shapes[i])
        begun = any(mine.get(name) is not None for name in self.buffers)
        for name, row in zip(self._kept, self.numbers, strict=True):
            if name[0] == "_":
                row[i] = 0.0 if begun else self._start[name]
        for name, t, array in self.held[i]:
            value = mine.get(name)
            if value is None:
                array[...] = start_of(self._start[name], array.dtype)
            elif value is not t or t.array is not array:
                array[...] = getattr(value, "array", value)
            t.array, mine[name] = array, t

    def runs(self, slots: list[int]) -> Iterator[tuple[range, dict[str, float]]]:
        """Stretches of neighbours among ``slots`` that are at the same step, with the numbers kept of them."""
        slots = sorted(slots)
        while slots:
            columns = self.numbers.T.tolist()
            first, n = slots[0], 1
            while (n < len(slots) and slots[n] == first + n and columns[slots[n]] == columns[first]
                   and slots[n] not in self._apart):  # fmt: skip
                n += 1
            yield range(first, first + n), dict(zip(self._kept, columns[first], strict=True))
            slots = slots[n:]

    def remember(self, run: range, now: dict[str, float]) -> None:
        """Keep these numbers of a run."""
        for row, value in zip(self.numbers, now.values(), strict=True):
            row[run.start : run.stop] = value

    def pieces(self, run: range) -> list[Piece]:
        """A run in pieces of about the size of a chunk, and parameters much larger than that, each for itself."""
        found = self._pieces.get(run)
        if found is None:
            limit = _CHUNK // self.real.itemsize
            cuts, size = [run.start], 0
            for i in run:
                own = self.bounds[i + 1] - self.bounds[i]
                if size and (size >= limit or own > 2 * limit):
                    cuts.append(i)
                    size = 0
                size += own
            found = self._pieces[run] = [Piece(self, a, b) for a, b in pairwise([*cuts, run.stop])]
        return found


class Piece:
    """Neighbours in a block that are updated together: one parameter where it lies, or several gathered."""

    def __init__(self, block: Block, first: int, stop: int) -> None:
        self._params = block.params[first:stop]
        self._arrays = [p.array for p in self._params]
        self._real = block.real
        start, end = block.bounds[first], block.bounds[stop]
        self._state = {name: buffer[start:end] for name, buffer in block.buffers.items()}
        self._views: list[Any] = []
        self._chunks = max(1, round((end - start) * block.real.itemsize / _CHUNK))
        if len(self._arrays) == 1 and self._arrays[0].flags.c_contiguous:
            self._flat = self._arrays[0].reshape(-1)
        else:
            bounds = list(accumulate((a.size for a in self._arrays), initial=0))
            self._flat = np.empty(bounds[-1], block.dtype)
            for a, (i, j) in zip(self._arrays, pairwise(bounds), strict=True):
                self._views.append(self._flat[i:j].reshape(a.shape))

    def advance(self, update: Callable[..., None]) -> None:
        """Let ``update`` overwrite the parameters and their state."""
        grads = [p._grad.array for p in self._params]
        g = np.concatenate(grads, axis=None) if self._views else np.ravel(grads[0])
        if self._views:
            np.concatenate(self._arrays, axis=None, out=self._flat)
        p, g = self._flat.view(self._real), g.view(self._real)
        if self._real.itemsize == 2:
            update = _in_single(update)
        if self._chunks == 1:
            update(p, g, **self._state)
        else:
            length = -(-p.size // self._chunks)
            for start in range(0, p.size, length):
                part = slice(start, start + length)
                update(p[part], g[part], **{name: a[part] for name, a in self._state.items()})
        for array, view in zip(self._arrays, self._views, strict=False):
            np.copyto(array, view)


def _in_single(update: Callable[..., None]) -> Callable[..., None]:
    """``update`` for arrays of 16-bit numbers, computed in float32 and rounded once at the end."""

    def rounded(p: Any, g: Any, **state: Any) -> None:
        wide = {name: a.astype(np.float32) for name, a in {"p": p, **state}.items()}
        update(g=g.astype(np.float32), **wide)
        for name, a in {"p": p, **state}.items():
            a[...] = wide[name]

    return rounded


def _sharing(arrays: Iterable[Any]) -> set[int]:
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
