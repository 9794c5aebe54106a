"""While a Function's forward runs: the values it uses besides its arguments, and all it takes to run it again.

The mode then has an `Inside` for a listener, which is told of operands with history that are not recorded.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from typing import Any

from gradwright.base.cpython.frames import file_of, frame
from gradwright.base.errors import CapturedTensor
from gradwright.base.source_line import Place, here, is_own
from gradwright.engine.base import TensorBase
from gradwright.engine.memory import unwritten
from gradwright.engine.mode import now
from gradwright.engine.node import ticket
from gradwright.engine.strict import warn
from gradwright.engine.view import is_severed
from gradwright.function.watched.outside_ctx import enter


class Inside:
    """The listener inside forward.

    Attributes:
        follows: whether a tensor takes up the history of what is written into it, although nothing is recorded.
        function, args, nodes: the Function, its arguments and their nodes.
        start: the sequence number from which on nodes are made inside.
        known: the nodes of what need not be told of, and None.
        written: by number, a copy of each argument as it was before forward wrote it in place; unset if none was.
        random: the state of each source of random numbers before forward drew from it; unset if it drew none.
        level: at which it did.
        left: whether values left for NumPy or Python.
        found: what backward would have found outside of ctx before forward ran, if its code looks there: see `outer`.
    """

    __slots__ = ("args", "found", "function", "known", "left", "level", "nodes", "random", "start", "written")
    function: Any
    args: tuple[Any, ...]
    nodes: list[Any]
    start: int
    known: tuple[Any, ...]
    written: dict[int, Any]
    random: dict[Any, bytes]
    level: Any
    left: bool
    found: dict[int, tuple[str, Any, int]] | None
    follows = False
    replaying = None

    def met(self, tensors: Sequence[Any], out: Any = None) -> None:
        """Tell of an operation that is not recorded: one of its operands has a history."""
        cls, start = self.function, self.start
        for t in tensors:
            node = t._node
            if node in self.known or node._seq >= start or cls.captures_tensors or is_severed(node):
                continue
            place = here(3)
            warn(
                f"{cls.__name__}: forward uses {_name(t)}, which requires grad but is no argument of it, so it gets no "
                f"gradient.\n  used at {Place(*place) if place else 'a line that is not known'}\n"
                "Make it an argument of apply; or detach() it, if it is meant as a constant.",
                CapturedTensor,
            )

    def writing(self, t: Any) -> None:
        """An argument may be about to be written in place: keep a copy."""
        for k, a in enumerate(self.args):
            if isinstance(a, TensorBase) and a._counter is t._counter:
                if not hasattr(self, "written"):
                    self.written = {}
                if k not in self.written:
                    self.written[k] = unwritten(a.array)

    def drawing(self, source: Any) -> None:
        """Random numbers are about to be drawn."""
        if not hasattr(self, "random"):
            self.random, self.level = {}, now().level
        if source not in self.random:
            self.random[source] = source.get_state()


_new = object.__new__


def inside(function: Any, args: tuple[Any, ...], nodes: list[Any], needed: bool) -> Inside:
    """The `Inside` of one call of a Function, some of whose arguments are ``needed``: require grad."""
    made = _new(Inside)
    made.function = function
    made.args = args
    made.nodes = nodes
    made.start = ticket()
    made.known = (*nodes, None)
    made.left = False
    made.found = None
    if needed and function._outer is not None:
        enter(made)
    return made


def _name(t: Any) -> str:
    """The user's name for a tensor: the variable, attribute or entry that holds it."""
    at = frame(1)
    while at is not None and is_own(file_of(at)):
        at = at.f_back
    while at is not None:
        scopes = [at.f_locals, at.f_globals]
        for scope in scopes:
            for name, value in list(scope.items()):
                if value is t:
                    return f"{name!r}"
        for scope in scopes:
            for name, value in list(scope.items()):
                for path, part in _parts(value):
                    if part is t:
                        return f"{name + path!r}"
        at = at.f_back
    return f"a tensor of shape {list(t.array.shape)}"


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """The values one step below an object, each with the way there."""
    if isinstance(value, (list, tuple)):
        yield from ((f"[{k}]", v) for k, v in enumerate(value))
    elif isinstance(value, dict):
        yield from ((f"[{k!r}]", v) for k, v in list(value.items()))
    elif not isinstance(value, (types.ModuleType, TensorBase)):
        own = getattr(value, "__dict__", None) or {}
        for name, v in list(own.items()):
            yield f".{name}", v
            if name == "_parameters" and isinstance(v, dict):  # a module's
                yield from ((f".{n}", p) for n, p in v.items())
