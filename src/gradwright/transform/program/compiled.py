"""`compile`: functions of tensors that are traced once and then run as programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from threading import Lock
from typing import Any

import numpy as np

from gradwright import dtypes
from gradwright.engine.base import TensorBase
from gradwright.engine.mode import PLAIN, UNRECORDED, now
from gradwright.engine.source_line import warn
from gradwright.transform.arguments import flatten
from gradwright.transform.program.entry import Entry
from gradwright.transform.program.interpreted import Interpreted
from gradwright.transform.program.node import Departed
from gradwright.transform.program.record import record
from gradwright.transform.program.trace import Before, Trace, Untraceable


class Programs:
    """The programs of a function.

    Attributes:
        function: the function.
        make: what makes a program ready.
        check: when runs are compared with eager ones: "first" or "always".
        entries: for each grad mode, default dtype and tree of arguments, the programs that there are.
        reason: why it runs eagerly from now on; None while it does not.
        traced: how often it was traced.
    """

    limit = 8

    def __init__(self, function: Callable[..., Any], make: Callable[..., Any], check: str) -> None:
        self.function, self.make, self.check = function, make, check
        self.entries: dict[Any, list[Entry]] = {}
        self.reason: str | None = None
        self.calls = self.traced = 0
        self.last: tuple[Any, Any, Any, Any] = (None, None, None, None)
        self.lock = Lock()

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a call returns; one thread at a time."""
        mode = now()
        if self.reason is not None or not (mode is PLAIN or mode is UNRECORDED) or not self.lock.acquire(False):
            return self.function(*args, **kwargs)
        try:
            return self._called(mode, args, kwargs)
        finally:
            self.lock.release()

    def _called(self, mode: Any, args: Any, kwargs: Any) -> Any:
        leaves, spec = flatten((args, kwargs))
        key = mode is PLAIN, dtypes.default(), repr(spec)
        entries = self.entries.setdefault(key, [])
        why = ""
        for entry in entries:
            arrays = entry.gather(leaves)
            if arrays is None:
                why = entry.moved(leaves)
                continue
            try:
                if self.check == "always" or not entry.checked:
                    return self._compared(entry, arrays, leaves, args, kwargs)
                return entry.commit(entry.runner(arrays), leaves)
            except Departed as e:
                why = str(e)
        self.calls += 1
        if self.calls == 1:
            return self.function(*args, **kwargs)
        if self.traced >= self.limit:
            why = f"it was traced {self.traced} times, the last time since this varies: {why}"
            return self._given_up(why, args, kwargs)
        return self._traced(entries, leaves, args, kwargs)

    def _given_up(self, reason: str, args: Any, kwargs: Any) -> Any:
        self.reason = reason
        warn(f"compile: {self.function.__name__} runs eagerly from now on: {reason}")
        return self.function(*args, **kwargs)

    def _traced(self, entries: list[Entry], leaves: Sequence[Any], args: Any, kwargs: Any) -> Any:
        self.traced += 1
        trace, found = Trace(Before()), None
        try:
            with trace:
                for x in leaves:
                    if isinstance(x, TensorBase):
                        trace.adopt(x)
                result = self.function(*args, **kwargs)
            found = record(trace, result, leaves)
        except Untraceable as e:
            reason = str(e)
        finally:
            trace.restore(counters=found is None)
        if found is None:
            return self._given_up(reason, args, kwargs)
        for node, at in zip(found.program.outputs, found.program.writes, strict=True):
            if at is not None:
                found.sources[at].array[...] = node.value
        for t, k in zip(found.made, found.outputs, strict=True):
            t.array = np.array(found.program.outputs[k].value)
        entries.insert(0, Entry(found, self.make(found.program), leaves, True))
        return result

    def _compared(self, entry: Entry, arrays: Sequence[Any], leaves: Sequence[Any], args: Any, kwargs: Any) -> Any:
        made = entry.record
        states = {source: source.get_state() for source in made.draws}
        copies = [a.copy(order="K") for a in arrays]
        outputs = entry.runner(copies)
        found = [copies[at] if at is not None else out for out, at in zip(outputs, made.program.writes, strict=True)]
        for source, state in states.items():
            source.set_state(state)
        result = self.function(*args, **kwargs)
        values = flatten(result)[0]
        expected: list[Any] = [arrays[at] if at is not None else None for at in made.program.writes]
        for (kind, k), x in zip(made.result, values, strict=True):
            if kind == "made":
                expected[made.outputs[k]] = x.array
        for t, leaf in made.grads:
            if leaf is not None and leaf[0] == "made":
                expected[made.outputs[leaf[1]]] = t._grad.array
        for k, (a, b) in enumerate(zip(found, expected, strict=True)):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5, err_msg=f"output {k}")
        entry.checked = True
        return result


def compile(function: Any = None, *, backend: str = "auto", exact: bool = False, check: str = "first") -> Any:
    """Compile."""
    programs = Programs(function, Interpreted, check)

    @wraps(function)
    def compiled(*args: Any, **kwargs: Any) -> Any:
        return programs.call(args, kwargs)

    compiled.programs = programs  # type: ignore[attr-defined]
    return compiled
