"""What a backward has cut off in forward mode, where a tangent of what it returned misses something in silence.

Nothing can stand for what was cut off there, as a `gradwright.function.watched.in_backward.Cut` does for a history. So
if values that move have left, backward is run once more, recorded, on the values alone; a pass through what it returns
then raises if it comes to a cut with anything but rounding, as that of any other second derivative does. That run finds
ctx as the first one did, and draws no random numbers that anybody misses.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

from gradwright.base.dtypes import FLOAT, of
from gradwright.base.errors import CutError
from gradwright.base.source_line import Place
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.calls import grad
from gradwright.engine.levels import LevelArray, is_followed
from gradwright.engine.mode import now, switch
from gradwright.engine.node import Node
from gradwright.function.saved import arrays, refill, replace
from gradwright.function.watched.in_backward import Cut, Guard, unequal
from gradwright.function.watched.rerun import as_it_was


def followed(node: Any, grads: Sequence[Any]) -> bool:
    """Whether a cotangent, or something that forward has kept, has a tangent, or a history outside of the level."""
    return any(map(is_followed, _arrays(node, grads)))


def _arrays(node: Any, grads: Sequence[Any]) -> list[Any]:
    return [*[t.array for t in grads if t is not None], *arrays(node)]


def checked(node: Any, grads: Sequence[Any], guard: Guard, found: list[Any], held: Sequence[Any]) -> list[Any]:
    """`compared` with what the backward of ``node`` has found for these cotangents."""
    return compared(partial(_look, node, grads), _arrays(node, grads), guard, found, held)


def compared(again: Callable[[], None], given: Sequence[Any], guard: Guard, found: list[Any],
             held: Sequence[Any]) -> list[Any]:  # fmt: skip
    """The findings on arrays, if no tangent is missing, which ``again`` looks for.

    ``held`` is what `gradwright.function.saved.contents` gave before they were found. Raises CutError if something is
    missing; if that is in a history alone, what goes through that will raise it.
    """
    after = refill(held)
    try:
        with as_it_was({}):
            again()
    except CutError as error:
        if guard.moved:
            raise
        lost = partial(_lost, guard, str(error), [n for array in given for n in _histories(array)])
        return [None if t is None else lost(t, inside=isinstance(t.array, LevelArray)) for t in found]
    finally:
        refill(after)
        if isinstance(failed := sys.exc_info()[1], Exception) and not isinstance(failed, CutError):
            how, place = guard.halted
            failed.add_note(
                f"raised while the derivative of {guard.name} was run once more, to see whether its own derivative "
                f"misses what {how} cut off at {Place(*place)}: let it not use up what lies outside of ctx, or do "
                f"without {how}"
            )
    return found


def passed(run: Callable[[Callable[[Any], Any]], Any]) -> None:
    """Run ``run(still)``, recorded, and a pass from what it returns to the leaves that ``still`` makes of tensors."""
    leaves: dict[int, Any] = {}

    def still(t: Any) -> Any:
        if t is None or of(t.array.dtype).category < FLOAT or not (is_followed(t.array) or t._node is not None):
            return t
        if id(t) not in leaves:
            leaves[id(t)] = wrap(_values(t.array)).requires_grad_()
        return leaves[id(t)]

    _pass(partial(run, still), leaves.values())


def _pass(run: Callable[[], Any], leaves: Collection[Any]) -> None:
    """Run ``run()``, recorded, and a pass from what it returns to the ``leaves`` that it makes meanwhile, or has."""
    before = now()
    try:
        switch(before.but(records=True, stopped=-1, listener=None))
        found = run()
        outs = [t for t in (found if isinstance(found, (tuple, list)) else (found,)) if isinstance(t, TensorBase)]
        outs = [t for t in outs if t._node is not None]
        if outs and leaves:
            grad(outs, leaves, [unequal(t) for t in outs], allow_unused=True)
    finally:
        switch(before)


def _lost(guard: Guard, message: str, ends: Sequence[Node], t: Any, inside: bool) -> Any:
    """``t`` with a cut for its history outside of the level, which leads to these ``ends`` if it has none."""
    array = t.array
    if isinstance(array, LevelArray):
        array = array.of(partial(_lost, guard, message, ends, inside=False))
    if inside:
        return t if array is t.array else wrap(array, t._node, t._counter)
    return wrap(array, Cut(guard, ends if t._node is None else (t._node,), message, *guard.halted), t._counter)


def _histories(array: Any) -> list[Node]:
    """The nodes of the tensors of the levels outside that an array is made of."""
    parts = array.parts if isinstance(array, LevelArray) else ()
    return [n for part in parts for n in (part._node, *_histories(part.array)) if n is not None]


def _look(node: Any, grads: Sequence[Any]) -> None:
    leaves = _Leaves(node)
    put_back, following = replace(node, leaves.of), node._next
    try:
        node._next = tuple([leaves.inputs[n]._node if n in leaves.inputs else n for n in following])
        _pass(lambda: node._recorded([leaves.still(g) for g in grads], None), leaves.all)
    finally:
        put_back()
        node._next = following


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
        return t if t is None or not is_followed(t.array) else self._leaf(t.array)

    def of(self, packed: Any) -> Any:
        """The stand-in for a tensor."""
        array, counter, version, source = packed
        if counter[0] != version or of(array.dtype).category < FLOAT:
            return packed
        if source.__class__ is int or not (is_followed(array) or source in self.next):
            return (_values(array), counter, version, source)
        leaf = self.inputs[source] if source in self.inputs else self._leaf(array)
        if source in self.next:
            self.inputs[source] = leaf
        return (leaf.array, leaf._counter, 0, leaf._node)

    def _leaf(self, array: Any) -> Any:
        leaf = wrap(_values(array)).requires_grad_()
        self.all.append(leaf)
        return leaf


def _values(array: Any) -> Any:
    return array.values() if isinstance(array, LevelArray) else array
