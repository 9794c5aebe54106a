"""What cuts a recorded backward off from its inputs: it goes on, and a second derivative through the cut raises.

While a user's backward is recorded, and while forward runs again for it, a `Guard` is on. It sees values leave: by
``detach()`` and ``.data``, in a `no_grad` block, for NumPy, for Python. What is made of them has a `Cut` for its
history, as far as that can be known. What backward returns afterwards has one, too, if it has no history of its own; if
it has one, a second derivative through it warns that a part may be missing.

In forward mode nothing can stand for what was cut off: that values have left which move is noted, and then it is looked
whether that matters (`gradwright.function.watched.in_motion`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from gradwright import backends
from gradwright.base.cpython.frames import file_of, frame, past_asking
from gradwright.base.dtypes import FLOAT, finfo, of
from gradwright.base.errors import CutError
from gradwright.base.source_line import Place, here, is_own
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.levels import LevelArray, below, is_followed, moves
from gradwright.engine.memory import share
from gradwright.engine.mode import now
from gradwright.engine.node import AccumulateGrad, Node
from gradwright.engine.strict import warn
from gradwright.engine.version import Untracked
from gradwright.engine.view import View, is_of_leaf, is_severed, refresh
from gradwright.engine.watch import leaving, parted
from gradwright.function.contract.containers import flatten
from gradwright.function.watched.compared_only import decides


class Guard:
    """The record of one run of a user's backward; the mode has it for a listener, in `no_grad` blocks, too.

    Attributes:
        name: of the node.
        inputs: the nodes that its gradients depend on: those of the inputs and of the cotangents.
        known, follows: as those of `gradwright.function.watched.in_forward.Inside`.
        declared: whether the user says that the gradient is not the derivative: then nothing of this is done.
        records: whether cuts are made: not if that is so, or in forward mode alone.
        left: how and where values left, in that order.
        values: the same of those that left for NumPy or Python, and so may be anywhere.
        arrays: whether some left that may come back as an array.
        brought: whether an array came. Then no doubt is left: numbers beside it, such as a factor that a forward in
            NumPy keeps, are constants far more often than not.
        leaves: the nodes of leaves that were made by ``detach().requires_grad_()``, with their cuts.
        replaying: the ctx of forward while that runs again: a `no_grad` block in it says nothing, since all of forward
            is one.
        scale: how large the cotangents are that a second derivative brings to what was returned.
        outer: what puts back what running forward again has left outside of ctx.
        halted: where values may have left that move, or have a history outside: how, and at which line.
        escaped, moved: whether they have; whether they may move.
        doubted: the tensors whose history is not known, with what is one until backward is done.
        written: the tensors without history into which `no_grad` blocks have written: cuts until backward is done.
    """

    known: tuple[Any, ...] = (None,)
    follows = True
    arrays = brought = False
    scale = 0.0
    halted: Any = None
    escaped = moved = False
    replaying: Any = None
    outer: Any = None

    def __init__(self, name: str, inputs: Sequence[Node], declared: Any = None, records: bool = True) -> None:
        self.name, self.inputs, self.declared = name, tuple(inputs), isinstance(declared, str)
        self.records = records and not self.declared
        self.left: list[tuple[str, Any]] = []
        self.values: list[tuple[str, Any]] = []
        self.leaves: list[tuple[AccumulateGrad, Cut]] = []
        self.doubted: list[tuple[Any, Cut]] = []
        self.written: dict[int, Any] = {}

    def note(self, how: str, t: Any) -> None:
        """Values of ``t`` leave at the user's line that runs now."""
        self.left.append((how, here(2)))

    def met(self, tensors: Sequence[Any], out: Any = None) -> None:
        """An operation on operands with history has not been recorded, because of `no_grad`."""
        nodes = [t._node for t in tensors if t._node is not None and not is_severed(t._node)]
        if not self.records:
            return
        place = here(3)
        if nodes and not any(isinstance(n, Cut) for n in nodes):
            self.left.append(("no_grad()", place))
        for o in out if isinstance(out, list) else (out,):
            if nodes and o is not None and of(o.array.dtype).category >= FLOAT:
                o._node = self.cut(nodes, "no_grad()", place)

    def stops(self) -> None:
        """The user switches recording off at a level, where nothing moves then."""
        self.halted, self.moved = self.halted or ("no_grad()", here(3)), True

    def writing(self, t: Any) -> None:
        """Writes are seen by versions; a tensor written in a `no_grad` block is not to require grad after backward."""
        owner = t if t._view is None else t._view.base
        if now().records:
            self.written.pop(id(owner), None)
        elif owner._node is None:
            self.written[id(owner)] = owner

    def drawing(self, source: Any) -> None:
        """Backward runs once."""

    def doubt(self, t: Any, name: str, who: str) -> None:
        """Until backward is done, ``t``, which has no history, has one through which a second derivative warns."""
        if not self.records or t._node is not None or of(t.array.dtype).category < FLOAT:
            return
        t._node = Doubt(self, self.inputs, (
            f"{self.name} uses {name!r}, which {who} has left there without history: if that depends on the inputs, "
            "this second derivative misses what goes that way.\n"
            "Compute it anew, in backward or each time in forward, and keep it on ctx; or make it an argument, if it "
            "is a constant."
        ))  # fmt: skip
        self.doubted.append((t, t._node))

    def done(self) -> None:
        """Backward is done, or has failed: leave things as they were before it."""
        for t, node in self.doubted:
            if t._node is node:
                t._node = None
        for t in self.written.values():
            if type(t._node) is not AccumulateGrad:  # which the user asked for meanwhile
                t._node = None
        if self.outer is not None:
            self.outer.restore()

    def why(self) -> tuple[str, Any]:
        """How and where values left that cannot be followed."""
        return (self.values or self.left)[0]

    def message(self, how: str, place: Any, would: str = "would") -> str:
        """An error's words on a cut."""
        where = Place(*place) if place else "a line that is not known"
        return (
            f"{self.name} cut the gradient off with {how}, so this second derivative {would} miss what goes that way.\n"
            f"  cut off at {where}\n"
            "Compute it with gradwright's functions, without that; or declare what is meant: once_differentiable, if "
            'there is no second derivative, or surrogate("reason"), if the value is a constant to it.'
        )

    def cut(self, nodes: Sequence[Node], how: str, place: Any) -> Cut:
        """A history that ends here."""
        return Cut(self, nodes, self.message(how, place), how, place)

    def check(self) -> None:
        """Raise CutError if values have left that move: those of a container, say, for which no others can stand."""
        if self.escaped:
            self.cut(self.inputs, *self.halted).tell()

    def settled(self, grads: Sequence[Any]) -> list[Any]:
        """The gradients that backward returned, with what is to be known of them as their history."""
        for node, cut in self.leaves:
            node._next = (cut,)
            node._hooked().tensor[-1] = partial(_reached, cut)
        if self.doubted or self.written or self.outer is not None:  # one may be among them
            grads = [g if g is None else share(wrap(g.array, g._node, g._counter), g) for g in grads]
        if not self.left:
            return list(grads)
        return [g if g is None else self._settled(g, *self.why()) for g in grads]

    def _settled(self, g: Any, how: str, place: Any) -> Any:
        array = g.array
        if isinstance(array, LevelArray):  # it has a history in the levels outside, too; or is a constant to them
            array = array.of(lambda t: self._settled(t, how, place) if t._node is not None or self.values else t)
        if is_severed(g._node):
            return wrap(array, g._node)
        if g._node is None:
            return wrap(array, self.cut(self.inputs, how, place))
        doubt = self.message(how, place, "may") if self.values and not self.brought else None
        return wrap(array, Returned(self, g._node, doubt))


