"""Changes that a traced run makes to tensors from before are seen by its thread alone.

While it lasts, the slots of tensors are properties: this thread finds in them what it has put there, and all others
the slots themselves. So what they write is written, and what they take is no traced array.
"""

from __future__ import annotations

from collections.abc import Mapping
from threading import get_ident
from typing import Any

from gradwright.base.cpython.at_once import at_once
from gradwright.engine.base import TensorBase
from gradwright.engine.node import AccumulateGrad

_SLOTS = [
    (cls, name, vars(cls)[name])
    for cls, names in ((TensorBase, ("array", "_node", "_grad", "_view", "_counter")), (AccumulateGrad, ("_array",)))
    for name in names
]


class PerThread:
    """The slots of tensors that were there before, and of their nodes, as the thread of a run sees them.

    Attributes:
        known: these tensors, by id.
        start: their nodes have smaller numbers.
        held: what the run has put into them, by name and id.
        counters: for their counters, which others share, ones of its own, by id; each with the other one.
    """

    def __init__(self, known: Mapping[int, Any], start: int) -> None:
        self.known, self.start, self.thread, self.is_on = known, start, 0, False
        self.held: dict[tuple[str, int], tuple[Any, Any]] = {}
        self.counters: dict[int, tuple[Any, Any]] = {}

    def begin(self) -> None:
        """From now on the slots are properties. One run at a time."""
        self.thread = get_ident()
        views = [(setattr, cls, name, self._slot(name, slot)) for cls, name, slot in _SLOTS]
        self.is_on = True
        at_once(views)

    def end(self) -> None:
        """From now on they are slots again, which hold what they have held, and what others have put there."""
        if self.is_on:
            at_once([(setattr, cls, name, slot) for cls, name, slot in _SLOTS])
            self.is_on = False

    def keep(self, but: Mapping[int, Any]) -> None:
        """Put what the run has put into tensors into their slots; not into those in ``but``, by id."""
        slots = {name: slot for _, name, slot in _SLOTS}
        for (name, at), (holder, value) in self.held.items():
            if at not in but and at in self.known:
                slots[name].__set__(holder, value)

    def shared(self, counter: Any) -> Any:
        """The counter that others share in place of one of the run's own."""
        found = self.counters.get(id(counter))
        return counter if found is None else found[0]

    def _own(self, counter: Any) -> Any:
        found = self.counters.get(id(counter))
        if found is None:
            found = counter, type(counter)(counter)
            self.counters[id(counter)] = self.counters[id(found[1])] = found
        return found[1]

    def _slot(self, name: str, slot: Any) -> property:
        read, write = slot.__get__, slot.__set__
        known, held, thread, start = self.known, self.held, self.thread, self.start

        def is_ours(holder: Any) -> bool:
            if get_ident() != thread:
                return False
            return holder._seq < start if name == "_array" else id(holder) in known

        def get(holder: Any) -> Any:
            if get_ident() == thread:
                found = held.get((name, id(holder)))
                if found is not None and found[0] is holder:
                    return found[1]
                if name == "_counter" and id(holder) in known:
                    return self._own(read(holder))
            return read(holder)

        def put(holder: Any, value: Any) -> None:
            if is_ours(holder):
                held[name, id(holder)] = holder, value
            else:
                write(holder, value)

        return property(get, put)
