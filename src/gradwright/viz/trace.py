"""`trace`: while it is on, nodes are noted with the line and the module that recorded them, and where gradients stop.

Notes are kept beside the nodes, for as long as those live, and hold no array.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np

from gradwright.base.dtypes import FLOAT, of
from gradwright.base.source_line import here
from gradwright.engine.mode import now, switch
from gradwright.engine.node import Node, Output
from gradwright.engine.view import is_severed
from gradwright.engine.watch import Watch
from gradwright.function.contract.containers import arrays
from gradwright.function.watched.in_backward import Guard
from gradwright.nn.hooks import register_module_forward_hook, register_module_forward_pre_hook
from gradwright.viz.saved import owners
from gradwright.viz.sizes import magnitude


class Stop:
    """The place where a gradient stops.

    Attributes:
        how: in a word: ``detach()``, ``no_grad()``, or the operation that makes whole numbers.
        reason: in a sentence.
        place: the line, as `here` has it.
        sources: references to the arrays it was computed from, if it is a stop only in case they have a history.
    """

    __slots__ = ("how", "place", "reason", "sources")

    def __init__(self, how: str, reason: str, place: Any, sources: tuple[Any, ...] = ()) -> None:
        self.how, self.reason, self.place, self.sources = how, reason, place, sources


class Note:
    """The notes on a node: the line and module that recorded it, its result, and the inputs it did not reach.

    Attributes:
        place: as `here` has it. module: the module's path; outer: the number of the outermost module.
        shape, dtype: of its result.
        stops: for inputs without history the `Stop` that took it.
        gradient: norm and root mean square of the gradient that a pass brought.
    """

    __slots__ = ("dtype", "gradient", "module", "outer", "place", "shape", "stops")

    def __init__(self, place: Any, module: str | None, outer: int = 0) -> None:
        self.place, self.module, self.outer = place, module, outer
        self.shape: tuple[int, ...] | None = None
        self.dtype: str | None = None
        self.stops: list[tuple[int, Stop]] = []
        self.gradient: tuple[float, float] | None = None


notes: weakref.WeakKeyDictionary[Node, Note] = weakref.WeakKeyDictionary()
"""Of every node that was recorded, or has run, under a `trace`."""
_running: ContextVar[_Running | None] = ContextVar("the module that runs", default=None)


class _Running(NamedTuple):
    """A module that runs, or whose backward does: its path, paths and number of the outermost, and what it is in."""

    path: str
    names: dict[int, str] | None
    above: _Running | None
    outer: int


class trace(Watch):
    """Note, in a ``with`` block, what a graph is recorded by, so that `graph` can tell it.

    Noted are, for each node: the line and the module that recorded it, the shape and dtype of its result, the size of
    the gradient that a backward pass in the block brings it; and where gradients stop: at ``detach()`` and ``.data``,
    in a `no_grad` block, and at operations that make whole numbers. It costs a few microseconds per operation.

    A module's path begins with the name of the class of the outermost one: ``MLP.layers.0``.

        >>> from gradwright import viz
        >>> x = gw.ones(3, requires_grad=True)
        >>> with viz.trace():
        ...     y = (x * x.detach()).sum()
        >>> [(node.name, node.reason) for node in viz.graph(y).nodes if node.kind == "stop"]
        [('detach()', 'the history is taken away')]
    """

    def __init__(self) -> None:
        self._last: tuple[str, Sequence[Any], Any] = ("", (), None)
        self._known = _Known()
        self._guard = _Listening(self._known)
        self._before: list[tuple[Any, Any]] = []

    def __enter__(self) -> trace:
        super().__enter__()
        handles = register_module_forward_pre_hook(_enter), register_module_forward_hook(_leave, always_call=True)
        mode = now()
        self._before.append((mode.listener, handles))
        if mode.listener is None and mode.records:
            switch(mode.but(listener=self._guard))
        return self

    def __exit__(self, *exc: object) -> None:
        before, handles = self._before.pop()
        for handle in handles:
            handle.remove()
        switch(now().but(listener=before))
        super().__exit__(*exc)
        self._last = ("", (), None)
        _latest[:] = [self._known]
        self._known = _Known()
        self._guard = _Listening(self._known)

    def compute(self, name: str, inputs: Sequence[Any], call: Callable[[], Any]) -> Any:
        result = call()
        self._last = name, inputs, result
        self._known.follow(name, inputs, result)
        return result

    def recorded(self, node: Any) -> None:
        name, inputs, result = self._last
        if node in notes:  # by another trace
            return
        running = _running.get()
        note = notes[node] = Note(here(), running.path, running.outer) if running else Note(here(), None)
        if name != _operation(node):  # what a write in place records besides
            return
        outputs = list(arrays([result]))
        if outputs:
            note.shape, note.dtype = tuple(outputs[0].shape), of(outputs[0].dtype).name
        given, op = list(arrays(inputs)), getattr(node, "_op", None)
        for k, (array, needed) in enumerate(zip(given, node._edge_mask, strict=False)):
            index = op is not None and op.names_of(k + 1)[k] not in op.rules  # to which no gradient could flow
            stop = None if needed or index else self._known.stop(array)
            if stop is not None:
                note.stops.append((k, stop))
        for array in outputs:
            self._known.note(array, True, None)

    def parted(self, t: Any, how: str) -> None:
        if t._node is not None and not is_severed(t._node):
            self._known.note(t.array, True, Stop(how, "the history is taken away", here(3)))

    def run(self, node: Any, g: Any, call: Callable[[], Any]) -> Any:
        if type(node) is Output:
            return call()
        note = notes.get(node)
        if note is None:
            note = notes[node] = Note(None, None)
        note.gradient = magnitude(list(g.values()) if isinstance(g, dict) else [g])
        token = _running.set(_Running(note.module, None, None, note.outer) if note.module else None)
        try:
            return call()
        finally:
            _running.reset(token)


class _Known(dict[int, Any]):
    """What is known of arrays, by their ids, for as long as they live: whether they have a history, and any `Stop`."""

    def note(self, array: Any, live: bool, stop: Stop | None) -> None:
        """Note of an array whether there is a tensor of it with a history, and whether one that has lost it."""
        key = id(array)
        if not isinstance(array, np.generic):
            self[key] = weakref.ref(array, lambda _: self.pop(key, None)), live, stop
        elif stop is not None:  # NumPy's scalars can only be kept, and there may be many
            self[key] = array, live, stop

    def live(self, array: Any) -> bool:
        """Whether there is a tensor of an array with a history."""
        return bool(self._of(array)[1])

    def stop(self, array: Any) -> Stop | None:
        """The place where the history of an array was lost."""
        found: Stop | None = self._of(array)[2]
        return found

    def _of(self, array: Any) -> Any:
        """What is known of an array, or of one that it is a view of."""
        known = (self[id(a)] for a in owners(array) if id(a) in self)
        return next(known, (None, False, None))

    def follow(self, name: str, inputs: Sequence[Any], result: Any) -> None:
        """An operation made ``result``, perhaps not recorded: what its inputs lack, it lacks."""
        given, made = list(arrays(inputs)), list(arrays([result]))
        stop = next((s for a in given if (s := self.stop(a)) is not None), None)
        if made and all(of(a.dtype).category < FLOAT for a in made):
            floating = [a for a in given if of(a.dtype).category >= FLOAT]
            certain = any(map(self.live, floating))
            sources = () if certain else tuple(weakref.ref(a) for a in floating if not isinstance(a, np.generic))
            if certain or (stop is None and sources):
                how = f"to {of(made[0].dtype).name}" if name == "astype" else name
                stop = Stop(how, "whole numbers have no gradient", here(3), sources)
        if stop is not None:
            for array in made:
                self.note(array, False, stop)


_latest: list[_Known] = []
"""What the last `trace` knew when it ended."""


def lost(t: Any) -> Stop | None:
    """Where a tensor lost its history, if the last `trace` saw it; None if not."""
    return _latest[0].stop(t.array) if _latest else None


class _Listening(Guard):
    """Hears of operations in a `no_grad` block, and changes nothing."""

    follows = False

    def __init__(self, known: _Known) -> None:
        super().__init__("", (), declared=True)
        self._arrays = known

    def met(self, tensors: Sequence[Any], out: Any = None) -> None:
        stop = Stop("no_grad()", "nothing is recorded there", here(3))
        if any(t._node is not None and not is_severed(t._node) for t in tensors):
            for array in arrays([out]):
                self._arrays.note(array, False, stop)


def _operation(node: Any) -> str:
    """The name in `Watch.compute` of the operation that recorded a node."""
    op = getattr(type(node), "_op", None)
    return op.name if op is not None else getattr(getattr(node, "_function", None), "__name__", "")


# ---- the module that runs ---------------------------------------------------------------------------------


def _enter(module: Any, args: Any) -> None:
    """A module begins: it is one of those below the outermost, or the outermost."""
    above = _running.get()
    if above is None or above.names is None:
        title, outer = type(module).__name__, _numbers.setdefault(module, next(_count))
        names = {id(m): f"{title}.{path}" if path else title for path, m in module.named_modules()}
    else:
        names, outer = above.names, above.outer
        title = f"{above.path}.{type(module).__name__}"
    _running.set(_Running(names.get(id(module), title), names, above, outer))


def _leave(module: Any, args: Any, out: Any) -> None:
    running = _running.get()
    _running.set(running and running.above)


_numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
"""Of the outermost modules, in the order in which they first ran."""
_count = itertools.count(1)
