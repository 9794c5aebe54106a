"""After a user's backward: gradients that it may write again are copied, what it has written of others' is an error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradwright.backends.quiet import in_pass
from gradwright.base.cpython.frames import frame
from gradwright.base.cpython.lent import is_held
from gradwright.base.cpython.references import alone, count
from gradwright.engine.backward import passes
from gradwright.engine.hooks import as_tensor
from gradwright.engine.levels import LevelArray
from gradwright.engine.memory import unwritten
from gradwright.engine.mode import now
from gradwright.engine.node import UNSHARED, Bundle
from gradwright.engine.version import export, written_at


def own(tensors: list[Any], grads: Sequence[Any]) -> list[Any]:
    """The arrays of gradients, in their place, in memory that nobody else writes: copies of what others hold.

    Others may hold, say, a buffer for every call. A cotangent, of ``grads``, may be handed on as it is: it is not to be
    written.
    """
    for k in range(len(tensors)):
        t = tensors[k]
        if t is None:
            continue
        a = tensors[k] = t.array
        t = None
        if a.__class__ is np.ndarray and (count(a) > _OWN or a.base is not None):
            a = None
            if not _is_of_cotangent(tensors[k], grads) and is_held(tensors[k]):
                tensors[k] = unwritten(tensors[k])
    return tensors


def own_tensors(tensors: list[Any], grads: Sequence[Any]) -> list[Any]:
    """The same where backward is recorded; only what has no history, or has been written in place, may be written."""
    for k in range(len(tensors)):
        t = tensors[k]
        if t is None or t.array.__class__ is not np.ndarray:
            continue
        version = t._counter[0]
        if t._node is not None and version.__class__ is int and version == 0:
            continue
        places = count(t)
        t = None
        array = tensors[k].array
        if not _is_of_cotangent(array, grads) and (places > _OWN or count(array) > _OWN or array.base is not None):
            tensors[k] = tensors[k].clone()
    return tensors


def _is_of_cotangent(array: Any, grads: Sequence[Any]) -> bool:
    """Whether it lies in the memory of a cotangent."""
    return any(g is not None and not isinstance(g.array, LevelArray) and np.may_share_memory(array, g.array)
               for g in grads)  # fmt: skip


def _references() -> int:
    found = []
    for k in range(len(held := [np.zeros(1)])):
        a = held[k]
        found.append(count(a))
    return found[0]


_OWN = alone(_references)


def check_saved(node: Any) -> None:
    """Raise RuntimeError if backward has written one of its saved tensors, and others share that memory."""
    saved = node._saved
    for k, packed in enumerate(saved if saved.__class__ is list else ()):
        if packed is not None and packed[1][0] != packed[2]:
            check_attribute(node, f"saved_tensors[{k}]", packed)


def check_attribute(node: Any, name: str, packed: tuple[Any, ...], more: int = 0) -> None:
    """The same for one tensor in an attribute of this name; ``more`` of the holders of its memory are ctx's."""
    counter, version = packed[1:3]
    if counter[0] != version and count(counter) > UNSHARED + 1 + more:
        raise _written(node, f"{name} in place, but others share", counter, version)


def check_cotangent(node: Any, t: Any, version: int, g: Any) -> None:
    """Raise RuntimeError for a cotangent that backward has changed, unless nobody else holds its memory."""
    if not now().records:
        several = isinstance(g, Bundle)
        if not any(t.array is a for a in (g.values() if several else (g,))):  # a number that became an array, say
            return
        watches = len(now().watches)
        looked_on = watches or passes.mixed
        own = _COTANGENT + node._frames + (2 + 2 * watches if looked_on else 0)  # `watch.run`, and each of them
        if several:
            own = _COTANGENT - 2  # not three frames hold it, but the bundle
        if t.array.base is None and count(t.array) <= own:
            return
    raise _written(node, "its grad_output in place, but other parts of the graph share", t._counter, version)


def _references_to_cotangent() -> int:
    """How many references `check_cotangent` counts when nobody else holds a cotangent."""

    def check(t: Any, g: Any) -> int:
        return count(t.array)

    def run(xp: Any, g: Any) -> int:
        grads = [as_tensor(g)]
        for t in grads:
            found = check(t, g)
        return found

    g = np.zeros(1)
    return run(None, g)


_COTANGENT = alone(_references_to_cotangent)


def _written(node: Any, what: str, counter: list[Any], version: int) -> RuntimeError:
    how = "through an array that was handed out" if int(counter[0]) == int(version) else "changed"
    return RuntimeError(
        f"{type(node).__name__}: backward changed {what} that memory: clone() it first\n"
        f"  {how} at {written_at(counter, int(version)) or 'a line that is not known'}"
    )


def bypass(t: Any, data: Any) -> None:
    """Let writes to ``data``, the ``.data`` of ``t``, be noticed where a Function's forward or backward asks for it."""
    if t.array.__class__ is np.ndarray and (now().listener is not None or (in_pass() and _runs_function())):
        export(t.array, t._counter, data)


_PASS = "gradwright.engine.backward"


def _runs_function() -> bool:
    """Whether it is a Function's backward that the pass has called, and no hook."""
    at = frame(2)
    while at is not None and (name := at.f_globals.get("__name__")) != "gradwright.engine.hooks":
        if name == "gradwright.function.ctx" or (name == _PASS and at.f_code.co_name == "_run"):  # called by the core
            return True
        at = at.f_back
    return False
