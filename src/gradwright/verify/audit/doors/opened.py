"""Doors that are open: libraries' functions go through here, and tell what the program hands to them."""

from __future__ import annotations

import importlib.metadata
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import partial, wraps
from types import FunctionType
from typing import Any

from gradwright.base.cpython.redirected import hidden, redirect, unseen
from gradwright.verify.audit.doors.door import HANDED, STRANGERS, Call, Door, caller
from gradwright.verify.audit.doors.heard import here, identity, inner, named, place
from gradwright.verify.audit.doors.snapshot import Snapshots
from gradwright.verify.audit.doors.told import Told, judged
from gradwright.verify.audit.meeting import Meeting
from gradwright.verify.check.attempt import Attempt
from gradwright.verify.numeric.streams import State

GROUP = "gradwright.doors"
"""The group of entry points that lead to doors that libraries declare."""
DERIVATIVES = "__derivatives__"
"""The method by which an object yields its pairs."""
MANY, MANY_EACH = 4000, 16
"""After so many calls of a door only each of so many is looked into."""
FIRST, EACH, ALL = 4, 12, 96
"""How many of the first runs with the same functions are kept; how many of each function, and of all."""


class Doors:
    """A context manager: while it is on, what the program hands to libraries is recorded.

    Attributes:
        problems: doors that could not be opened, and why. left: how many runs were not kept, by name.
    """

    def __init__(self, doors: Iterable[Door], only: Sequence[str] = (), skip: Sequence[str] = ()) -> None:
        self.doors = [*doors, *declared()]
        self.only, self.skip = frozenset(only), frozenset(skip)
        self.libraries = {d.library for d in self.doors} | sys.stdlib_module_names | {"numpy", "joblib"}
        self.undo: list[Callable[[], None]] = []
        self.problems: dict[str, None] = {}
        self.left: dict[str, int] = {}
        self.calls: dict[str, int] = {}
        self.runs: dict[Any, int] = {}
        self.kept: dict[Any, int] = {}
        self.lasting: list[tuple[Call, Any]] = []
        self.seen: dict[int, weakref.ref[Any]] = {}
        self.here: list[tuple[dict[str, Any], Callable[[float], Any]]] = []
        self.lock = threading.Lock()
        self.on = False
        self.opened = 0

    def __enter__(self) -> Doors:
        self.snapshots = Snapshots() if hasattr(os, "fork") else None
        modules: dict[str, list[Door]] = {}
        for d in self.doors:
            modules.setdefault(d.module, []).append(d)
        self.meeting = Meeting({name: partial(self._open, found) for name, found in modules.items()})
        self.meeting.__enter__()
        self.on = True
        return self

    def __exit__(self, *exc: object) -> None:
        for call, pairs in self.lasting:
            self._ended(call, pairs)
        self.on = False
        self.meeting.__exit__()
        for undo in reversed(self.undo):
            undo()

    def _open(self, doors: Sequence[Door], module: Any) -> None:
        for d in doors:
            *path, name = d.path.split(".")
            owner = module
            for part in path:
                owner = getattr(owner, part, None)
            function = getattr(owner, name, None)
            if function is None:
                self._moved(d, f"has no {d.name}")
            elif isinstance(function, FunctionType) and (function is vars(owner).get(name)):
                self.undo.append(redirect(function, partial(self._through, d)))
            else:
                self._method(owner, name, d)

    def _method(self, owner: Any, name: str, d: Door) -> None:
        """Have what a class inherits, or what is not written in Python, go through here."""
        own = name in vars(owner)
        plain = getattr(owner, name)

        @wraps(plain)
        @hidden
        def through(*args: Any, **kwargs: Any) -> Any:
            with unseen:
                return self._through(d, plain, *args, **kwargs)

        setattr(owner, name, through)
        self.undo.append(lambda: setattr(owner, name, plain) if own else delattr(owner, name))

    def _moved(self, d: Door, what: str) -> None:
        with Attempt():
            version = importlib.metadata.version(d.library.replace("_", "-"))
            self.problems.setdefault(f"{d.library} {version} {what}: what is handed over there is not looked at")
            return
        self.problems.setdefault(f"{d.library} {what}: what is handed over there is not looked at")

    # ---- while the program runs ---------------------------------------------------------------------------

    @hidden
    def _through(self, d: Door, plain: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Make the call of a door, heard if it is due."""
        with unseen:
            if not self.on or getattr(here, "inside", False):
                return plain(*args, **kwargs)
            if d.once and self._seen(args[0]):
                return plain(*args, **kwargs)
            calls = self.calls[d.name] = self.calls.get(d.name, 0) + 1
            if calls > MANY and calls % MANY_EACH:
                return plain(*args, **kwargs)
            found = self._entered(d, plain, args, kwargs)
            if found is None:
                return plain(*args, **kwargs)
            call, pairs, due = found
            if pairs is HANDED or (due and call.lasts):
                if call.lasts:
                    self.lasting.append((call, pairs))
                return plain(*call.bound.args, **call.bound.kwargs)
            here.inside = True
            try:
                if not due:
                    return plain(*args, **kwargs)
                with call.swapped():
                    call.result = plain(*call.bound.args, **call.bound.kwargs)
                return call.result
            finally:
                here.inside = False
                if due:
                    self._ended(call, pairs)

    def _seen(self, owner: Any) -> bool:
        """Whether an object has been here; from now on it has."""
        known = self.seen.get(id(owner))
        if known is not None and known() is owner:
            return True
        with Attempt():
            self.seen[id(owner)] = weakref.ref(owner)
        return False

    def _entered(self, d: Door, plain: Any, args: Any, kwargs: Any) -> Any:
        """The call, what yields its pairs, and whether it is to be heard; None if it hands no derivative over."""
        file, line, package = caller(d.library)
        self.opened += 1
        call = pairs = None
        with Attempt() as attempt:
            call = Call(d, plain, args, kwargs, (file, line))
            pairs = d.enter(call)
            pairs = _own(call, pairs)
        if attempt.error is not None:
            if call is not None:  # arguments that do not fit are the library's to refuse
                self._moved(d, f"takes at {d.name} what was not expected ({attempt.said()})")
            return None
        if call is None or pairs is None or pairs is HANDED:
            return (call, pairs, True) if pairs is HANDED else None
        functions = [*(h.function for h in call.heard), *call.about]
        if package in self.libraries and all(_package(f) in self.libraries for f in functions):
            return None  # a library's own affair
        return call, pairs, self._due(call, functions)

    def _due(self, call: Call, functions: Sequence[Any]) -> bool:
        names = {named(f) for f in functions}
        if (self.only and not names & self.only) or names & self.skip:
            return False
        row = (call.door.name, *(place(f) for f in functions))
        key = (row, *(identity(f) for f in functions))
        with self.lock:
            n = self.runs[key] = self.runs.get(key, 0) + 1
            due = n <= FIRST or n & (n - 1) == 0
            if due and (self.kept.get(row, 0) >= EACH or sum(self.kept.values()) >= ALL):
                name = f"{named(functions[0])} ({call.door.name})" if functions else call.door.name
                self.left[name] = self.left.get(name, 0) + 1
                due = False
            if due:
                self.kept[row] = self.kept.get(row, 0) + 1
            call.run = n  # type: ignore[attr-defined]
        return due

    def _ended(self, call: Call, pairs: Any) -> None:
        """Keep the process as it is now, or, where it cannot be copied, what has been heard."""
        about = {"at": time.monotonic(), "process": os.getpid(), "name": call.door.name}
        answer = partial(judged, call, pairs)
        if self.snapshots is not None and _can_be_copied():
            with Attempt() as attempt:
                self.snapshots.take(about, answer)
            if attempt.error is None:
                return
        with Attempt():
            answer = partial(_as_it_was, _State(call), answer)
        self.here.append((about, answer))

    # ---- when it has ended --------------------------------------------------------------------------------

    def told(self, budget: float) -> Told:
        """What is said of all that was recorded, within about so many seconds."""
        told = Told()
        copies = [*self.snapshots.waiting()] if self.snapshots is not None else []
        until = time.monotonic() + budget
        left = len(copies) + len(self.here)
        for copy in copies:
            share = max(until - time.monotonic(), 0.0) / left
            told.add(copy.ask(share, 2 * share + 10.0), copy.about)
            copy.close()
            left -= 1
        for about, answer in self.here:
            share = max(until - time.monotonic(), 0.0) / left
            with Attempt() as attempt:
                told.add({"found": answer(share)}, about)
            if attempt.error is not None:
                told.add({"error": attempt.said()}, about)
            left -= 1
        if self.snapshots is not None:
            self.snapshots.close()
        return told

    def notes(self) -> list[str]:
        """What else there is to say."""
        found = [f"{name}: {n} more run{'s' if n > 1 else ''} not looked at, as others like it were"
                 for name, n in self.left.items()]  # fmt: skip
        found += [f"derivatives handed to {what} ({name}) are not looked at: it has no door here"
                  for name, what in STRANGERS.items() if name in sys.modules]  # fmt: skip
        return [*self.problems, *found]


def declared() -> list[Door]:
    """The doors that installed libraries declare."""
    found: list[Door] = []
    for entry in importlib.metadata.entry_points(group=GROUP):
        with Attempt():
            found += entry.load()()
    return found


def _own(call: Call, pairs: Any) -> Any:
    """Beside the pairs of a door, those that objects yield of themselves that are handed over there."""
    given = [*call.given.values()]
    given += [getattr(v, "__self__", None) for v in (h.function for h in call.heard)]
    owners = [v for v in given if not isinstance(v, type) and hasattr(type(v), DERIVATIVES)]
    if not owners:
        return pairs

    def all_pairs() -> Iterable[Any]:
        yield from pairs() if pairs is not None else ()
        for owner in owners:
            yield from owner.__derivatives__()

    return all_pairs


def _package(function: Any) -> str:
    while isinstance(function, partial):
        function = function.func
    module = getattr(function, "__module__", None) or type(function).__module__ or ""
    return module.partition(".")[0]


def _can_be_copied() -> bool:
    """Whether a copy of the process could run what the program runs: not with JAX's threads, nor on a GPU."""
    torch: Any = sys.modules.get("torch")
    jax: Any = sys.modules.get("jax._src.xla_bridge")
    return not getattr(jax, "_backends", None) and not (hasattr(torch, "_C") and torch.cuda.is_initialized())


class _State:
    """What the functions of a call name, and the attributes of the objects whose methods they are."""

    def __init__(self, call: Call) -> None:
        self.call = call
        functions = [*(h.function for h in call.heard), *call.about]
        self.state = State([f for f in map(inner, functions) if hasattr(f, "__code__")])
        owners = [getattr(f, "__self__", f) for f in functions]
        self.attributes = [(vars(o), {**vars(o)}) for o in owners if hasattr(o, "__dict__") and not isinstance(o, type)]

    def put_back(self) -> None:
        """Make it as it was."""
        self.state.put_back()
        for held, before in self.attributes:
            held.clear()
            held.update(before)


def _as_it_was(state: _State, answer: Callable[[float], Any], seconds: float) -> Any:
    """What is answered in this process, with globals, closures and attributes as they were, put back after that."""
    now = _State(state.call)
    state.put_back()
    try:
        return answer(seconds)
    finally:
        now.put_back()
