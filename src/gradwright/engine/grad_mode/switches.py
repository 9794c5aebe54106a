"""Whether operations are recorded, as context managers and decorators."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator, Sequence
from typing import Any, Self, TypeVar, overload

from gradwright.base.cpython.frames import frame, is_suspended, waits
from gradwright.base.source_line import Place
from gradwright.engine.mode import Mode, inside, now, recording, resumed, start_recording, stop_recording, switch
from gradwright.engine.numbers import flag
from gradwright.engine.strict import warn
from gradwright.engine.watch import Watch


def set_recording(on: bool) -> None:
    """Record from now on, unless in `inference_mode`; or stop."""
    if on and not now().inference:
        start_recording()
    else:
        stop_recording()


F = TypeVar("F", bound=Callable[..., Any])

class _Suspended(Watch):
    """On while a generator is in a mode; warns, once, of an operation that is in it only because it waits there.

    Attributes:
        mode: the context manager, such as `no_grad`.
        frame: that of the generator.
    """

    def __init__(self, mode: Any, frame: Any) -> None:
        self.mode, self.frame, self.place = mode, frame, Place(frame.f_code, frame.f_lasti)
        self.told = False

    def used(self, tensors: Sequence[Any]) -> None:
        if self.told or not is_suspended(self.frame) or all(t._node is None for t in tensors):
            return
        self.told = True
        name = type(self.mode).__name__
        warn(
            f"an operation outside of the generator {self.frame.f_code.co_name!r} is subject to its {name}: that is "
            f"suspended inside of `with {name}`, which holds until it goes on.\n  entered at {self.place}\n"
            f"Decorate it with @{name}() instead, which holds only while it runs, or leave the block before each yield."
        )

    def compute(self, name: str, inputs: Sequence[Any], call: Callable[[], Any]) -> Any:
        self.used([t for t in inputs if hasattr(t, "_node")])  # a Function's
        return call()


class _Switch:
    """A context manager that may be entered again and again, and that decorates functions and generator functions."""

    __slots__ = ("_before",)
    _before: list[Mode]
    _at_call: Mode | None = None
    """The mode before it was made, if making it has changed that already."""

    def _switch(self) -> None:
        """Change the mode."""
        raise NotImplementedError

    _left: Callable[[Mode], Mode] = staticmethod(resumed)
    """The mode after it, from the one before."""

    def __enter__(self) -> None:
        before = now() if self._at_call is None else self._at_call
        self._before.append(before)
        entered = False
        try:
            self._switch()
            place = frame(1)
            if waits(place) and now() is not before:
                _Suspended(self, place).__enter__()
            entered = True
        finally:
            if not entered:  # for an interrupt: there will be no __exit__
                switch(before)

    def __exit__(self, *exc: object) -> None:
        after = before = self._before[-1]
        try:
            watches = now().watches
            if watches:
                others = tuple([w for w in watches if type(w) is not _Suspended or w.mode is not self])
                if len(others) < len(watches):
                    switch(now().but(watches=others))
            after = self._left(before)
        finally:
            del self._before[-1]
            switch(after)

    def __call__(self, fn: F) -> F:
        if not inspect.isgeneratorfunction(fn):

            @functools.wraps(fn)
            def call(*args: Any, **kwargs: Any) -> Any:
                return inside(self._switch, self._left, fn, *args, **kwargs)

            return call  # type: ignore[return-value]

        @functools.wraps(fn)
        def generate(*args: Any, **kwargs: Any) -> _Steps:
            return _Steps(self, fn(*args, **kwargs))

        return generate  # type: ignore[return-value]


class _Steps(Generator[Any, Any, Any]):
    """A generator that is in a mode while it runs, and out of it while it is suspended."""

    def __init__(self, mode: _Switch, steps: Generator[Any, Any, Any]) -> None:
        self._mode, self._steps = mode, steps

    def send(self, value: Any) -> Any:
        return self._step(self._steps.send, value)

    def throw(self, *error: Any) -> Any:
        return self._step(self._steps.throw, *error)

    def _step(self, resume: Callable[..., Any], *args: Any) -> Any:
        return inside(self._mode._switch, self._mode._left, resume, *args)


class _Bare(_Switch):
    """One without arguments, which also decorates without parentheses."""

    __slots__ = ()

    @overload
    def __new__(cls) -> Self: ...
    @overload
    def __new__(cls, fn: F) -> F: ...  # type: ignore[misc]
    def __new__(cls, fn: Any = None) -> Any:
        self = object.__new__(cls)
        self._before = []
        return self if fn is None else self(fn)


class no_grad(_Bare):
    """Record nothing inside: ``with no_grad():``, ``@no_grad()`` or ``@no_grad``.

    Results do not require grad, and leaves may be written in place. It holds for this thread and task, may be entered
    again, and is left as it was found; a generator function is in it while it runs.

    >>> x = gw.ones(2, requires_grad=True)
    >>> with gw.no_grad():
    ...     print((x * 2).requires_grad)
    False
    """

    __slots__ = ()

    def _switch(self) -> None:
        stop_recording()


class enable_grad(_Bare):
    """Record again inside a `no_grad` block (but not inside `inference_mode`); a context manager or decorator as that.

    >>> x = gw.ones(2, requires_grad=True)
    >>> with gw.no_grad(), gw.enable_grad():
    ...     print((x * 2).requires_grad)
    True
    """

    __slots__ = ()

    def _switch(self) -> None:
        if not now().inference:
            start_recording()


class set_grad_enabled(_Switch):
    """Switch recording on or off: from the call on, or for a ``with`` block, or as a decorator.

    >>> x = gw.ones(2, requires_grad=True)
    >>> with gw.set_grad_enabled(False):
    ...     print((x * 2).requires_grad)
    False
    """

    __slots__ = ("_at_call", "mode", "prev")

    def __init__(self, mode: bool) -> None:
        self._before = []
        self.mode = flag("set_grad_enabled", "mode", mode)
        before = now()
        self.prev = before.records
        self._switch()
        self._at_call = before

    def _switch(self) -> None:
        set_recording(self.mode)
        self._at_call = None

    def __call__(self, fn: F) -> F:
        if self._at_call is not None:
            switch(resumed(self._at_call))
            self._at_call = None
        return super().__call__(fn)


class inference_mode(_Switch):
    """Record nothing inside, and let no `enable_grad` switch it back on; ``inference_mode(False)`` leaves it again.

    Tensors that are made inside (`Tensor.is_inference`) count no writes, and are never saved for a backward pass:
    RuntimeError where an operation that is recorded would save one.

    >>> x = gw.ones(2, requires_grad=True)
    >>> with gw.inference_mode():
    ...     y = x * 2
    >>> y.requires_grad, y.is_inference()
    (False, True)
    """

    __slots__ = ("mode",)
    mode: bool

    @overload
    def __new__(cls, mode: bool = True) -> Self: ...
    @overload
    def __new__(cls, mode: F) -> F: ...  # type: ignore[misc]
    def __new__(cls, mode: Any = True) -> Any:
        self = object.__new__(cls)
        self._before = []
        self.mode = True if callable(mode) else bool(mode)
        return self(mode) if callable(mode) else self

    def _switch(self) -> None:
        recording(not self.mode)
        switch(_inferring(self.mode))

    @staticmethod
    def _left(before: Mode) -> Mode:
        return resumed(before, _inferring(before.inference))


def _inferring(on: bool) -> Mode:
    """The mode that is on, but with inference mode on or off."""
    mode = now()
    return mode if mode.inference == on else mode.but(inference=on)
