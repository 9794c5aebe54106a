"""Whether operations are recorded: per thread (and per asyncio task), as context managers and decorators."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

recording: ContextVar[bool] = ContextVar("recording", default=True)
_inference: ContextVar[bool] = ContextVar("inference", default=False)


def is_grad_enabled() -> bool:
    """Whether operations on tensors that require grad are being recorded."""
    return recording.get()


def is_inference_mode_enabled() -> bool:
    """Whether `inference_mode` is on."""
    return _inference.get()


class _Mode:
    """Sets recording on entry and restores it on exit; also decorates functions and generator functions."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode
        self._before: list[tuple[bool, bool]] = []

    def __enter__(self) -> None:
        self._before.append((recording.get(), _inference.get()))
        recording.set(self.mode and not _inference.get())

    def __exit__(self, *exc: object) -> None:
        was_recording, was_inference = self._before.pop()
        recording.set(was_recording)
        _inference.set(was_inference)

    def again(self) -> _Mode:
        """A fresh context manager like this one, so that decorated functions may recurse."""
        return type(self)(self.mode)

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isgeneratorfunction(fn):

            @functools.wraps(fn)
            def generate(*args: Any, **kwargs: Any) -> Any:
                steps, send = fn(*args, **kwargs), None
                while True:
                    try:
                        with self.again():
                            value = steps.send(send)
                    except StopIteration as stop:
                        return stop.value
                    send = yield value

            return generate

        @functools.wraps(fn)
        def call(*args: Any, **kwargs: Any) -> Any:
            with self.again():
                return fn(*args, **kwargs)

        return call


def _bare(cls: type, args: tuple[Any, ...]) -> Any:
    """Serve ``@no_grad`` written without parentheses."""
    made = object.__new__(cls)
    if args and callable(args[0]):
        made.__init__()  # type: ignore[misc]
        return made(args[0])
    return made


class no_grad(_Mode):
    """Record nothing inside: ``with no_grad():`` or ``@no_grad()``."""

    def __new__(cls, *args: Any) -> Any:
        return _bare(cls, args)

    def __init__(self, mode: bool = False) -> None:
        super().__init__(False)


class enable_grad(_Mode):
    """Record again inside a `no_grad` block (but not inside `inference_mode`)."""

    def __new__(cls, *args: Any) -> Any:
        return _bare(cls, args)

    def __init__(self, mode: bool = True) -> None:
        super().__init__(True)


class set_grad_enabled(_Mode):
    """Switch recording on or off: from the call on, or for a ``with`` block, or as a decorator."""

    def __init__(self, mode: bool) -> None:
        super().__init__(bool(mode))
        self._at_call = (recording.get(), _inference.get())
        recording.set(self.mode and not _inference.get())

    def __enter__(self) -> None:
        self._before.append(self._at_call)
        recording.set(self.mode and not _inference.get())

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        recording.set(self._at_call[0])
        return super().__call__(fn)


class inference_mode(_Mode):
    """Record nothing inside, and let no `enable_grad` switch it back on; ``inference_mode(False)`` leaves it again."""

    def __init__(self, mode: bool = True) -> None:
        super().__init__(bool(mode))

    def __new__(cls, *args: Any) -> Any:
        return _bare(cls, args)

    def __enter__(self) -> None:
        self._before.append((recording.get(), _inference.get()))
        _inference.set(self.mode)
        recording.set(not self.mode)
