"""`compile`: functions of tensors that are traced once and then run as programs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from threading import Lock, active_count
from typing import Any

import numpy as np

from gradwright.backends.devices import CPU, get_default_device
from gradwright.backends.numpy import NUMPY
from gradwright.base import dtypes
from gradwright.base.source_line import warn
from gradwright.compilation import comparison, sizes
from gradwright.compilation.entry import Entry, Failed
from gradwright.compilation.node import HOST, GuardFailed, Program, taken
from gradwright.compilation.race import Race
from gradwright.compilation.trace.host import Forward
from gradwright.compilation.trace.record import Record, record
from gradwright.compilation.trace.trace import Before, Survey, Trace, rewind
from gradwright.compilation.trace.traced import Untraceable
from gradwright.compilation.trace.units import unguarded
from gradwright.compilation.watch.guards import Guard
from gradwright.compilation.watch.numbers import Again, Numbers
from gradwright.compilation.watch.observe import Refusal, observed
from gradwright.engine.base import TensorBase
from gradwright.engine.memory import whole
from gradwright.engine.mode import PLAIN, UNRECORDED, now
from gradwright.function.contract.trees import tree_unflatten
from gradwright.transform.arguments import flatten


class _Outcome:
    """How a traced run has ended that leaves no program.

    Whatever it raises, errors of the user's own classes, too, an eager run follows that will tell: the traced one
    leaves nothing of what the function has done before.

    Attributes:
        refusal: why no program can be made.
        raised: what the function, or a traced array, has raised.
    """

    refusal = raised = ""

    def __enter__(self) -> _Outcome:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        if isinstance(error, Untraceable):
            self.refusal = str(error)
        elif isinstance(error, Exception) and not isinstance(error, Again):
            self.raised = f"its traced run raised {kind.__name__}: {error}"
        return isinstance(error, Exception)


def _first(refusals: Sequence[Refusal]) -> str:
    """The first of several reasons, as text."""
    more = f" (and {len(refusals) - 1} more)" if len(refusals) > 1 else ""
    return f"{refusals[0]}{more}"


_MENDS = dict.fromkeys("iufc", "\n    Return the tensor, and call .item() outside of the step; to branch, compare it "
                               "as a tensor (if loss > 1)")  # fmt: skip
"""What helps where Python goes by a number, by its kind."""
_IN_VAIN = 3
"""So many programs fitted no call, each time since a number that is no integer was another one."""
_PREPARED = 4
"""So many of the first calls may do what a program would not do, as long as it is something else each time."""
_MANY = 100
"""So many guards take time to look at, which eager calls are spared where the program is not run."""
_TOUCHED = 16
"""So many comparisons say nothing, as another thread has written meanwhile what the step reads."""
_VALUE = re.compile(r"value [^)]*")
_tracing = Lock()
_SIZES = 64
"""The number of sizes for which programs made from a template are kept."""


def _copy(array: Any) -> Any:
    return array.copy(order="K") if isinstance(array, np.ndarray) else array.copy()


def _states(sources: Iterable[Any]) -> dict[Any, Any]:
    return {source: source.get_state() for source in sources}


class CompileWarning(UserWarning):
    """A compiled function runs eagerly, which is right but slow; the text says why and what helps."""


_FLAT: set[type] = {int, float, bool}
"""Classes of arguments that are no trees; those of tensors are added when they are met."""


def _taken(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Sequence[Any], Any]:
    """The leaves of arguments and the tree of them; their number, where they are tensors and numbers by position."""
    leaves, spec = flatten((args, kwargs))
    if kwargs or len(leaves) != len(args) or any(a is not b for a, b in zip(args, leaves, strict=True)):
        return leaves, spec
    tensors = {type(x) for x in args if isinstance(x, TensorBase)}
    if not _FLAT.union(tensors).issuperset(map(type, args)):
        return leaves, spec
    _FLAT.update(tensors)
    return args, len(args)


class Programs:
    """The programs of a function, and how its calls find theirs.

    Attributes:
        function: the function.
        make, other: from a program to what runs it; another way, which is tried where the first is not clearly quicker
            than an eager run.
        exact: whether numbers must be the eager run's to the bit.
        check: when runs are compared with eager ones: "first", "always" or "never".
        strict: whether it is an error if the function cannot be compiled.
        entries: for each grad mode, default dtype and tree of arguments (`_taken`) the programs, newest first.
        reason: why it runs eagerly from now on; "" while it does not.
        traced: how often it was traced, and why again.
        excused: whether the last trace has done what a program would not do: that may be a preparation, once.
        hosted: the Functions in it that compute in Python.
        harmless: those whose Python does nothing that a second run would do again.
        read: the places in its code where Python goes by a number of a tensor's (`Numbers.used`).
        shares: whether it writes memory that several tensors show, where the library keeps that.
        written: weak references to the tensors that its first run has written, where the library keeps what shares
            memory, by id.
        dynamic: whether programs for all sizes of a first dimension are made; None: once there are too many.
        templates, sized: these, and their programs for sizes that came.
    """

    limit = 8

    def __init__(self, function: Callable[..., Any], make: Callable[[Program], Any], *, exact: bool = False,
                 check: str = "first", strict: bool = False, dynamic: bool | None = None,
                 other: Callable[[Program], Any] | None = None) -> None:  # fmt: skip
        self.function, self.make, self.exact, self.check, self.strict = function, make, exact, check, strict
        self.other = other
        self.dynamic = dynamic
        self.lock = Lock()
        self.forget()

    def forget(self) -> None:
        """Be as before the first call."""
        self.entries: dict[Any, list[Entry]] = {}
        self.reason = ""
        self.traced: list[str] = []
        self.begun, self.looked, self.excused, self.refused = False, 0, False, set[str]()
        self.hosted: set[Any] = set()
        self.harmless: set[Any] = set()
        self.read: set[Any] = set()
        self.shares = False
        self.written: dict[int, Any] = {}
        self.templates: dict[Any, sizes.Template] = {}
        self.sized: dict[Any, list[Entry]] = {}
        self.full, self.apart = False, ""

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a call.

        It is eager in a trace, in a transform, under a watch (a profiler, anomaly mode), and while another thread, or
        this one further out, runs it.
        """
        mode = now()
        if self.reason or not (mode is PLAIN or mode is UNRECORDED) or not self.lock.acquire(False):
            return self.function(*args, **kwargs)
        try:
            return self._called(mode is PLAIN, args, kwargs)
        finally:
            self.lock.release()

    def _called(self, records: bool, args: Any, kwargs: Any) -> Any:
        leaves, spec = (args, len(args)) if not kwargs and _FLAT.issuperset(map(type, args)) else _taken(args, kwargs)
        key = records, dtypes.default(), get_default_device() is CPU, spec
        entries = self.entries.get(key, ())
        why, mend, vain = "", "", 0
        failed: list[Entry] = []
        many = self.templates or len(entries) >= sizes.ENOUGH
        for entry in chain(entries, self._sized(key, leaves)) if many else entries:
            if entry.race is not None and len(entry.guards) > _MANY and entry.race.skips(leaves):
                return self.function(*args, **kwargs)
            arrays = entry.gather(leaves) if entry.unchanged() else None
            if arrays is not None:
                self._agree(entry, f"runs program {entry.place}")
                if entry.race is not None and entry.race.lost:
                    return self.function(*args, **kwargs)
                try:
                    return self._run(entry, arrays, leaves, args, kwargs)
                except GuardFailed as e:
                    why, mend = f"a value that Python reads, at {e.node.line}", _MENDS.get(e.number, "")
                    vain += e.number in ("f", "c") and not entry.checked
                    failed += [entry] * bool(e.number)
        for entry in [entry for entry in entries if entry.record.shared][:1]:
            self._agree(entry, "fits none of its programs")
        if vain >= _IN_VAIN:
            return self._eager(f"Python goes by a number that is another one at each call. What varied: {why}{mend}",
                               args, kwargs)  # fmt: skip
        if not self.begun:
            return self._watched(args, kwargs)
        if entries and not why:
            why = str(entries[0].changed() or entries[0].moved(leaves))
        if len(self.traced) >= self.limit:
            return self._too_many(why + mend, args, kwargs)
        if not _tracing.acquire(False):  # what another thread traces is no part of this
            return self.function(*args, **kwargs)
        try:
            self.traced.append(why)
            return self._traced(self.entries.setdefault(key, []), failed, leaves, spec, args, kwargs)
        finally:
            _tracing.release()

    def _agree(self, entry: Entry, what: str) -> None:
        """Raise RuntimeError unless all processes do the same in a call, where its tensors lie in several."""
        if entry.record.shared:
            entry.record.program.library.agree(
                f"the compiled {self._name()} {what}", "What Python reads in a function of tensors that lie in several "
                "processes, arguments that are no tensors included, has to be the same in all of them")  # fmt: skip

    def _run(self, entry: Entry, arrays: Sequence[Any], leaves: Sequence[Any], args: Any, kwargs: Any) -> Any:
        """The result of a program, or of an eager run where it raises; a failed guard draws random numbers again."""
        states = _states(entry.record.draws) if entry.record.draws else {}
        try:
            if entry.checked and self.check != "always":
                entry.looks.until -= 1
                if entry.looks.until or entry.looks.puts_off():
                    raced = entry.race is not None
                    return self._raced(entry, leaves, args, kwargs) if raced else entry.called(arrays, leaves)
            return self._compared(entry, arrays, leaves, args, kwargs)
        except GuardFailed:
            rewind(states)
            raise
        except Failed:
            rewind(states)
        return self.function(*args, **kwargs)  # which may catch what it raises, and has done before what comes before

    def _raced(self, entry: Entry, leaves: Sequence[Any], args: Any, kwargs: Any) -> Any:
        """The result of a program or of an eager run, whose time is taken until it is known which is quicker."""
        race: Race = entry.race  # type: ignore[assignment]
        result = race.run(partial(entry.asked, leaves), partial(self.function, *args, **kwargs))
        if race.is_over:
            if race.is_clear or self.other is None or race.rival is not None:
                best = race.best(entry, leaves)
            else:
                best = Entry(entry.record, self.other(entry.record.program), leaves, entry.guards)
                best.place, best.race = entry.place, Race(entry)
            for entries in (*self.entries.values(), *self.sized.values()):
                entries[:] = [best if e is entry else e for e in entries]
        return result

    def _sized(self, key: Any, leaves: Sequence[Any]) -> Iterator[Entry]:
        """The entry for a size that no program was traced for, if there is one program for all sizes."""
        template = self.templates.get(key)
        entries = self.entries.get(key, [])
        if template is None and self.dynamic is not False and len(entries) >= sizes.ENOUGH and (
                self.dynamic or len(self.traced) >= self.limit):  # fmt: skip
            try:
                template = self.templates[key] = sizes.Template([entry.record for entry in entries])
            except sizes.SizesDiffer as e:
                self.apart = f" (there is no one program for all sizes: {e})"
        x = leaves[template.at] if template is not None and template.at < len(leaves) else None
        if template is None or not isinstance(x, TensorBase) or not x.array.ndim or not entries[0].unchanged():
            return
        size = x.array.shape[0]
        known = self.sized.setdefault((key, size), [])
        if not known:
            try:
                found = template.record(size)
            except sizes.SizesDiffer:
                return
            known.append(self._entry(found, leaves, key[-1], entries[0].guards))
            known[0].checked &= self.check != "never"  # it was not traced
            known[0].borrows = not known[0].checked
            if len(self.sized) > _SIZES:
                del self.sized[next(iter(self.sized))]
        yield known[0]

    def _too_many(self, why: str, args: Any, kwargs: Any) -> Any:
        if not self.full:
            self.full = True
            warn(f"compile: {self._name()} was traced {self.limit} times, and runs eagerly where none of these "
                 f"programs fits. What varied last: {why}{self.apart}", CompileWarning)  # fmt: skip
        return self.function(*args, **kwargs)

    def _name(self) -> str:
        return getattr(self.function, "__qualname__", type(self.function).__name__)

    def _watched(self, args: Any, kwargs: Any) -> Any:
        """The result of an eager run that is looked at, and again if it does what a program would not do.

        It may be a preparation, if it did not do that before: what is made at the first call is there at the next.
        """
        with Survey(self.hosted, self.written):
            found = observed(self.function, args, kwargs)
        refused = {_VALUE.sub("", str(refusal)) for refusal in found.refusals}
        again, self.refused, self.looked = refused & self.refused, self.refused | refused, self.looked + 1
        self.begun = not refused
        if self.begun and self.looked == 1:  # in a further one they are not looked at
            self.harmless = set(self.hosted)
        if again or (refused and self.looked == _PREPARED):
            return self._eager(_first(found.refusals), args, kwargs, found.result)
        return found.result

    def _ends(self, reason: str) -> None:
        """There are no programs from now on."""
        self.reason = reason
        self.entries, self.sized, self.templates = {}, {}, {}

    def _eager(self, reason: str, args: Any, kwargs: Any, result: Any = NotImplemented) -> Any:
        """The result of an eager run, which may have been made, as all further ones will be; warns of the reason."""
        self._ends(reason)
        if self.strict:
            raise RuntimeError(f"compile(fullgraph=True): {self._name()} cannot be compiled: {reason}")
        warn(f"compile: {self._name()} runs eagerly from now on: {reason}", CompileWarning)
        return self.function(*args, **kwargs) if result is NotImplemented else result

    def _traced(self, entries: list[Entry], failed: list[Entry], leaves: Sequence[Any], spec: Any, args: Any,
                kwargs: Any) -> Any:  # fmt: skip
        """The result of a call that is traced, after guards of programs failed since a number was another one."""
        found, outcome = None, _Outcome()
        try:
            trace = Trace(Before(), self.hosted, self.shares, self.written)
        except Untraceable as e:
            return self._eager(str(e), args, kwargs)
        numbers = trace.notes.numbers = Numbers(self.read, stand_in=bool(failed))
        try:
            with outcome, trace:
                for x in leaves:
                    if isinstance(x, TensorBase):
                        trace.adopt(x)
                records = list[Record]()
                seen = observed(self.function, args, kwargs, trace.adopt,
                                lambda result: records.append(record(trace, result, leaves)), numbers)  # fmt: skip
                found = records[0]
        finally:
            trace.restore(failed=found is None)
        self.shares = trace.shares
        in_vain = bool(numbers.given) and (found is None or numbers.caught or (bool(seen.refusals) and numbers.stand))
        if in_vain:  # one of the numbers may be why: the next run is traced otherwise
            numbers.give_up()
            self.traced.pop()
        if found is None:
            if outcome.refusal and not in_vain:
                return self._eager(outcome.refusal, args, kwargs)
            result = self.function(*args, **kwargs)
            return self._eager(outcome.raised, args, kwargs, result) if outcome.raised and not in_vain else result
        entry = self._entry(found, leaves, spec, unguarded(seen.guards, trace.settings.values()))
        arrays = entry.gather(leaves)
        if arrays is None:
            trace.rewind()
            return self._eager(f"it is not as it was before the traced run: {entry.moved(leaves)}", args, kwargs)
        kept = not in_vain and not seen.refusals
        if kept:
            entries.insert(0, entry)
        if kept and numbers.stand:  # it serves for whatever the numbers are
            entries[:] = [other for other in entries if other not in failed]
            self.traced.pop()
        if found.is_touched(leaves):
            trace.rewind()
            trace.part()
            found.release()
            return self.function(*args, **kwargs)
        values: list[Any] = [taken(node.value) for node in found.program.outputs]
        result = entry.commit(values, leaves, arrays)
        entry.last[:] = [None] * len(entry.last)  # of those values nobody knows who holds them
        for value, at in zip(values, found.program.writes, strict=True):
            if at is not None and isinstance(arrays[at], np.ndarray):
                arrays[at][...] = value
        if kept:
            found.release()
        else:
            trace.part()
        if not in_vain:
            if seen.refusals and self.excused:
                return self._eager(_first(seen.refusals), args, kwargs, result)
            self.excused = bool(seen.refusals)
        return result

    def _entry(self, found: Record, leaves: Sequence[Any], spec: Any, guards: Sequence[Guard]) -> Entry:
        def again(leaves: Sequence[Any]) -> Any:
            args, kwargs = (leaves, {}) if isinstance(spec, int) else tree_unflatten(leaves, spec)
            return self.function(*args, **kwargs)

        for history in found.histories:
            history.runner, history.function = self.make(history.program), again
        calls = [node.args[0] for node in found.program.nodes if node.op == HOST]
        once = self.check == "first" and any(
            isinstance(call, Forward) and call.cls not in self.harmless for call in calls)  # which may keep a count
        entry = Entry(found, self.make(found.program), leaves, guards, checked=once or self.check == "never")
        entry.place = len(self.traced)
        if not (self.strict or once or self.check == "always" or found.shared) and found.program.library is NUMPY:
            entry.race = Race()
        return entry

    def _compared(self, entry: Entry, arrays: Sequence[Any], leaves: Sequence[Any], args: Any, kwargs: Any) -> Any:
        """The result of an eager run, before which the program was run on copies; it is believed if they agree."""
        program, start = entry.record.program, comparison.clock()
        again = partial(rewind, _states(entry.record.draws))
        before = [_copy(a) for a in arrays]
        copies = [_copy(a) for a in arrays]
        versions = entry.record.versions_now(leaves)
        try:
            outputs = entry.run(copies)
        finally:
            entry.runner.done.clear()  # of copies: nothing is to take over
        found = [copies[at] if out is None and at is not None else out
                 for out, at in zip(outputs, program.writes, strict=True)]  # fmt: skip
        holders = [s.holder(leaves) if s.look is not None else None for s in entry.record.sources]
        again()
        borrowed = entry.borrows
        if borrowed:
            result = self._observed(entry, leaves, args, kwargs)
        else:
            run = partial(self.function, *args, **kwargs)
            result = run() if entry.race is None else entry.race.timed(run, entry.race.eager)
        if not entry.unchanged():  # it has made something anew, as optimisers do after loading
            for entries in self.entries.values():
                entries[:] = [other for other in entries if other is not entry]
            return result
        after = _states(entry.record.draws)
        written = [a if isinstance(a, np.ndarray) or t is None else whole(t) if s.whole else t.array
                   for a, t, s in zip(arrays, holders, entry.record.sources, strict=True)]  # fmt: skip
        with program.library.together():
            gap = comparison.of_run(entry, found, result, written, leaves, self.exact,
                                    lambda: comparison.spreads(program, before, again))  # fmt: skip
            for history in entry.record.histories:
                gap = gap or comparison.of_backward(history, found, result, arrays, leaves, self.exact)
            first = gap and comparison.first_difference(self.make, program, before, self.exact, again)
        rewind(after)
        if gap is not None and active_count() > 1 and entry.touched < _TOUCHED and (
                entry.record.is_read_otherwise(arrays, before, versions, leaves)):  # fmt: skip
            entry.touched += 1
            return result
        if gap is not None and borrowed:
            self._parts(str(gap))
            return result
        if gap is not None:
            self.disbelieve(gap, str(first or ""), "" if first else self._changed(program, args, kwargs))
        entry.checked = True
        entry.looks.took(start)
        return result

    def _observed(self, entry: Entry, leaves: Sequence[Any], args: Any, kwargs: Any) -> Any:
        """The result of an eager run, in which it is noted what Python reads where the arguments have this size."""
        entry.borrows = False
        seen = observed(self.function, args, kwargs)
        settings = [source.setting for source in entry.record.sources if source.setting is not None]
        if seen.refusals:
            self._parts(_first(seen.refusals))
        else:
            entry.guard(unguarded(seen.guards, settings), leaves)
        return seen.result

    def _parts(self, why: str) -> None:
        """Sizes have programs of their own from now on."""
        self.dynamic, self.apart = False, f" (there is no one program for all sizes: {why})"
        self.templates.clear()
        self.sized.clear()

    def _changed(self, program: Program, args: Any, kwargs: Any) -> str:
        """Which node of a program is another one in a run now, that is traced and leaves nothing."""
        if not _tracing.acquire(False):
            return ""
        try:
            trace = Trace(Before(), self.hosted, self.shares, self.written)
            try:
                with _Outcome(), trace:
                    self.function(*args, **kwargs)
            finally:
                trace.restore()
            return comparison.changed(program, trace.notes.nodes)
        finally:
            _tracing.release()

    def disbelieve(self, gap: Any, first: str, changed: str = "") -> None:
        """Say how a compiled run differs from the eager one: an error where every run is checked."""
        what = f"the compiled run differs from the eager one: {gap}. "
        if first or changed:
            what += f"The first node that differs: {first or changed}"
        if not first:
            what += ". " * bool(changed) + (
                "Every node computes what it did in the traced run, so the function reads something else that changes")
        if self.check == "always":
            raise AssertionError(f"compile(check='always'): {what}")
        self._ends(what)
        warn(f"compile: {what}. It runs eagerly from now on.", CompileWarning)
