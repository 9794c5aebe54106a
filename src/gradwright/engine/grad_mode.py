"""Whether operations are recorded, as context managers and decorators."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator
from typing import Any

from gradwright.engine.mode import Mode, now, recording, recording_as, stop_recording, switch
from gradwright.engine.suspended import Suspended, leave
from gradwright.interpreter.frames import frame, waits


class _Switch:
    """A context manager that may be entered again and again, and that decorates functions and generator functions."""

    __slots__ = ("_before",)
    _before: list[Mode]

    def _switch(self) -> Mode:
        """Change the mode and return the one before."""
        raise NotImplementedError

    def _restore(self, before: Mode) -> None:
        recording_as(before)

    def __enter__(self) -> None:
        before = self._switch()
        self._before.append(before)
        place = frame(1)
        if waits(place) and now() is not before:
            Suspended(self, place).__enter__()

    def __exit__(self, *exc: object) -> None:
        if now().watches:
            leave(self)
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

    def __init__(self, mode: _Switch, steps: Generator[Any, Any, Any]) -> None:
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


class _Bare(_Switch):
    """One without arguments, which also decorates without parentheses."""

    __slots__ = ()

    def __new__(cls, fn: Callable[..., Any] | None = None) -> Any:
        self = object.__new__(cls)
        self._before = []
        return self if fn is None else self(fn)


class no_grad(_Bare):
    """Record nothing inside: ``with no_grad():``, ``@no_grad()`` or ``@no_grad``."""

    __slots__ = ()

    def _switch(self) -> Mode:
        return stop_recording()


class enable_grad(_Bare):
    """Record again inside a `no_grad` block (but not inside `inference_mode`)."""

    __slots__ = ()

    def _switch(self) -> Mode:
        return now() if now().inference else recording(True)


class set_grad_enabled(_Switch):
    """Switch recording on or off: from the call on, or for a ``with`` block, or as a decorator."""

    __slots__ = ("_at_call", "mode")

    def __init__(self, mode: bool) -> None:
        self._before = []
        self.mode = bool(mode)
        self._at_call: Mode | None = None
        self._at_call = self._switch()

    def _switch(self) -> Mode:
        before = recording(True) if self.mode and not now().inference else stop_recording()
        if self._at_call is not None:
            before, self._at_call = self._at_call, None
        return before

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        if self._at_call is not None:
            recording_as(self._at_call)
            self._at_call = None
        return super().__call__(fn)


class inference_mode(_Switch):
    """Record nothing inside, and let no `enable_grad` switch it back on; ``inference_mode(False)`` leaves it again."""

    __slots__ = ("mode",)
    mode: bool

    def __new__(cls, mode: Any = True) -> Any:
        self = object.__new__(cls)
        self._before = []
        self.mode = True if callable(mode) else bool(mode)
        return self(mode) if callable(mode) else self

    def _switch(self) -> Mode:
        before = recording(not self.mode)
        switch(now().but(inference=self.mode))
        return before

    def _restore(self, before: Mode) -> None:
        switch(now().but(inference=before.inference))
        super()._restore(before)
