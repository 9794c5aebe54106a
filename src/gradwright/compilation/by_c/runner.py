"""The runner `C`: a program in C, and what of it stays in Python."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from functools import partial
from sys import getrefcount
from time import perf_counter
from typing import Any

import numpy as np

from gradwright.backends.quiet import as_user, during_pass
from gradwright.compilation.by_c.build import load, threads
from gradwright.compilation.by_c.lowered import Lowered, reads_floats
from gradwright.compilation.by_c.memory import Memory
from gradwright.compilation.by_c.parts import part
from gradwright.compilation.by_c.places import shown
from gradwright.compilation.by_c.products import find_blas
from gradwright.compilation.by_c.source import source
from gradwright.compilation.by_c.steps import Steps, recompute
from gradwright.compilation.node import CHECK, CONSTANT, HOST, GuardFailed, Node, Program, Runner, compute, same
from gradwright.compilation.passes import simplified
from gradwright.compilation.spans import Disjoint

_FEW = 1 << 15
"""Programs with fewer entries keep Python's lock while they run."""
_FORMS = 4
"""So many layouts of inputs are compiled for; what lies otherwise is copied first."""


class C(Runner):
    """A program as loops in C.

    It is compiled when it is made (see `build`), for inputs that lie as they did in the traced run, or as ``arrays``
    do. Inputs of another layout are compiled for when they come.

    Args:
        program: what to run.
        exact: whether results are NumPy's to the last bit; then C does what is computed alike there: + - * / and
            square roots, comparisons, choices and casts.
        arrays: inputs as they will be given, whose layout counts.

    Attributes:
        ready: the program that is run: the one given, made simpler.
        timed: whether calls measure how long each step takes; they are slower then.
        source: the C text.
        loops: for each step a record: ``kind`` ("C", "BLAS", "NumPy" or "host"), ``name``, ``nodes``, ``entries``,
            and ``seconds``, the time spent in it while ``timed``.

    Raises CannotCompileError if there is no C compiler or it fails.
    """

    def __init__(self, program: Program, exact: bool = False, arrays: Sequence[Any] | None = None) -> None:
        super().__init__(program)
        self.exact = exact
        self.timed = False
        self._forms: dict[Any, _Form] = {}
        self.ready = simplified(program, exact or any(map(reads_floats, program.nodes)))
        values = [node.value for node in program.inputs] if arrays is None else arrays
        strides = [_strides(value, node) for value, node in zip(values, program.inputs, strict=True)]
        self._form = self._made((*strides, False))

    @property
    def source(self) -> str:
        """The C text that is run now."""
        return self._form.source.text

    @property
    def loops(self) -> list[dict[str, Any]]:
        """A record for each step."""
        return self._form.source.records

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        form = self._form
        if self.elsewhere is None or form.arrays is not arrays or not all(map(form.takes, self.elsewhere)):
            form = self._bound(arrays)
        if self.timed:
            found: list[Any] = during_pass(form.run, True)
            return found
        return form.run() if form.plain else during_pass(form.run)

    def _made(self, key: Any) -> _Form:
        if key not in self._forms:
            self._forms[key] = _Form(self.ready, key[:-1], self.exact, aside=key[-1])
        return self._forms[key]

    def _bound(self, arrays: Sequence[Any]) -> _Form:
        """The form for the layout of these arrays, with their addresses set."""
        program = self.program
        if len(arrays) != len(program.inputs):
            raise ValueError(f"the program takes {len(program.inputs)} arrays, and got {len(arrays)}")
        for k, (node, a) in enumerate(zip(program.inputs, arrays, strict=True)):
            if not isinstance(a, np.ndarray) or a.shape != node.shape or a.dtype != node.dtype:
                kind = f"{a.dtype} {list(a.shape)}" if isinstance(a, np.ndarray) else type(a).__name__
                raise ValueError(f"input {k} of the program is {node.dtype} {list(node.shape)}, and got {kind}")
        written = [at for at in program.writes if at is not None]
        for at in written:
            if not arrays[at].flags.writeable:
                raise ValueError(f"input {at} of the program is written, but its array is read-only")
        aside = any(not _lies_well(arrays[i]) for i in written)
        aside = aside or (bool(written) and not Disjoint(range(len(arrays)), written).of_all(arrays))
        strides = [_strides(a, node) for a, node in zip(arrays, program.inputs, strict=True)]
        key = (*strides, aside)
        if key not in self._forms and len(self._forms) >= _FORMS:
            key = (*(None,) * len(arrays), True)
        form = self._made(key)
        form.bind(arrays)
        self._form = form
        return form


def _lies_well(array: Any) -> bool:
    """Whether C can read an array where it lies."""
    size = array.dtype.itemsize
    return bool(array.flags.aligned) and all(size and s % size == 0 for s in array.strides)