def _reached(cut: Cut, g: Any) -> None:
    cut._run(None, g)


def unequal(t: Any) -> Any:
    """A cotangent for ``t`` that shows cuts, as its entries differ; so small that clipping leaves it."""
    array = below(t.array)
    xp = backends.namespace(array)
    k = xp.arange(t.array.size, dtype=xp.float32, device=array.device)
    w = xp.reshape((k * 0.618 % 1.0 + 0.5) / 64.0, t.array.shape)
    return wrap(xp.astype(w, array.dtype))


class Cut(Node):
    """A cut in the history: a cotangent that comes to it would be lost, so it raises unless that is zero."""

    __slots__ = ("_edge_mask", "_guard", "_how", "_message", "_place")

    def __init__(
        self, guard: Guard | None, nodes: Sequence[Node], message: str, how: str = "", place: Any = None
    ) -> None:
        super().__init__(nodes)
        self._edge_mask = (True,) * len(nodes)
        self._guard, self._message, self._how, self._place = guard, message, how, place

    def _run(self, xp: Any, g: Any) -> Any:
        size, guard, dtype = largest(g), self._guard, (g.array if isinstance(g, TensorBase) else g).dtype
        if guard is None or not size <= guard.scale * finfo(of(dtype)).eps ** 0.75:
            self.tell()
        return [None] * len(self._next)  # nothing but rounding: a maximum subtracted and added again, say

    def tell(self) -> None:
        """Raise the error."""
        error = CutError(self._message)
        error.how, error.place = self._how, str(Place(*self._place)) if self._place else None
        raise error


class Doubt(Cut):
    """A history that is not known: there may be none."""

    __slots__ = ()

    def tell(self) -> None:
        """Warn."""
        warn(self._message)


class Returned(Node):
    """The result of backward, partly cut off: hands its cotangent on, and warns if there is a doubt."""

    __slots__ = ("_doubt", "_guard")
    _edge_mask = (True,)

    def __init__(self, guard: Guard, node: Node, doubt: str | None) -> None:
        super().__init__((node,))
        self._guard, self._doubt = guard, doubt

    def _run(self, xp: Any, g: Any) -> Any:
        size = largest(g)
        self._guard.scale = max(self._guard.scale, size)
        if self._doubt and size:
            warn(self._doubt)
        return (g,)


