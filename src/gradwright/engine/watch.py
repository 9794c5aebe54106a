"""Watching operations: what profilers, anomaly mode and saved-tensor hooks stand on.

A `Watch` that is on in this thread (or asyncio task) sees every operation computed, every node recorded and every node
run backward. While none is on this costs nothing: the mode is then `PLAIN`, which operations ask for anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from gradwright import backends
from gradwright.backends.quiet import quietly
from gradwright.engine.mode import now, switch
from gradwright.ops.declare import Op


class Watch:
    """Something that watches operations while it is on: a context manager, which may be entered again and again.

    Of several, the newest is outermost.
    """

    keeps = False
    """Whether it may hold on to the memory of what a node has just saved."""
    holds = False
    """Whether it holds the arrays that it sees, and knows them again: nobody else need hold them."""

    def compute(self, name: str, inputs: Sequence[Any], call: Callable[[], Any]) -> Any:
        """The result of the operation of this name for these inputs: ``call()``.

        The inputs are arrays and static arguments, the result an array or several; a Function's are as its user wrote
        them, with tensors for arrays, and so are those of a hook, which counts as an operation.
        """
        return call()

    def recorded(self, node: Any) -> None:
        """A node has been made."""

    def run(self, node: Any, g: Any, call: Callable[[], Any]) -> Any:
        """The result of ``node`` for the cotangent ``g``: ``call()``."""
        return call()

    def writing(self, t: Any) -> None:
        """The memory of a tensor is about to be written in place."""

    def used(self, tensors: Sequence[Any]) -> None:
        """An operation is about to read these tensors; a user's Function reads what it hands to `compute`."""

    def drawing(self, source: Any) -> Any:
        """Random numbers are about to be drawn from a source of ours; from the result, if that is not None."""

    def setting(self, options: dict[str, Any], name: str) -> Any:
        """The value that an optimiser takes for one of its options; NotImplemented for the option's own."""
        return NotImplemented

    def repeated(self, key: Any, f: Callable[..., Any], tensors: Sequence[Any]) -> Any:
        """``f(*tensors)``, tensors that depend on nothing else that is not the same wherever ``key`` is."""
        return f(*tensors)

    def parted(self, t: Any, how: str) -> None:
        """The user has asked for the values of ``t`` without their history: by ``how``, such as ``detach()``."""

    def asked(self, t: Any, question: Callable[[Any], Any]) -> None:
        """The user asks of a tensor what ``question(t)`` says: whether it is a view, how often it has been written."""

    def exchanged(self, t: Any) -> None:
        """A tensor is about to show other memory, as by ``t.data = y``."""

    def leaving(self, t: Any) -> None:
        """The values of a tensor are about to leave for Python or NumPy."""

    def applying(self, cls: Any, args: Sequence[Any]) -> Any:
        """The result of a user's Function; NotImplemented if its forward is to be run."""
        return NotImplemented

    def __enter__(self) -> Any:
        mode = now()
        switch(mode.but(watches=(*mode.watches, self)))
        return self

    def __exit__(self, *exc: object) -> None:
        mine = list(now().watches)[::-1]
        if self in mine:  # else a pass has ended it that it was entered in
            mine.remove(self)
        switch(now().but(watches=tuple(mine[::-1])))


def computed(op: Op, xp: Any, *arrays: Any, **static: Any) -> Any:
    """The result of the formula of ``op`` for arrays, without NumPy's warnings."""
    if not now().watches:
        return quietly(op.forward, xp, *arrays, **static)
    return seen(op.name, (*arrays, *static.values()), partial(quietly, op.forward, xp, *arrays, **static))


def seen(name: str, inputs: Sequence[Any], call: Callable[[], Any]) -> Any:
    """``call()``, seen by all watches as the operation of this name."""
    for watch in now().watches:
        call = partial(watch.compute, name, inputs, call)
    return call()


def repeated(key: Any, f: Callable[..., Any], tensors: Sequence[Any]) -> Any:
    """``f(*tensors)``, of which a single watch may know what it gives: see `Watch.repeated`."""
    watches = now().watches
    return watches[0].repeated(key, f, tensors) if len(watches) == 1 else f(*tensors)


def joined(a: Any, b: Any) -> Any:
    """The sum of two cotangents; where they are tensors, `add` is seen anyway."""
    return a + b if hasattr(a, "_node") else seen("add", (a, b), lambda: a + b)


def _telling(event: str, order: Callable[[Any], Any] = iter) -> Callable[..., None]:
    """The function that tells all watches of an event: the methods of `Watch` say which there are."""

    def tell(*what: Any) -> None:
        for watch in order(now().watches):
            getattr(watch, event)(*what)

    return tell


recorded = _telling("recorded", reversed)  # the newest first
writing, exchanged, leaving = map(_telling, ("writing", "exchanged", "leaving"))
parted, used, asked = map(_telling, ("parted", "used", "asked"))


def applying(cls: Any, args: Sequence[Any]) -> Any:
    """The result of a user's Function from the newest watch that has one; else NotImplemented."""
    for watch in reversed(now().watches):
        found = watch.applying(cls, args)
        if found is not NotImplemented:
            return found
    return NotImplemented


def drawing(source: Any) -> Any:
    """NumPy's generator behind ``source``, or a transform's own for it, to draw numbers from; all hear of it."""
    mode = now()
    if mode.level is not None:
        for heard in (*mode.watches, *(() if mode.listener is None or mode.records else (mode.listener,))):
            for one in (source, *mode.level.streams()):
                heard.drawing(one)
        return mode.level.generator(source)
    if mode.listener is not None and not mode.records:
        mode.listener.drawing(source)
    generator = None
    for watch in mode.watches:
        generator = watch.drawing(source) or generator
    return source.generator() if generator is None else generator


def setting(options: dict[str, Any], name: str) -> Any:
    """The newest watch's value for an option of an optimiser; NotImplemented for the option's own."""
    watches = now().watches
    return watches[-1].setting(options, name) if watches else NotImplemented


def run(node: Any, g: Any) -> Any:
    """The result of ``node`` for the cotangent ``g``, or for several, of any library; seen by all watches."""
    xp = backends.namespace(next(iter(g.values())) if isinstance(g, dict) else g)
    call = partial(node._run, xp, g)
    for watch in now().watches:
        call = partial(watch.run, node, g, call)
    return call()
