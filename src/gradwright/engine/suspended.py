"""Generators that are suspended inside ``with no_grad():``, so that the mode holds for whoever iterates over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradwright.base.cpython.frames import is_suspended
from gradwright.engine.mode import now, switch
from gradwright.engine.source_line import Place
from gradwright.engine.strict import warn
from gradwright.engine.watch import Watch


class Suspended(Watch):
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


def leave(mode: Any) -> None:
    """Take off what `Suspended` was put on for this context manager."""
    present = now()
    others = tuple([w for w in present.watches if type(w) is not Suspended or w.mode is not mode])
    if len(others) < len(present.watches):
        switch(present.but(watches=others))