def largest(g: Any) -> float:
    """The largest magnitude in a cotangent, in all examples of a batch, and in how it moves."""
    array = g.array if isinstance(g, TensorBase) else g
    if isinstance(array, LevelArray):
        return max(largest(part) for part in array.parts or (array.tensor,) if part is not None)
    array = np.abs(np.asarray(array))
    return float(array.max()) if array.size else 0.0


def _guard() -> Any:
    """The guard, if it is the user's backward, or its replay, that runs now, and not a forward or pass inside it."""
    guard = now().listener
    return None if guard is None or not guard.follows or guard.declared else guard


def _halts(guard: Any, t: Any, how: str) -> None:
    """Note that values of ``t`` leave, if they move, or have a history outside."""
    if is_followed(t.array):
        guard.halted, guard.escaped, guard.moved = (how, here(3)), True, guard.moved or moves(t.array)


def aside(t: Any, out: Any, how: str) -> Any:
    """``out``, a tensor of the values of ``t`` without history that the user asked for: with a cut for its history.

    If both are one memory, it is a view of ``t`` meanwhile, so that what is written into it is known of ``t``.
    """
    if now().watches:
        parted(t, how)
    guard = _guard()
    if guard is None or is_own(file_of(past_asking(frame(2)))):
        return out
    _halts(guard, t, how)
    if t._view is not None:
        refresh(t)
    if t._node is not None and not is_severed(t._node):
        _cut_off(guard, out, (t._node,), how)
    if out.array is t.array and not is_of_leaf(t) and not isinstance(out._counter[0], Untracked):
        out._counter = t._counter
        out._view = View(t, (), None) if t._view is None else View(t._view.base, t._view.steps, None)
    return out


def replaced(t: Any, source: Any) -> None:
    """The memory of ``t`` is now that of ``source``, because the user has set ``.data``."""
    guard = _guard()
    if guard is not None:
        _halts(guard, source, ".data")
        if source._node is not None and not is_severed(source._node):
            _cut_off(guard, t, (source._node,), ".data")


def made_of(data: Any, out: Any, how: str) -> Any:
    """``out``, made from the values of ``data``, a tensor or something with tensors in it: so cut off from those."""
    guard = _guard()
    if guard is not None and of(out.array.dtype).category >= FLOAT:
        found: list[Any] = []
        flatten(data, found)
        for t in found:
            if t._view is not None:
                refresh(t)
            _halts(guard, t, how)
        nodes = [t._node for t in found if t._node is not None and not is_severed(t._node)]
        if nodes:
            _cut_off(guard, out, nodes, how)
    return out


def _cut_off(guard: Any, out: Any, nodes: Sequence[Node], how: str) -> None:
    if not guard.records:
        return
    place = here(3)
    out._node = guard.cut(nodes, how, place)
    guard.left.append((how, place))


def leaves(t: Any, how: str, array: bool = False) -> bool:
    """Values of ``t`` leave for Python, or for NumPy as an ``array``; whether a guard is on, which lets them."""
    if now().watches:
        leaving(t)
    guard = _guard()
    if guard is None:
        listener = now().listener
        if listener is not None and not listener.follows:
            listener.left = True
        return False
    history = guard.records and t._node is not None and not is_severed(t._node) and of(t.array.dtype).category >= FLOAT
    at = past_asking(frame(2))
    if is_own(file_of(at)) or decides(at):
        return True
    _halts(guard, t, how)
    if history:
        guard.note(how, t)
        guard.values.append(guard.left[-1])
        guard.arrays = guard.arrays or array
    return True


def brought(t: Any) -> Any:
    """A tensor made from arrays of the user: a cut, if the values of others have left for NumPy."""
    guard = _guard()
    if guard is not None and guard.records and guard.arrays and t._node is None and of(t.array.dtype).category >= FLOAT:
        t._node = guard.cut(guard.inputs, *guard.why())
        guard.brought = True
    return t


def is_guarded() -> bool:
    """Whether values may leave now, since it is noted."""
    return _guard() is not None


def is_in_backward() -> bool:
    """Whether a user's backward runs; or, in a transform inside, a block of it in which recording is off.

    What such a block writes over is gone with its history.
    """
    return now().guarded or is_guarded()


def is_repeatable() -> bool:
    """Whether a Function's forward runs, which may be run again and then has to come to the same."""
    listener = now().listener
    return listener is not None and (not listener.follows or listener.replaying is not None)


def rooted(t: Any) -> bool:
    """Whether ``t``, which the user makes a leaf, was cut off: it is one now, and a second derivative there raises."""
    guard = _guard()
    if guard is None or not isinstance(t._node, Cut):
        return False
    cut, t._node, t._view = t._node, None, None
    t._node = AccumulateGrad(t)
    guard.leaves.append((t._node, cut))
    return True
