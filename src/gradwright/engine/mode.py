"""Whether operations are recorded: per thread (and per asyncio task), as context managers and decorators."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Generator
from contextvars import ContextVar
from typing import Any

from gradwright.engine.base import made
from gradwright.engine.version import UNTRACKED

recording: ContextVar[Any] = ContextVar("recording", default=True)
"""What is false while nothing is recorded: False, or what is to hear of operations that are not (see
`gradwright.guards.in_forward` and `cut`); else True, or what `watching` holds if that is not empty."""
watching: ContextVar[tuple[Any, ...]] = ContextVar("watching", default=())
"""The watches that are on (see `gradwright.engine.watch`), newest last."""
guarding: ContextVar[Any] = ContextVar("guarding", default=None)
"""The guard of the user's backward that is being recorded (see `gradwright.guards.in_backward`)."""
_inference: ContextVar[bool] = ContextVar("inference", default=False)


def is_grad_enabled() -> bool:
    """Whether operations on tensors that require grad are being recorded."""
    return bool(recording.get())


def record(on: bool) -> Any:
    """Switch recording on or off; returns what `recording` held."""
    before = recording.get()
    recording.set(on and (watching.get() or True))
    return before


def _stop() -> Any:
    """Switch recording off for a block of the user's; returns what `recording` held."""
    before = recording.get()
    if before:
        guard = guarding.get()
        recording.set(False if guard is None else guard.replaying or guard)
    return before


def is_inference_mode_enabled() -> bool:
    """Whether `inference_mode` is on."""
    return _inference.get()


class _Mode:
    """A context manager that may be entered again and again, and that decorates functions and generator functions."""

    __slots__ = ("_before",)
    _before: list[Any]

    def _switch(self) -> Any:
        """Change the mode and return what `_restore` needs."""
        raise NotImplementedError

    def _restore(self, before: Any) -> None:
        record(before)  # a watch may have been turned on or off inside

    def __enter__(self) -> None:
        self._before.append(self._switch())

    def __exit__(self, *exc: object) -> None:
        self._restore(self._before.pop())

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        if not inspect.isgeneratorfunction(fn):

            @functools.wraps(fn)
            def call(*args: Any, **kwargs: Any) -> Any:
                before = self._switch()
                try:
                    return fn(*args, **kwargs)
                finally:
                    self._restore(before)

            return call

        @functools.wraps(fn)
        def generate(*args: Any, **kwargs: Any) -> _Steps:
            return _Steps(self, fn(*args, **kwargs))

        return generate


class _Steps(Generator[Any, Any, Any]):
    """A generator that is in a mode while it runs, and out of it while it is suspended."""

    def __init__(self, mode: _Mode, steps: Generator[Any, Any, Any]) -> None:
        self._mode, self._steps = mode, steps

    def send(self, value: Any) -> Any:
        return self._step(self._steps.send, value)

    def throw(self, *error: Any) -> Any:
        return self._step(self._steps.throw, *error)

    def _step(self, resume: Callable[..., Any], *args: Any) -> Any:
        before = self._mode._switch()
        try:
            return resume(*args)
        finally:
            self._mode._restore(before)


class _Bare(_Mode):
    """A mode without arguments, which also decorates without parentheses."""

    __slots__ = ()

    def __new__(cls, fn: Callable[..., Any] | None = None) -> Any:
        self = object.__new__(cls)
        self._before = []
        return self if fn is None else self(fn)


class no_grad(_Bare):
    """Record nothing inside: ``with no_grad():``, ``@no_grad()`` or ``@no_grad``."""

    __slots__ = ()

    def _switch(self) -> Any:
        return _stop()


class enable_grad(_Bare):
    """Record again inside a `no_grad` block (but not inside `inference_mode`)."""

    __slots__ = ()

    def _switch(self) -> Any:
        return record(not _inference.get())


class set_grad_enabled(_Mode):
    """Switch recording on or off: from the call on, or for a ``with`` block, or as a decorator."""

    __slots__ = ("_at_call", "mode")

    def __init__(self, mode: bool) -> None:
        self._before = []
        self.mode = bool(mode)
        self._at_call: Any = None
        self._at_call = self._switch()

    def _switch(self) -> Any:
        before = record(True) if self.mode and not _inference.get() else _stop()
        if self._at_call is not None:
            before, self._at_call = self._at_call, None
        return before

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        if self._at_call is not None:
            recording.set(self._at_call)
            self._at_call = None
        return super().__call__(fn)


class inference_mode(_Mode):
    """Record nothing inside, and let no `enable_grad` switch it back on; ``inference_mode(False)`` leaves it again."""

    __slots__ = ("mode",)
    mode: bool

    def __new__(cls, mode: Any = True) -> Any:
        self = object.__new__(cls)
        self._before = []
        self.mode = True if callable(mode) else bool(mode)
        return self(mode) if callable(mode) else self

    def _switch(self) -> tuple[Any, bool]:
        before = record(not self.mode), _inference.get()
        _infer(self.mode)
        return before

    def _restore(self, before: tuple[Any, bool]) -> None:
        super()._restore(before[0])
        _infer(before[1])


_lock = threading.Lock()


def _infer(on: bool) -> None:
    with _lock:
        made.inference += on - _inference.get()
    _inference.set(on)


def _counter() -> list[Any]:
    return [UNTRACKED if _inference.get() else 0]


made.counter = _counter
