"""Tracing: an ordinary run of a function of tensors that leaves a program, and what it did beside.

While a trace is on, every tensor that an operation meets holds a traced array, for its thread alone. The memory of
those there were before is an input each; what is written goes into new arrays, which are copied into that memory when
the run has ended well.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import compress
from typing import Any

import numpy as np

from gradwright import backends
from gradwright.backends.numpy import NUMPY
from gradwright.backends.steps import read
from gradwright.base.source_line import Place, here
from gradwright.compilation.node import INPUT, taken
from gradwright.compilation.trace.host import Drawing, applied, unobserved
from gradwright.compilation.trace.per_thread import PerThread
from gradwright.compilation.trace.repeats import Repeats
from gradwright.compilation.trace.traced import Notes, Traced, Untraceable
from gradwright.compilation.trace.units import (
    Overwritten,
    Setting,
    State,
    Unit,
    copied,
    met,
    of_one_memory,
    place,
    where_it_is_used,
)
from gradwright.compilation.watch.numbers import Again
from gradwright.engine.base import Fixed, TensorBase, ticket, wrap
from gradwright.engine.levels import LevelArray
from gradwright.engine.memory import (
    OVERLAPS,
    Memory,
    back_to,
    beside,
    is_immutable,
    leave,
    moved_to,
    overlaps,
    share,
    steps_of,
)
from gradwright.engine.mode import now
from gradwright.engine.node import AccumulateGrad
from gradwright.engine.version import is_lent, version
from gradwright.engine.watch import Watch


def _called(call: Callable[[], Any]) -> Any:
    return call()


class Follows(Watch):
    """Knows which Functions run: ``functions`` are those whose forward or backward does, the innermost last."""

    def __init__(self) -> None:
        self.functions: list[Any] = []
        self._next: Any = None

    def applying(self, cls: Any, args: Sequence[Any]) -> Any:
        self._next = cls
        return NotImplemented

    def compute(self, name: str, inputs: Sequence[Any], call: Callable[[], Any]) -> Any:
        cls, self._next = self._next, None
        return call() if cls is None else self._inside(cls, call)

    def run(self, node: Any, g: Any, call: Callable[[], Any]) -> Any:
        cls = getattr(node, "_function", None)
        return call() if cls is None else self._inside(cls, call)

    def _inside(self, cls: Any, call: Callable[[], Any]) -> Any:
        self.functions.append(cls)
        try:
            return call()
        finally:
            self.functions.pop()


class Survey(Follows):
    """On during the first run, which is eager: finds the Functions that compute in Python.

    Attributes:
        hosted: they.
        known: those known before, whose code is not looked at.
        written: weak references to the tensors that it writes where the library keeps what shares memory, by id.
    """

    def __init__(self, hosted: set[Any], written: dict[int, Any]) -> None:
        super().__init__()
        self.hosted, self.known, self.written = hosted, set(hosted), written

    def _inside(self, cls: Any, call: Callable[[], Any]) -> Any:
        f = unobserved if cls in self.known else _called
        return super()._inside(cls, lambda: f(call))

    def leaving(self, t: Any) -> None:
        self.hosted.update(self.functions[-1:])

    def writing(self, t: Any) -> None:
        if is_immutable(t.array):
            self.written[id(t)] = weakref.ref(t)


def _classes(cls: type[Any]) -> Iterator[type[Any]]:
    """A class of tensors and those derived from it."""
    yield cls
    for derived in type.__subclasses__(cls):
        yield from _classes(derived)


def tensors() -> Iterator[tuple[Any, Any]]:
    """All tensors that there are, with their arrays; parameters that wait for their size are none yet."""
    objects = gc.get_objects()  # maybe millions: what looks at each is in C
    classes = {id(cls) for cls in _classes(TensorBase) if cls.array is TensorBase.array}
    for t in compress(objects, map(classes.__contains__, map(id, map(type, objects)))):
        array = getattr(t, "array", None)  # None of one that is being made
        if array is not None:
            yield t, array


class Before:
    """The tensors that were there before a run.

    Attributes:
        known: all of them, by id.
        owners: of those that are the ``.grad`` of another one, that one.
        start: nodes with a smaller number were made before.

    Raises `Untraceable` if that cannot be known.
    """

    def __init__(self) -> None:
        if gc.get_freeze_count() and all(x is not TensorBase for x in gc.get_objects()):  # Python 3.12 freezes some
            raise Untraceable("gc.freeze() hides which tensors there are: call gc.unfreeze() before the first calls")
        self.known = {id(t): t for t, _ in tensors()}
        self.owners = {id(g): t for t in self.known.values() if (g := getattr(t, "_grad", None)) is not None}
        self.start = ticket()


class Trace(Follows):
    """A traced run.

    Attributes:
        notes: the nodes.
        units: the memory that was met, in order.
        settings: the numbers that are read at every call.
        sources: what random numbers were drawn from, with the state before.
        hosted: Functions that compute in Python, or in NumPy: they are run anew at every call.
        shares: whether memory that several tensors show is an input as a whole, where the library keeps that; else
            each of them is one, and none is to be written, but of those in ``written``: `Again` is raised if one is.
        written: tensors that the first run has written.
        answers: to what Python has asked of tensors, by id and question; with the tensor.
        states: of the tensors that were there before and have been met, by id.
    """

    def __init__(self, before: Before, hosted: set[Any], shares: bool = False,
                 written: Mapping[int, Any] | None = None) -> None:  # fmt: skip
        super().__init__()
        self.notes, self.hosted, self.before, self.shares = Notes(), hosted, before, shares
        self._repeats = Repeats(self.notes)
        self._per_thread = PerThread(before.known, before.start)
        self._overwritten = Overwritten()
        self.written = written or {}
        self._lone: list[Any] = []
        self._overlapping: list[Any] = []
        self._several: set[int] = set()
        self.units: list[Unit] = []
        self.answers: dict[Any, tuple[Any, Any]] = {}
        self.settings: dict[tuple[int, str, int | None], Setting] = {}
        self.sources: dict[Any, bytes] = {}
        self._left: dict[Any, bytes] = {}
        self.states: dict[int, State] = {}
        self._places: dict[tuple[Any, ...], Unit] = {}

    def __enter__(self) -> Any:
        self._per_thread.begin()
        return super().__enter__()

    # -- what a watch is told --

    def used(self, tensors: Sequence[Any]) -> None:
        """Let all tensors that an operation reads hold traced arrays."""
        for t in tensors:
            self.adopt(t)

    def compute(self, name: str, inputs: Sequence[Any], call: Callable[[], Any]) -> Any:
        """Note which operation runs."""
        for x in inputs:
            if isinstance(x, TensorBase):
                self.adopt(x)
        before, self.notes.name = self.notes.name, name
        try:
            return super().compute(name, inputs, call)
        finally:
            self.notes.name = before

    def run(self, node: Any, g: Any, call: Callable[[], Any]) -> Any:
        """Let a leaf and its gradient hold traced arrays before another is added."""
        if node._seq < self.before.start and type(node) is not AccumulateGrad:
            raise Untraceable(f"a backward pass, at {_line()}, goes on into a graph made outside of the function")
        if type(node) is AccumulateGrad:
            leaf = node.variable
            self.adopt(leaf)
            if getattr(leaf, "_grad", None) is not None:
                self.adopt(leaf._grad)
        self._overwritten.check(node)
        return super().run(node, g, call)

    def writing(self, t: Any) -> None:
        """A tensor is about to be written."""
        self.adopt(t)
        self._overwritten.note(t)
        if any(of_one_memory(t, one) for one in self._overlapping):
            raise RuntimeError(OVERLAPS)
        if any(of_one_memory(t, one) for one in self._lone):
            self.shares = True
            raise Again

    def exchanged(self, t: Any) -> None:
        """A tensor is about to show other memory."""
        if id(t) in self.before.known or hasattr(t, "_part"):
            raise Untraceable("a tensor from outside of the function, or one that has views, is given other memory "
                              "(its .data is set)")  # fmt: skip

    def parted(self, t: Any, how: str) -> None:
        """An alias of a tensor has been made: what it shows is what that does."""
        self.adopt(t)

    def asked(self, t: Any, question: Callable[[Any], Any]) -> None:
        """What Python has been told of a tensor that was there before is so at each call."""
        if id(t) in self.before.known:
            self.adopt(t)
            state = self.states.get(id(t)) if question is version else None
            answer = question(t) if state is None else int(state.version)
            self.answers[id(t), question] = t, answer

    def leaving(self, t: Any) -> None:
        """Values are about to leave for Python: inside a Function that is a reason to run it in Python each time."""
        self.adopt(t)
        if self.functions:
            self.hosted.add(self.functions[-1])
            raise Again

    def applying(self, cls: Any, args: Sequence[Any]) -> Any:
        """The result of a Function that computes in Python; of others, whose operations are traced, none is known."""
        if cls in self.hosted:
            return unobserved(applied, self, cls, args)
        return super().applying(cls, args)

    def repeated(self, key: Any, f: Callable[..., Any], tensors: Sequence[Any]) -> Any:
        """What a function gives that may have been seen before with other tensors."""
        self.used(tensors)
        return self._repeats.of(key, f, tensors)

    def setting(self, container: dict[str, Any], key: str) -> Any:
        """The number ``container[key]``, or the numbers in a tuple there, as tensors that are read at every call."""
        value = container[key]
        if isinstance(value, TensorBase):
            self.adopt(value)
            return value
        if type(value) is tuple and value and all(type(v) is float and v != 0 for v in value):
            return tuple(self._setting(container, key, k, v) for k, v in enumerate(value))
        return self._setting(container, key, None, value) if type(value) is float and value != 0 else NotImplemented

    def _setting(self, container: dict[str, Any], key: str, index: int | None, value: float) -> Any:
        at = id(container), key, index
        found = self.settings.get(at)
        if found is None:
            start = self.notes.input(where_it_is_used(container, value))
            self.notes.truthy.add(start.node)
            found = self.settings[at] = Setting(container, key, index, value, start)
        return wrap(found.start)

    def drawing(self, source: Any) -> Any:
        """What draws from a source, noted; a transform has that of its own."""
        if now().level is not None:
            return None
        self.sources.setdefault(source, source.get_state())
        return Drawing(self.notes, source, self._left)

    # -- memory --

    def adopt(self, t: Any) -> None:
        """Let a tensor hold a traced array: an input of the program, if it was there before; else what it is."""
        array = t.array
        if isinstance(array, Traced):
            met(t)
            return
        if isinstance(array, LevelArray):
            return
        by = backends.library(array)
        if by is not NUMPY:
            if not by.compiles:
                raise Untraceable(f"a tensor on {t.device}, at {_line()}: programs are made of NumPy's or JAX's arrays")
            self._adopt_immutable(t, array)
            return
        if isinstance(array, np.generic):
            array = t.array = np.asarray(array)
        if id(t) in self.before.known:
            self.states.setdefault(id(t), State(t))
        unit = self._unit(t, array)
        unit.showing.append((t, array))
        if len(unit.showing) > 1:
            t.array = unit.now()
            share(t, unit.showing[0][0])
        else:
            t.array = unit.start

    def _adopt_immutable(self, t: Any, array: Any) -> None:
        """The same for a library whose arrays are not written: it is an input by itself, or with what shares memory."""
        others = beside(t)
        old = [o for o in others if id(o) in self.before.known]
        if old and id(t) not in self.before.known:
            self._alias(t, old[0])
            return
        if others and id(t) in self.before.known and (self.shares or any(map(self._is_written, (t, *others)))):
            memory = t._part.memory
            unit = Unit(memory.array, t, self.notes.input(memory.array), whole=True)
            fresh = Memory(unit.start, memory.saved)
            for one in [t, *others]:
                self._take(unit, one)
                moved_to(one, fresh, read(unit.start, one._part.steps))
        else:
            start = self._start(t, array)
            unit = Unit(array, t if start.node.op == INPUT else None, start)
            self._take(unit, t)
            leave(t)
            t.array = unit.start
            memory = getattr(unit.parts[id(t)], "memory", None)  # which others may have left meanwhile
            if others or id(memory) in self._several:
                self._several.add(id(memory))
                self._lone.append(t)
        self.units.append(unit)

    def _is_written(self, t: Any) -> bool:
        found = self.written.get(id(t))
        return found is not None and found() is t

    def _alias(self, t: Any, source: Any) -> None:
        """Of an alias that was made in the run, of one that was there before."""
        if steps_of(t) != steps_of(source):
            raise Untraceable(f"a view, at {_line()}, was made of a tensor that had not been seen before")
        self.adopt(source)
        t.array = source.array
        share(t, source)

    def _take(self, unit: Unit, t: Any) -> None:
        if id(t) in self.before.known:
            self.states.setdefault(id(t), State(t))
        unit.showing.append((t, t.array))
        unit.parts[id(t)] = getattr(t, "_part", None)

    def _start(self, t: Any, array: Any) -> Any:
        """A tensor's array as an input of the program; a constant if it was made in the run."""
        if type(t._counter) is not Fixed and (id(t) in self.before.known or is_lent(t._counter[0])):
            return self.notes.input(copied(array) if isinstance(array, np.ndarray) else array)
        return self.notes.traced(self.notes.constant(array))

    def _unit(self, t: Any, array: Any) -> Unit:
        at = place(array)
        found = self._places.get(at)
        if found is None:
            start = self._start(t, array)
            known = start.node.op == INPUT
            found = self._places[at] = Unit(array, t if known else None, start)
            self.units.append(found)
            if overlaps(t):  # the input, a copy, does not
                self._overlapping.append(t)
        return found

    def restore(self, failed: bool = True) -> None:
        """Let tensors be as before the run; if it has ``failed``, also what draws, and what was made (else: `part`)."""
        self.notes.open = False
        self._per_thread.end()
        if not failed:
            self._per_thread.keep(self.states)
        for unit in self.units:
            for t, array in unit.showing:
                is_known = id(t) in self.before.known
                if is_known and getattr(t, "_part", None) is not unit.parts.get(id(t)):
                    back_to(t, unit.parts.get(id(t)), array)
                elif failed and not is_known:
                    back_to(t, unit.parts.get(id(t)), array)
                    t._counter = self._per_thread.shared(t._counter)
                    if type(t._node) is AccumulateGrad:
                        t._node._array = array
        for state in self.states.values():
            state.restore()
        if failed:
            self.rewind()

    def rewind(self) -> None:
        """Let random numbers be drawn again."""
        rewind(self.sources)

    def part(self) -> None:
        """Let what was made in the run, and is kept by somebody, hold arrays of its own."""
        for t, array in tensors():
            if isinstance(array, Traced) and array.notes is self.notes:
                leave(t)
                t.array = taken(array.plain)
                if type(t._node) is AccumulateGrad:
                    t._node._array = t.array


def rewind(states: Mapping[Any, Any]) -> None:
    """Let sources of random numbers be in the states that they were in."""
    for source, state in states.items():
        source.set_state(state)


def _line() -> str:
    found = here(3)
    return str(Place(*found)) if found else "an unknown line"
