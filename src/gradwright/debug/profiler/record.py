"""`profile`, which records what runs, and `record_function`, a span of your own in it."""

from __future__ import annotations

import enum
import functools
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter_ns
from typing import Any

from gradwright.base.cpython.forks import lock
from gradwright.base.dtypes import nbytes
from gradwright.base.errors import kind
from gradwright.base.pages.shown import Shown
from gradwright.base.source_line import Place, here
from gradwright.debug.profiler.schedule import ProfilerAction
from gradwright.debug.profiler.table import Row, Rows, rows
from gradwright.debug.profiler.timeline import write
from gradwright.debug.saved_values import packed, saved_values
from gradwright.engine.mode import now
from gradwright.engine.node import Output
from gradwright.engine.saved_hooks import Entry
from gradwright.engine.watch import Watch
from gradwright.function.contract.containers import arrays
from gradwright.function.ctx import BackwardNode


class ProfilerActivity(enum.Enum):
    """What can be profiled: the CPU."""

    CPU = 0


class Event:
    """Something that ran.

    Attributes:
        name: the operation, ``multiply``; of a backward, the node, ``MulBackward0``; of a span, its name.
        kind: ``forward`` (an operation, a Function or a hook), ``backward`` (a node) or ``span``.
        start, end: nanoseconds by `time.perf_counter_ns`.
        within: the time of the events directly inside it.
        parent: the event that it ran inside of, or None.
        place: the line of the program that ran it; of a backward, the line that recorded the node, if it is known.
        inputs: shape and dtype of each array or tensor that went in.
        output: bytes of what came out.
        saved: bytes that its node saved for backward; what two nodes save counts for both.
        made_by: of a backward, the event of the operation, if that was profiled.
        thread: the id of the thread it ran in.
    """

    __slots__ = ("_inputs", "_place", "end", "kind", "made_by", "name", "output", "parent", "saved", "start", "thread",
                 "within")  # fmt: skip

    def __init__(self, name: str, kind: str, place: Any, parent: Event | None, made_by: Event | None) -> None:
        self.name, self.kind, self._place, self.parent, self.made_by = name, kind, place, parent, made_by
        self.thread = threading.get_native_id()
        self._inputs: list[tuple[Any, Any]] = []
        self.end = self.within = self.output = self.saved = 0
        self.start = perf_counter_ns()

    @property
    def inputs(self) -> list[tuple[tuple[int, ...], str]]:
        return [(tuple(shape), str(dtype)) for shape, dtype in self._inputs]

    @property
    def place(self) -> Place | None:
        return Place(*self._place) if self._place else None

    @property
    def duration(self) -> int:
        """Nanoseconds from start to end."""
        return self.end - self.start


class _Here(threading.local):
    """What a profile knows of this thread."""

    def __init__(self) -> None:
        self.stack: list[Event] = []
        self.last: Event | None = None
        self.began: int | None = None


