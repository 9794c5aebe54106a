"""Rules that work entry by entry, over many parameters at once: one pass over few large buffers.

The state of many parameters of one dtype lies end to end in a few flat buffers, a `Block`; what the user finds in
``optimizer.state[p]`` are views of these. So it is in NumPy; see `gradwright.backends.fused`. Parameters of other
libraries are updated one by one.

Nothing is taken for granted from one step to the next: a parameter's memory may be exchanged, and its state replaced.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from gradwright.backends import namespace
from gradwright.backends.fused import Memory, is_large, is_numpy, sharing
from gradwright.backends.in_place import InPlace
from gradwright.base import dtypes
from gradwright.base.cpython.at_once import at_once
from gradwright.engine import mode
from gradwright.engine.base import wrap
from gradwright.engine.grad_mode import no_grad
from gradwright.engine.memory import writable
from gradwright.engine.version import bump_all
from gradwright.engine.view import check_writable
from gradwright.engine.watch import used
from gradwright.optim.rules import Ruled, check_state, number_dtype, plain, start_of, whole


class Fused(Ruled):
    """An optimiser whose rule works element by element, on parameters of any shape."""

    def _advance(self, group: dict[str, Any]) -> None:
        params = [p for p in group["params"] if getattr(p, "_grad", None) is not None]
        if group["differentiable"]:
            super()._advance(group)
            return
        used(*params, *[p._grad for p in params])
        options = plain(group)
        for p in params:
            if not is_numpy(p.array):
                self._advance_one(p, options, False)
        params = [p for p in params if is_numpy(p.array)]
        places = self._places(params, *self._kept(**options))
        if mode.now() is not mode.UNRECORDED:  # somebody looks on
            for p in params:
                check_writable(p, False)
        for block, slots in places.items():
            for run, now in block.memory.runs(slots):
                form, kept, given = self._step(block.xp, now, options)
                rule = _in_place(form, ("p", "g", *block.memory.buffers), tuple(given))
                grads = [p._grad.array for p in block.params[run.start : run.stop]]
                calls = block.memory.updates(run, grads, rule, given.values()) + block.memory.remembering(run, kept)
                bump_all([p._counter for p in block.params[run.start : run.stop]])
                at_once(calls)

    @no_grad()
    def _begin(self, params: list[Any], numbers: dict[str, float], arrays: dict[str, float]) -> None:
        """Make the state of parameters before the first step."""
        for p in params:
            if not is_numpy(p.array):
                self.state[p] = self._held(p, numbers, arrays)
        self._places([p for p in params if is_numpy(p.array)], numbers, arrays)

    def _places(self, params: list[Any], numbers: dict[str, float], arrays: dict[str, float]) -> Any:
        """The places of parameters, as numbers in blocks; new blocks are made for strangers."""
        places: dict[int, tuple[Block, int]] = vars(self).setdefault("_where", {})
        names = (*numbers, *arrays)
        strangers = [
            p for p in params
            if (place := places.get(id(p))) is None or place[0].names != names or not place[0].knows(place[1])
        ]  # fmt: skip
        for block in _laid_out(strangers, numbers, arrays):
            places.update((id(p), (block, i)) for i, p in enumerate(block.params))
        found: dict[Block, list[int]] = {}
        starts: dict[Block, dict[str, Any]] = {}
        for p in params:
            block, i = places[id(p)]
            if block.held[i]:
                if block not in starts:
                    starts[block] = block.starts(numbers, arrays)
                block.settle(i, self.state, starts[block])
            found.setdefault(block, []).append(i)
        return found


@lru_cache(maxsize=256)
def _in_place(form: tuple[Any, ...], arrays: tuple[str, ...], numbers: tuple[str, ...]) -> InPlace:
    return InPlace(whole(*form), arrays, numbers)


def _laid_out(params: list[Any], numbers: dict[str, float], arrays: dict[str, float]) -> Iterator[Block]:
    """Blocks for these parameters, one for each dtype.

    Large parameters come last, so that the small ones are neighbours; but not where the order could matter.
    """
    by_dtype: dict[Any, dict[int, Any]] = {}
    for p in params:
        by_dtype.setdefault(p.array.dtype, {})[id(p)] = p
    for group in by_dtype.values():
        members = list(group.values())
        if not sharing([p.array for p in members]):
            members.sort(key=lambda p: is_large(p.array))
        yield Block(members, numbers, arrays)


class Block:
    """The state of some parameters of one dtype.

    Attributes:
        params: the parameters.
        names: of all that is kept of each.
        memory: where that lies.
        xp: the namespace of its arrays.
        held: for each parameter, what its state consists of: names, tensors and the arrays under these.
    """

    def __init__(self, params: list[Any], numbers: dict[str, float], arrays: dict[str, float]) -> None:
        self.params = params
        self.names = (*numbers, *arrays)
        for p in params:
            check_writable(p, False)
        self.memory = Memory([writable(p) for p in params], arrays, numbers, number_dtype().dtype)
        self.xp = namespace(self.memory.numbers)
        self._hides = any(name[0] == "_" for name in self.names)
        counters: dict[str, list[Any]] = {name: [0] for name in self.names}
        self.held = [
            [(name, wrap(a, None, counters[name]), a) for name, a in self.memory.views(i) if name[0] != "_"]
            for i in range(len(params))
        ]

    def knows(self, i: int) -> bool:
        """Whether parameter ``i`` still fits its place; it may have been given other memory."""
        p = self.params[i]
        if p.array is not self.memory.arrays[i]:
            if not self.memory.fits(i, p.array):
                return False
            check_writable(p, False)
            self.memory.place(i, writable(p))
        return True

    def starts(self, numbers: dict[str, float], arrays: dict[str, float]) -> dict[str, Any]:
        """Initial values as they are written into the memory."""
        dtype = dtypes.of(self.memory.arrays[0].dtype)
        return numbers | {name: start_of(value, dtype) for name, value in arrays.items()}

    def settle(self, i: int, state: Any, start: dict[str, Any]) -> None:
        """See that what ``state`` has for parameter ``i`` are our views; what else it has, is copied into them.

        If it has nothing, that is what there is at the ``start``, which depends on the options of today.
        """
        mine = state.get(self.params[i])
        if mine is None:
            mine = state[self.params[i]] = {}
        for name, t, array in self.held[i]:
            if mine.get(name) is not t or t.array is not array:
                break
        else:
            return
        if mine:
            check_state(mine, {name: array.shape for name, _, array in self.held[i]}, self.memory.arrays[i].shape)
        if self._hides:
            begun = any(mine.get(name) is not None for name in self.memory.buffers)
            for name, array in self.memory.views(i):
                if name[0] == "_":
                    array[...] = 0.0 if begun else start[name]
        for name, t, array in self.held[i]:
            value = mine.get(name)
            if value is None:
                array[...] = start[name]
            elif value is not t or t.array is not array:
                array[...] = getattr(value, "array", value)
                t.array = array
        mine.update({name: t for name, t, _ in self.held[i]})  # at once: none is missing after an interrupt
