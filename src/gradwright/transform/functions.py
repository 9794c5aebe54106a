"""Users' Functions at a level: as operations are, and recorded there, with what their forward has saved.

At a level a Function is computed with the tensors outside, as an operation is. So the levels outside, and reverse mode
there, meet the Function itself with the derivative its user wrote, and not the operations in its forward. Where the
level's own tensors have a history, too, the Function is recorded there as well, with what its forward has saved.

Where forward runs more than once, it is as if it had run once: the later runs get copies of the arguments as they were,
and draw the same random numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from gradwright.backends.generator import shared
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.memory import unwritten
from gradwright.engine.mode import now
from gradwright.function.contract.containers import flatten
from gradwright.function.ctx import BackwardNode
from gradwright.function.saved import replace
from gradwright.function.watched import outside_ctx
from gradwright.function.watched.rerun import as_it_was
from gradwright.transform.mapped import here


class Again:
    """The arguments of a Function as they were, and the random numbers that it is about to draw."""

    def __init__(self, cls: Any, args: Sequence[Any]) -> None:
        self.args: Sequence[Any] = args
        self.renew()
        shared.generator()  # it may not have been asked for yet
        self._states: dict[Any, Any] = {shared: shared.get_state()}
        level = now().level
        streams = [*outside_ctx.of(cls).streams, *([] if level is None else level.streams())]
        self._states |= {s: s.get_state() for s in streams}

    def renew(self) -> None:
        """Let the arguments be new copies of what they are."""
        self.args = [wrap(unwritten(a.array), a._node) if isinstance(a, TensorBase) else a for a in self.args]

    def run(self, f: Callable[..., Any], *args: Any) -> Any:
        """What ``f`` returns of the arguments, and of these after them."""
        with as_it_was(self._states):
            return f(self.args, *args)


def at_level(cls: Any, args: Sequence[Any], through: Callable[[Sequence[Any]], Any],
             take: Callable[[Any, Any, Sequence[Any]], None], halting: Any) -> Any:  # fmt: skip
    """What ``cls`` returns for tensors of a level: ``through`` makes it of those outside; recorded where that is due.

    ``through`` returns the outputs as tensors of the level, without history there. ``take`` lets a recorded output be
    what that one is; in the block ``halting`` is recorded.
    """
    if not now().records or all(not isinstance(a, TensorBase) or a._node is None for a in args):
        return through(args)
    again = Again(cls, args)
    with halting:
        recorded = here(cls, args)
    made = again.run(through)
    new: dict[int, Any] = {}
    outs = tensors_in(recorded)
    for own, other in zip(outs, tensors_in(made), strict=True):
        old = own.array
        take(own, other, args)
        new[id(old)] = old, own.array
    node = next((o._node._edge()[0] for o in outs if o._node is not None), None)
    if isinstance(node, BackwardNode):
        replace(node, partial(_output, new, node._next))
    return recorded


def _output(new: dict[int, tuple[Any, Any]], inputs: Sequence[Any], packed: Any) -> Any:
    """What is kept, with the new array if it is an output; an input that was returned as it came remains the input."""
    found = new.get(id(packed[0])) if packed[3] is None or packed[3] not in inputs else None
    return packed if found is None else (found[1], *packed[1:])


def tensors_in(value: Any) -> list[Any]:
    """The tensors in a value, in order."""
    found: list[Any] = []
    flatten(value, found)
    return found
