"""What is on: one immutable `Mode` in one context variable, per thread and per asyncio task.

An operation asks `now` once. The usual answer is `PLAIN`, and then nothing else is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, NamedTuple


class Mode(NamedTuple):
    """What happens to operations besides being computed.

    Attributes:
        records: whether operations on tensors that require grad are recorded.
        watches: what looks on (`gradwright.engine.watch.Watch`), newest last.
        listener: what hears of operands with history that are not recorded, inside a user's forward or backward
            (`gradwright.function.watched`), or None.
        inference: whether new tensors go without a version.
        interpreter: what operations are handed to instead of being computed, or None.
        quick: whether operations may take the quick way: nobody looks on, and nothing is to be read in another way.
        level: the innermost transform that runs (`gradwright.engine.levels`), or None.
        stopped: the number of the transform that ran when the user last switched recording off; -1 if that is on.
        guarded: whether that was in a user's backward, in a transform inside of this one.
    """

    records: bool = True
    watches: tuple[Any, ...] = ()
    listener: Any = None
    inference: bool = False
    interpreter: Any = None
    quick: bool = True
    level: Any = None
    stopped: int = -1
    guarded: bool = False

    def but(self, **changes: Any) -> Mode:
        """The mode that differs from this one in these fields."""
        new = self._replace(**changes)
        quick = not new.watches and not new.inference and new.interpreter is None
        if quick is not new.quick:
            new = new._replace(quick=quick)
        return PLAIN if new == PLAIN else UNRECORDED if new == UNRECORDED else new


PLAIN = Mode()
UNRECORDED = Mode(records=False)

_mode: ContextVar[Mode] = ContextVar("mode", default=PLAIN)
now, switch = _mode.get, _mode.set
"""The mode that is on; another one, until the next switch."""


def recording(on: bool) -> Mode:
    """Switch recording on or off, with no listener if off; returns the mode before, for `resumed`."""
    before = _mode.get()
    if before is PLAIN or before is UNRECORDED:
        _mode.set(PLAIN if on else UNRECORDED)
    else:
        _mode.set(before.but(records=on, listener=_stays(before.listener) if on else None))
    return before


def stop_recording() -> Mode:
    """Switch recording off for a block of the user's, of which a guard of the user's backward goes on to hear."""
    before = _mode.get()
    if before is PLAIN:
        _mode.set(UNRECORDED)
    elif before.level is not None and before.stopped < before.level.number:
        if before.listener is not None and before.listener.follows and before.listener.replaying is None:
            before.listener.stops()
        _mode.set(before.but(records=False, stopped=before.level.number))
    elif before.records and (before.listener is None or before.listener.replaying is None):
        _mode.set(before.but(records=False))
    return before


_made = tuple.__new__


def start_recording() -> None:
    """Switch recording on for a block of the user's, in the transforms that run, too."""
    if recording(True).stopped >= 0:
        _mode.set(_mode.get().but(stopped=-1))


def listening(mode: Mode, listener: Any) -> Mode:
    """``mode``, which does not record then, with this listener; as each call of a Function needs one, it is quick."""
    if mode is PLAIN:
        return _made(Mode, (False, (), listener, False, None, True, None, -1, False))
    return mode._replace(records=False, listener=listener)


def resumed(before: Mode, mode: Mode | None = None) -> Mode:
    """``mode``, or the one that is on, but recording as ``before`` did; a watch turned on or off meanwhile stays so.

    Under inference mode nothing is recorded, in whatever order blocks are left.
    """
    mode = mode or _mode.get()
    if mode is UNRECORDED and before is PLAIN:
        return before
    others = mode.watches == before.watches and mode.inference == before.inference
    if others and mode.interpreter is before.interpreter and mode.level is before.level:
        return before
    return mode.but(records=before.records and not mode.inference, listener=before.listener, stopped=before.stopped)


def inside(
    enter: Callable[[], Any], leave: Callable[[Mode], Mode], f: Callable[..., Any], /, *args: Any, **kwargs: Any
) -> Any:
    """The result of ``f`` in the mode that ``enter`` switches to, which is left at its end, even by an interrupt.

    ``leave`` says which mode comes after, from the one before: usually `resumed`.
    """
    before = after = _mode.get()
    try:
        enter()
        try:
            return f(*args, **kwargs)
        finally:
            after = leave(before)
    finally:
        _mode.set(after)


def _stays(listener: Any) -> Any:
    """A guard hears of all of a user's backward; what listens inside forward, only of what is not recorded there."""
    return listener if listener is not None and listener.follows else None


def is_grad_enabled() -> bool:
    """Whether operations on tensors that require grad are being recorded."""
    return _mode.get().records


def is_inference_mode_enabled() -> bool:
    """Whether `inference_mode` is on."""
    return _mode.get().inference
