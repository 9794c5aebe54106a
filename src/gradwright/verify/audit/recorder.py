"""Which calls of a program are kept: the first of each Function, those of another kind, and, if asked, every n-th."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from gradwright.engine.base import TensorBase
from gradwright.engine.mode import PLAIN, now, switch
from gradwright.verify.audit.recorded import Met, Recorded, copied, copies, dtype_of, is_moving, nbytes, printed
from gradwright.verify.audit.workers import FromWorkers
from gradwright.verify.check.calls import Arg, flat
from gradwright.verify.numeric.streams import Streams

FIRST = 3
"""The number of first calls of each that are kept."""
KINDS = 8
"""And, up to so many, the first with other shapes, dtypes or settings."""
_LOOKED = 10_000
"""Among how many calls those are looked for."""
_ATOMS = (bool, int, str, type(None))
_TRACED = "gradwright.compilation"


class Recorder:
    """Hears of calls from the hooks, keeps copies of some, and runs all as they are.

    Attributes:
        every: if not 0, each ``every``-th call is kept, too. room: how many bytes copies may take.
        met: what was called, by the identity of it. problems: what could not be heard, with how often.
    """

    def __init__(self, every: int = 0, room: int = 256 << 20, only: Any = (), skip: Any = (),
                 ) -> None:  # fmt: skip
        self.every, self.room, self.only, self.skip = every, room, frozenset(only), frozenset(skip)
        self.used = 0
        self.met: dict[int, Met] = {}
        self.process = os.getpid()
        self.workers = FromWorkers()
        self.lock = threading.Lock()
        self.here = threading.local()
        self.on = True

    def hears(self) -> bool:
        """Whether a call is one that the program makes: no audit looks on, and no other call is being made."""
        return self.on and not getattr(self.here, "inside", False)

    def call(self, kind: str, target: Any, T: Any, name: str, arguments: tuple[Any, ...], static: dict[str, Any],
             run: Callable[[], Any]) -> Any:  # fmt: skip
        """The result of ``run``, which makes the call; its arguments are kept, if they are to be."""
        self.here.inside = True
        try:
            recorded = self._taken(kind, target, T, name, arguments, static)
            if recorded is None:
                return run()
            start = time.perf_counter()
            result = run()
            recorded.seconds = time.perf_counter() - start
            with_prints = quietly(T, lambda: tuple(printed(t) for t in flat(result, T)))
            recorded.prints = with_prints
            self._keep(recorded)
            return result
        finally:
            self.here.inside = False

    def _taken(self, kind: str, target: Any, T: Any, name: str, arguments: Any, static: Any) -> Recorded | None:
        """A copy of a call, if it is to be kept."""
        if (self.only and name not in self.only) or name in self.skip:
            return None
        tensors = flat((arguments, static), T)
        needed = T.is_grad_enabled() and any(t.requires_grad for t in tensors)
        with self.lock:
            met = self.met.get(id(target))
            if met is None:
                met = self.met[id(target)] = Met(kind, target, T, name)
            if not needed:
                met.unrecorded += 1
                return None
            if (reason := _unfit(tensors, T)) is not None:
                met.leave(reason)
                return None
            met.calls += 1
            number = met.calls
            key = None
            due = number <= FIRST or (self.every and number % self.every == 0)
            if not due and number <= _LOOKED and len(met.keys) < KINDS:
                key = _kind(arguments, static, T)
                due = key not in met.keys
            if not due:
                return None
            met.keys.add(_kind(arguments, static, T) if key is None else key)
            room = sum(map(nbytes, tensors))
            if self.used + room > self.room:
                met.leave(f"copies of what calls were given already take {self.room >> 20} MB")
                return None
            self.used += room
        return quietly(T, lambda: _copy(met, number, arguments, static))

    def _keep(self, recorded: Recorded) -> None:
        if os.getpid() == self.process:
            with self.lock:
                recorded.met.recorded.append(recorded)
        else:
            self.workers.put(recorded)

    def gathered(self, known: Callable[[], Iterable[tuple[Any, Any, str]]]) -> list[Met]:
        """The Functions and operations called, by worker processes too, in the order in which they were met."""
        self.workers.take(self.met, known)
        return list(self.met.values())


def quietly(T: Any, f: Callable[[], Any]) -> Any:
    """The result of ``f``, run unheard by modes, watches and hooks of the program."""
    before = now()
    switch(PLAIN)
    try:
        if hasattr(T, "_C"):
            with T.no_grad(), T._C.DisableTorchFunction():
                return f()
        return f()
    finally:
        switch(before)


def _copy(met: Met, number: int, arguments: Any, static: Any) -> Recorded:
    T = met.T
    known: dict[int, Arg] = {}  # a tensor that is given twice is one

    def tensor(t: Any) -> Arg:
        if id(t) not in known:
            known[id(t)] = Arg(copied(t), bool(t.requires_grad) and is_moving(t))
        return known[id(t)]

    return Recorded(met, number, copies(tuple(arguments), tensor, T), copies(dict(static), tensor, T), Streams.now())


def _unfit(tensors: list[Any], T: Any) -> str | None:
    """Why a call with these tensors cannot be made again."""
    if hasattr(T, "_C"):
        if T._C._len_torch_dispatch_stack():
            return "it was called inside a TorchDispatchMode"
        for t in tensors:
            if type(t) not in (T.Tensor, T.nn.Parameter):
                return f"it was called with a {type(t).__name__}"
            if t.layout != T.strided or t.is_quantized:
                return f"it was called with a tensor of layout {t.layout}"
        return None
    for t in tensors:
        if not isinstance(t, TensorBase) or not isinstance(t.array, (np.ndarray, np.generic)):
            home = type(t.array).__module__
            if home.startswith(_TRACED):
                return "there it was traced for a compiled step: its eager runs before that are looked at"
            library = home.partition(".")[0]
            inside = "it was called inside a transform"
            return inside if library == "gradwright" else f"it was called with arrays of {library}"
    return None


def _kind(arguments: Any, static: Any, T: Any) -> Any:
    """The key by which two calls are alike: shapes, dtypes, what requires grad, and settings."""
    def of(value: Any) -> Any:
        if isinstance(value, T.Tensor):
            return tuple(value.shape), dtype_of(value), bool(value.requires_grad)
        if isinstance(value, (tuple, list)):
            return tuple(map(of, value))
        if isinstance(value, dict):
            return tuple((k, of(v)) for k, v in value.items())
        return value if isinstance(value, _ATOMS) else type(value)

    return of(tuple(arguments)), of(dict(static))
