"""What becomes of a Function's forward that has run: its outputs get their history, and what it has saved is packed."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradwright import dtypes
from gradwright.contract.contents import among
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.memory import share
from gradwright.engine.node import Node, Output
from gradwright.engine.view import View, rebase
from gradwright.function import ctx_attributes
from gradwright.guards import replay
from gradwright.guards.in_forward import Inside

_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)


def attach(node: Any, args: Sequence[Any], out: Any, inside: Inside) -> None:
    """`attach_all` where there is one output, which forward has made, and nothing is declared of it."""
    array = out.array
    d = array.dtype
    node._outputs = [(array.shape, d)]
    if d is _F32 or d is _F64 or dtypes.of(d).category >= dtypes.FLOAT:
        out._node = node
    packs: list[Any] = []
    for t in node._to_save:
        if t is None:
            packs.append(None)
        else:
            made = t._node
            packs.append((t.array, t._counter, +t._counter[0], 0 if made is node else made))
    _keep(node, args, (out,), inside, packs)


def attach_all(node: Any, args: Sequence[Any], outputs: tuple[Any, ...], inside: Inside) -> tuple[Any, ...]:
    """The outputs with ``node`` as their history, since forward ran ``inside``; what was saved is packed."""
    saved, dirty, flat = node._to_save, node._dirty, node._flat
    mine = owned(node, args, outputs)
    packs: list[Any] = [None if t is None else (t.array, t._counter, +t._counter[0], t._node) for t in saved]
    node._outputs = [(o.array.shape, o.array.dtype) if isinstance(o, TensorBase) else None for o in mine]
    if len(outputs) > 1:
        node._ports = {}
    numbers: dict[int, int] = {}
    for k, original in enumerate(outputs):
        out = mine[k]
        if not isinstance(out, TensorBase):
            continue
        d = out.array.dtype
        if d is not _F32 and d is not _F64 and dtypes.of(d).category < dtypes.FLOAT:
            continue
        if flat and among(original, flat):
            continue
        history: Node = node
        if node._ports is not None:
            history = Output(node, k)
            node._ports[k] = weakref.ref(history)
        if dirty and out._view is not None and among(original, dirty):
            rebase(out._view.base, out._view.steps, wrap(out.array, history, out._counter))
        else:
            out._node = history
        numbers[id(original)] = k
    for j, t in enumerate(saved):
        k = numbers.get(id(t), -1)
        if k >= 0:
            packs[j] = (*packs[j][:3], k)
    _keep(node, args, outputs, inside, packs)
    if dirty or flat:  # they may be this node's own outputs, which would then keep it alive
        node._dirty = node._flat = ()
    return mine


def _keep(node: Any, args: Sequence[Any], outputs: tuple[Any, ...], inside: Inside, packs: list[Any]) -> None:
    """Keep for backward what was saved, and is packed, and the attributes; for its replay what that takes."""
    node._saved = packs
    start, found = inside.call[3], False
    for t, packed in zip(node._to_save, packs):  # noqa: B905 - the check costs as much as the loop
        if packed is not None and (made := packed[3]).__class__ is not int and (made is None or made._seq >= start):
            found = found or replay.is_intermediate(t, node, start, args, outputs)
    own = node.__dict__
    if own:
        found = ctx_attributes.keep(node, args, outputs, start) or found
        if own:
            node._left = own.copy()
    if found or inside.left or inside.found is not None:
        node._replay = replay.keep(node, inside, packs, outputs, found)
    node._to_save = ()


def owned(node: Any, args: Sequence[Any], outputs: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs as they may bear this Function's history: an input returned as it came becomes a view of itself."""
    for o in outputs:
        if isinstance(o, TensorBase) and (o._view is not None or among(o, args)):
            return tuple([_own(o, args, node._dirty) if isinstance(o, TensorBase) else o for o in outputs])
    return tuple(outputs)


def _own(o: Any, args: Sequence[Any], dirty: Sequence[Any]) -> Any:
    returned = among(o, args)
    if not returned and o._view is None:
        return o
    if among(o, dirty):
        return o
    base = o if o._view is None else o._view.base
    o = share(wrap(o.array, None, o._counter), o) if returned else o
    o._view = View(base, (), "function")
    return o
