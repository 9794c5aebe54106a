"""What a backward has cut off in forward mode, where a tangent of what it returned misses something in silence.

Nothing can stand for what was cut off there, as a `gradwright.function.watched.in_backward.Cut` does for a history. So
if values that move have left, backward is run once more, recorded, on the values alone; a pass through what it returns
then raises if it comes to a cut with anything but rounding, as that of any other second derivative does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradwright.base.dtypes import FLOAT, of
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.calls import grad
from gradwright.engine.levels import LevelArray, moves
from gradwright.engine.mode import now, switch
from gradwright.function.saved import kept, replace
from gradwright.function.watched.in_backward import unequal


def moving(node: Any, grads: Sequence[Any] = ()) -> bool:
    """Whether a cotangent, or something that forward has kept for backward, has a tangent."""
    return any(t is not None and moves(t.array) for t in grads) or any(moves(packed[0]) for packed in kept(node))


def look(node: Any, grads: Sequence[Any]) -> None:
    """Raise CutError if what has left in the backward of ``node`` is missing in the tangent of what it returned."""
    before, leaves = now(), _Leaves(node)
    put_back, following = replace(node, leaves.of), node._next
    try:
        switch(before.but(records=True, stopped=-1, listener=None))
        node._next = tuple([leaves.inputs[n]._node if n in leaves.inputs else n for n in following])
        found = node._recorded([leaves.still(g) for g in grads], None)
        outs = [t for t in (found if type(found) is tuple else (found,)) if isinstance(t, TensorBase)]
        outs = [t for t in outs if t._node is not None]
        if outs and leaves.all:
            grad(outs, leaves.all, [unequal(t) for t in outs], allow_unused=True)
    finally:
        put_back()
        node._next = following
        switch(before)


class _Leaves:
    """Leaves over the values of what a node has kept: of its inputs, and of whatever moves.

    Attributes:
        inputs: those of the inputs, by their nodes.
        all: these and the others.
    """

    def __init__(self, node: Any) -> None:
        self.next = set(node._next)
        self.inputs: dict[Any, Any] = {}
        self.all: list[Any] = []

    def still(self, t: Any) -> Any:
        """A cotangent's values alone; a leaf if it moves."""
        return t if t is None or not moves(t.array) else self._leaf(t.array)

    def of(self, packed: Any) -> Any:
        """What is kept in place of a tensor."""
        array, counter, version, source = packed
        if counter[0] != version or of(array.dtype).category < FLOAT:
            return packed
        if source.__class__ is int or not (moves(array) or source in self.next):
            return (_values(array), counter, version, source)
        leaf = self.inputs.get(source) or self._leaf(array)
        if source in self.next:
            self.inputs[source] = leaf
        return (leaf.array, leaf._counter, 0, leaf._node)

    def _leaf(self, array: Any) -> Any:
        leaf = wrap(_values(array)).requires_grad_()
        self.all.append(leaf)
        return leaf


def _values(array: Any) -> Any:
    return array.values() if isinstance(array, LevelArray) else array