def _strides(array: Any, node: Node) -> Any:
    """The strides of an input in entries; None for row-major order."""
    if not isinstance(array, np.ndarray) or array.flags.c_contiguous or not _lies_well(array):
        return None
    return tuple(s // array.dtype.itemsize for s in array.strides)


class _Result:
    """An output that is new memory at every call: the last array, others that were given out before, and addresses."""

    __slots__ = ("array", "at", "dtype", "others", "places", "shape", "slot")

    def __init__(self, node: Node, slot: int) -> None:
        self.shape, self.dtype, self.slot = node.shape, node.dtype, slot
        self.array: Any = None
        self.at = 0
        self.others: list[Any] = []
        self.places: list[int] = []

    def renew(self, table: Any) -> Any:
        """An array that nobody else holds, whose address stands in the table."""
        others, places, found = self.others, self.places, None
        for k in range(len(others)):
            if getrefcount(others[k]) == _ALONE:
                found, others[k] = others[k], self.array
                self.at, places[k] = places[k], self.at
                break
        else:
            if self.array is not None and len(others) < 2:
                others.append(self.array)
                places.append(self.at)
            found = np.empty(self.shape, self.dtype)
            self.at = _address(found)
        self.array = found
        table[self.slot] = self.at
        return found


class _Holder:
    """What holds one object that nobody else does."""

    __slots__ = ("array",)

    def __init__(self) -> None:
        self.array: Any = object()


_holder = _Holder()
_ALONE = getrefcount(_holder.array) if getattr(sys, "_is_gil_enabled", bool)() or sys.version_info < (3, 13) else -1
"""How many hold an object that one attribute, or list, holds alone. Without Python's lock that cannot be told."""


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


class _Form:
    """A program compiled for one layout of inputs.

    Attributes:
        arrays: the inputs whose addresses are set, in the list that was given.
        plain: whether C does all of it.
    """

    def __init__(self, program: Program, strides: Sequence[Any], exact: bool, aside: bool) -> None:
        self.arrays: Sequence[Any] = ()
        blas = None if exact else find_blas()
        self.lowered = lowered = Lowered(program, strides, exact, blas is not None)
        self.steps = steps = Steps(lowered)
        part(lowered, steps)
        recompute(lowered, steps)
        self.memory = memory = Memory(lowered, steps, aside)
        self.source = source(lowered, steps, memory, blas)
        entries = sum(r["entries"] for r in self.source.records)
        library = load(self.source.text)
        if entries < _FEW:
            library = ctypes.PyDLL(library._name)
        self.table = (ctypes.c_void_p * (memory.FIRST + len(memory.owners)))()
        at = ctypes.addressof(self.table)
        if "parallel_t) P" in self.source.text:
            self.table[0] = threads()
        if blas is not None:
            self.table[1:5] = [*blas.addresses]
        self._own = np.empty(memory.size + 64, np.uint8)
        start = -_address(self._own) % 64
        self.table[memory.OWN] = _address(self._own) + start
        self._values: dict[Node, Any] = {}
        self._slots = {node: memory.spots[node].pointer for node in memory.owners}
        for node, spot in memory.spots.items():
            if spot.pointer == memory.OWN:
                array = np.ndarray(node.shape, node.dtype, self._own, start + spot.start)
                self._values[node] = array
        for node in memory.owners:
            if node.op == CONSTANT:
                self._values[node] = node.args[0]
                self.table[self._slots[node]] = _address(node.args[0])
        self._step = partial(_function(library, "step", ctypes.c_void_p, ctypes.c_long), at)
        self._stretches = [partial(_function(library, f"run_{s}", ctypes.c_void_p), at) if isinstance(s, int) else s
                           for s in self.source.stretches]  # fmt: skip
        self.plain = len(self._stretches) == 1 and not isinstance(self._stretches[0], Node)
        self._results: list[Any] = []
        self._writes: list[tuple[int, Node]] = []
        for node, write in zip(lowered.outputs, program.writes, strict=True):
            if write is not None:
                self._results.append(None)
                if node not in memory.in_place:
                    self._writes.append((write, node))
            elif lowered.how[node] is None:
                self._results.append(node)
            else:
                self._results.append(_Result(node, self._slots[node]))
        self._made = [(node, r) for node, r in zip(lowered.outputs, self._results, strict=True)
                      if isinstance(r, _Result)]  # fmt: skip
        self._passing = [*(node for node, _ in self._made), *(n for n in lowered.nodes if lowered.how[n] is None)]
        self._copied: list[tuple[Any, Any]] = []
        self._given, self._inputs = strides, program.inputs

    def takes(self, k: int) -> bool:
        """Set the address of one input that may be another array; whether that is all that is to be done."""
        node, a = self._inputs[k], self.arrays[k]
        if self._copied or not _lies_well(a) or _strides(a, node) != self._given[k]:
            return False
        self._values[node] = a
        if node in self._slots:
            self.table[self._slots[node]] = _address(a)
        return True

    def bind(self, arrays: Sequence[Any]) -> None:
        """Set the addresses of inputs."""
        self.arrays = []
        self._copied = []
        for node, a, strides in zip(self._inputs, arrays, self._given, strict=True):
            used = a
            if _strides(a, node) != strides or not _lies_well(a):
                used = np.empty(a.shape, a.dtype)  # in row-major order: a form for other strides gets no others
                self._copied.append((used, a))
            self._values[node] = a
            if node in self._slots:
                self.table[self._slots[node]] = _address(used)
        self.arrays = arrays

    def run(self, timed: bool = False) -> list[Any]:
        """One call."""
        for to, a in self._copied:
            to[...] = a
        table = self.table
        found: list[Any] = []
        for r in self._results:
            if type(r) is _Result:
                found.append(r.array if getrefcount(r.array) == _ALONE else r.renew(table))
            else:
                found.append(None)
        if self.plain and not timed and not self._stretches[0]():  # type: ignore[operator]
            for at, node in self._writes:
                self.arrays[at][...] = self._values[node]
            return found
        try:
            self._run_with_calls(timed)
            for k, r in enumerate(self._results):
                if isinstance(r, Node):
                    found[k] = self._values[r]
            for at, node in self._writes:
                self.arrays[at][...] = self._values[node]
        finally:
            for node in self._passing:
                self._values.pop(node, None)
        return found

    def _run_with_calls(self, timed: bool) -> None:
        values = self._values
        for node, r in self._made:
            values[node] = r.array
        if timed:
            self._run_timed()
        else:
            for s in self._stretches:
                if isinstance(s, Node):
                    self._call(s)
                else:
                    stopped = s()
                    if stopped:
                        self._go_on(stopped - 1)

    def _go_on(self, stopped: int) -> None:
        """Look at a check that C has stopped at, and go on after it if all is as it was, but for bits."""
        for node, r in self._made:
            self._values[node] = r.array
        self._check(self.steps.steps[stopped].nodes[0])
        for k in range(stopped + 1, len(self.steps.steps)):
            if self.source.records[k]["kind"] not in ("C", "BLAS"):
                return
            if self._step(k):
                self._check(self.steps.steps[k].nodes[0])

    def _check(self, node: Node) -> None:
        """Raise `GuardFailed` unless a value is what is expected, of which C has found other bits.

        An index out of range is NumPy's to tell.
        """
        if node.op != CHECK:
            self._call(node)
            raise GuardFailed(node, None)
        x, expected = node.args
        found = self._value(x) if x.shape is not None else self._values[self.lowered.places[x].root]
        if not same(found, expected):
            raise GuardFailed(node, found)

    def _run_timed(self) -> None:
        for k, (step, record) in enumerate(zip(self.steps.steps, self.source.records, strict=True)):
            start = perf_counter()
            if record["kind"] in ("C", "BLAS"):
                if self._step(k):
                    self._check(step.nodes[0])
            else:
                self._call(step.nodes[0])
            record["seconds"] += perf_counter() - start

    def _value(self, node: Node) -> Any:
        """What Python sees of a node."""
        found = self._values.get(node, self)
        if found is not self:
            return found
        node = self.lowered.same.get(node, node)
        of = self.lowered.views.get(node)
        if of is not None:
            return shown(node, self._value(of))
        return self._value(self.lowered.places[node].root).reshape(node.shape)

    def _call(self, node: Node) -> None:
        """Do in Python what a node says, and keep its value."""
        args, kwargs = node.with_args(self._value)
        done = False
        try:
            if node.op == HOST:  # which may keep what it is given
                found = as_user(args[0], *(np.array(a) if isinstance(a, np.ndarray) else a for a in args[1:]))
            else:
                found = compute(node, args, kwargs)
            done = True
        finally:
            if not done:
                _note(sys.exc_info()[1], node)
        if node.shape is None:
            self._values[node] = found
            return
        array = np.asarray(found)
        if array.shape != node.shape or array.dtype != node.dtype:
            raise GuardFailed(node, found)
        if node.op == HOST or array.base is not None or any(array is a for a in args):
            array = np.array(array)
        slot = self._slots.get(node)
        if slot is not None:
            if not array.flags.c_contiguous or not array.flags.aligned:
                array = np.array(array, order="C")
            self.table[slot] = _address(array)
        self._values[node] = array


def _note(error: BaseException | None, node: Node) -> None:
    """Name the user's line in an error that is on its way."""
    if error is not None and not isinstance(error, GuardFailed):
        what = f"{node.name} ({node.op})" if node.name else node.op
        error.add_note(f"in {what} of a compiled program, {node.line or 'of no line of yours'}")


def _function(library: Any, name: str, *kinds: Any) -> Any:
    found = library[name]
    found.argtypes, found.restype = list(kinds), ctypes.c_long
    return found