class profile(Watch, Shown):
    """Record operations, forward and backward, in a ``with`` block, which may be entered again to record more.

    Args:
        by_line: make the rows of tables source lines, with all operations of a line in one, instead of operations.
        activities, record_shapes, profile_memory, with_stack, with_flops, with_modules, experimental_config,
            acc_events: PyTorch's; what they ask for is always recorded, or, as flops are, never.
        schedule: what is done in each step that `step` ends, as `gradwright.profiler.schedule` says; None records all.
        on_trace_ready: called with the profile when the last recorded step of a cycle, or the block, has ended.

    What runs in the thread (or asyncio task) that entered it is recorded. Another thread joins in by entering it, too,
    or by running in a copy of the context (`contextvars.copy_context`). A span that is still open ends with the block.

    Raises RuntimeError if it is entered where it is on already.
    """

    def __init__(
        self,
        by_line: bool = False,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        record_shapes: bool = True,
        profile_memory: bool = True,
        with_stack: bool = True,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        acc_events: bool = False,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
    ) -> None:
        self.by_line = by_line
        self.step_num = 0
        """How many steps have ended."""
        self._schedule = schedule or (lambda step: ProfilerAction.RECORD)
        self._ready = on_trace_ready
        self.wall = 0
        """Nanoseconds spent in the block; of several threads, the sum."""
        self._events: list[Event] = []
        self._threads: dict[int, str] = {}
        self._here = _Here()
        self._made: weakref.WeakKeyDictionary[Any, Event] = weakref.WeakKeyDictionary()

    # -- recording --

    def __enter__(self) -> profile:
        if self in now().watches:
            raise RuntimeError("profile: this profile is on already; make another one for a block inside of it")
        if self._schedule(self.step_num).records:
            self._start()
        return self

    def __exit__(self, *exc: object) -> None:
        if self in now().watches:
            self._stop(*exc)
            if self._ready is not None:
                self._ready(self)

    def step(self) -> None:
        """End a step of the loop that is profiled: what the schedule says of the next one is done from now on."""
        before = self._schedule(self.step_num)
        self.step_num += 1
        after = self._schedule(self.step_num)
        if before is ProfilerAction.RECORD_AND_SAVE or (before.records and not after.records):
            self._stop(None, None, None)
            if self._ready is not None:
                self._ready(self)
        if after.records and self not in now().watches:
            self._events.clear()
            self.wall = 0
            self._start()

    def _start(self) -> None:
        super().__enter__()
        self._here.began = perf_counter_ns()

    def _stop(self, *exc: Any) -> None:
        for event in list(reversed(self._here.stack)):
            self.ends(event)
        if self._here.began is not None:
            with lock:
                self.wall += perf_counter_ns() - self._here.began
        self._here.began = self._here.last = None
        super().__exit__(*exc)

    def begins(self, name: str, kind: str, place: Any, made_by: Event | None = None) -> Event:
        """A new event, which lasts until `ends`."""
        stack = self._here.stack
        event = Event(name, kind, place, stack[-1] if stack else None, made_by)
        stack.append(event)
        return event

    def ends(self, event: Event) -> None:
        """End an event, if it has not ended."""
        now = perf_counter_ns()
        if event.end:
            return
        event.end = now
        stack = self._here.stack
        if event in stack:
            stack.remove(event)
        if event.parent is not None:
            event.parent.within += event.duration
        if event.thread not in self._threads:
            self._threads[event.thread] = threading.current_thread().name
        self._events.append(event)

    def compute(self, name: str, inputs: Sequence[Any], call: Callable[[], Any]) -> Any:
        event = self.begins(name, "forward", here())
        try:
            result = call()
        finally:
            self.ends(event)
        event._inputs = [(a.shape, a.dtype) for a in arrays(inputs)]
        event.output = sum(_size(a) for a in arrays([result]))
        self._here.last = event
        return result

    def recorded(self, node: Any) -> None:
        event = self._here.last
        if not node._next:  # no operation made it: it is what a checkpoint keeps
            event = self.begins(type(node).__name__, "forward", here())
            self.ends(event)
        if event is not None:
            self._made[node] = event
            event.saved += _saved(node)

    def run(self, node: Any, g: Any, call: Callable[[], Any]) -> Any:
        if type(node) is Output:
            return call()
        made_by = self._made.get(node)
        event = self.begins(type(node).__name__, "backward", made_by and made_by._place, made_by)
        try:
            result = call()
        finally:
            self.ends(event)
        event._inputs = [(a.shape, a.dtype) for a in arrays([g])]
        event.output = sum(_size(a) for a in arrays(result))
        return result

    # -- what was recorded --

    def events(self) -> list[Event]:
        """All events that have ended, in the order in which they began."""
        return sorted(self._events, key=lambda event: event.start)

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0) -> Rows:
        """The events added up, by operation or line; PyTorch's two arguments make no difference."""
        return rows(self.events(), self.by_line, self.wall)

    def total_average(self) -> Row:
        """All events in one row."""
        total = Row("Total")
        for event in self.events():
            total.add(event, event.parent is not None)
        return total

    @property
    def self_cpu_time_total(self) -> float:
        """The microseconds that all of it took."""
        return sum(row.self_total for row in self.key_averages())

    def __getitem__(self, key: str) -> Row:
        return self.key_averages()[key]

    def table(self, sort_by: str = "total", row_limit: int = 100) -> str:
        """A table to print: see `Rows.table`."""
        return self.key_averages().table(sort_by, row_limit)

    __str__ = table

    def __rich__(self) -> Any:
        return self.key_averages().__rich__()

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write a trace that chrome://tracing and https://ui.perfetto.dev open; lines join forward and backward.

        The file is complete or not there at all. Raises OSError where it cannot be written.
        """
        write(self.events(), self._threads, path)


class record_function:
    """A span of your own in the profiles that are on: ``with record_function("loss"):``, or as a decorator.

    Raises TypeError if the name is no string.
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        if not isinstance(name, str):
            raise TypeError(f"record_function: the name must be a string, but got {kind(name)}")
        self.name = name if args is None else f"{name} {args}"
        self._open: list[list[tuple[profile, Event]]] = []

    def __enter__(self) -> record_function:
        profiles = [watch for watch in now().watches if isinstance(watch, profile)]
        self._open.append([(p, p.begins(self.name, "span", here())) for p in profiles])
        return self

    def __exit__(self, *exc: object) -> None:
        for p, event in self._open.pop():
            p.ends(event)

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(fn)
        def call(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name):
                return fn(*args, **kwargs)

        return call


def _size(array: Any) -> int:
    """Bytes of an array, or of the tensor that a saved value stands for."""
    return array.nbytes if hasattr(array, "nbytes") else nbytes(array)


def _saved(node: Any) -> int:
    """Bytes that a node has saved, each array once; what went through saved-tensor hooks as if it had not."""
    found: list[Any] = []
    for _, value, tensors in saved_values(node):
        if tensors:
            found += [getattr(p, "array", p) if isinstance(p, Entry) else p[0] for p in packed(value)]
        elif isinstance(node, BackwardNode):  # what a Function has left on ctx
            found += arrays([value])
    return sum(_size(a) for a in {id(a): a for a in found}.values())
