"""`strict`: whether what may not be what its author meant is a warning, as it is by default, or an error."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from gradwright.base import source_line
from gradwright.base.changes import switch
from gradwright.base.errors import GradientWarning, StrictError
from gradwright.base.upward import slots

_strict = switch("strict", False)


class strict:
    """Turn every `GradientWarning` of the engine into a RuntimeError, with the same words.

    ``strict(True)`` holds from the call on, as `set_grad_enabled` does; used as a context manager or a decorator it
    holds inside. Per thread, and per asyncio task.

        >>> import gradwright
        >>> x = gradwright.tensor(2.0, requires_grad=True)
        >>> with gradwright.autograd.strict(True):
        ...     float(x)
        Traceback (most recent call last):
        ...
        gradwright.errors.StrictError: Converting a tensor with requires_grad=True to a scalar may lead ...
    """

    def __init__(self, mode: bool = True) -> None:
        self.mode = bool(mode)
        self._before = [_strict.get()]
        _strict.set(self.mode)
        self._called = True

    def __enter__(self) -> None:
        if not self._called:
            self._before.append(_strict.get())
        self._called = False
        _strict.set(self.mode)

    def __exit__(self, *exc: object) -> None:
        _strict.set(self._before.pop())

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        if self._called:
            _strict.set(self._before.pop())
            self._called = False

        @functools.wraps(fn)
        def call(*args: Any, **kwargs: Any) -> Any:
            token = _strict.set(self.mode)
            try:
                return fn(*args, **kwargs)
            finally:
                _strict.reset(token)

        return call


def is_strict() -> bool:
    """Whether `strict` is on."""
    return _strict.get()


def warn(message: str | GradientWarning, category: type[GradientWarning] = GradientWarning) -> None:
    """Warn at the user's line that runs now; under `strict`, raise StrictError instead, a RuntimeError."""
    if _strict.get():
        raise StrictError(str(message))
    source_line.warn(message, category)


slots.warn = warn
