"""What becomes of a Function's forward that has run, in one step: from what it returned to what `apply` returns.

Its outputs get their history, its saved tensors are packed, and those for a second derivative are kept.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from gradwright.base import dtypes
from gradwright.base.cpython.lent import is_held
from gradwright.base.cpython.references import alone, count
from gradwright.base.errors import kind
from gradwright.base.upward import slots
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.memory import layout, same, share, unwritten
from gradwright.engine.mode import now
from gradwright.engine.node import AccumulateGrad, Node, Output
from gradwright.engine.strict import warn
from gradwright.engine.version import at_version, bump, written_at
from gradwright.engine.view import View, alias_of, check_writable, rebase
from gradwright.function import ctx_attributes, of_containers
from gradwright.function.contract.containers import among, only_tensors
from gradwright.function.contract.reached import held_in, reachable
from gradwright.function.contract.signature import lacks_return
from gradwright.function.watched import replay
from gradwright.function.watched.in_forward import Inside

_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)


def unrecorded(node: Any, args: Sequence[Any], result: Any) -> Any:
    """The result of `apply` where nothing is recorded."""
    outputs = _outputs(node, result)
    if node._dirty:
        _check_dirty(node, outputs, False)
    mine = _viewed(outputs, args, node._dirty)
    return mine[0] if isinstance(result, TensorBase) else of_containers.returned(node, result, mine)


def recorded(node: Any, inside: Inside, versions: Sequence[Any], result: Any) -> Any:
    """The result of `apply`, with ``node`` for its history, since forward ran ``inside``.

    Raises RuntimeError if an argument, which was at one of the ``versions``, was changed in place and that was not
    declared.
    """
    args, single = inside.args, isinstance(result, TensorBase)
    outputs = (result,) if single else _outputs(node, result)
    tensors = single or only_tensors(result)
    if not tensors:
        _check_arrays(node, result)
    for a, version in zip(args, versions):  # noqa: B905 - the check costs as much as the loop
        if version is not None and a._counter[0] != version:
            _check_changed(node, args, a, version, outputs)
    saved, dirty, flat = node._to_save, node._dirty, node._flat
    if dirty:
        _check_dirty(node, outputs, True)
    mine = _owned(node, outputs, args, single)
    ports = None
    if len(outputs) > 1:
        ports = node._ports = {}
    metas: list[Any] = []
    node._outputs = metas
    numbers: dict[int, int] = {}
    for k, out in enumerate(mine):
        if not tensors and not isinstance(out, TensorBase):
            metas.append(None)
            continue
        array = out.array
        d = array.dtype
        metas.append((array.shape, d))
        if d is not _F32 and d is not _F64 and dtypes.of(d).category < dtypes.FLOAT:
            continue
        original = outputs[k]
        if flat and among(original, flat):
            continue
        if out is original or not among(original, args):  # an input that is returned is saved as the input
            numbers[id(original)] = k
        history: Node = node
        if ports is not None:
            history = Output(node, k)
            ports[k] = weakref.ref(history)
        if dirty and out._view is not None and among(original, dirty):
            rebase(out._view.base, out._view.steps, wrap(array, history, out._counter))
        else:
            out._node = history
    start = inside.start
    unknown: list[Any] = []  # what was saved and has no history from before
    packs: list[Any] = []
    node._saved, node._given = packs, {}
    for t in saved:
        if t is None:
            packs.append(None)
            continue
        made = t._node
        if made is None or made._seq >= start or mine is not outputs:
            made = numbers.get(id(t), made)
            if made.__class__ is int:
                t = mine[made]
            if made is None or (made.__class__ is not int and made._seq >= start):
                unknown.append(t)
        if made.__class__ is not AccumulateGrad and made.__class__ is not int:
            node._given[len(packs)] = weakref.ref(t)
        packs.append((t.array, t._counter, t._counter[0] and at_version(t), made))
    if own := node.__dict__:
        unknown += ctx_attributes.keep(node, args, outputs)
        if own:
            node._left = own.copy()
    if unknown or inside.left or inside.found is not None:
        node._replay = replay.keep(node, inside, packs, outputs, unknown)
    node._to_save = ()
    if dirty or flat:  # they may be this node's own outputs, which would then keep it alive
        node._dirty = node._flat = ()
    return mine[0] if single else of_containers.returned(node, result, mine)


def _outputs(node: Any, result: Any) -> tuple[Any, ...]:
    if isinstance(result, TensorBase):
        return (result,)
    return result if only_tensors(result) else of_containers.outputs(node._function, node, result)


def _viewed(outputs: tuple[Any, ...], args: Sequence[Any], dirty: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs where nothing is recorded: an input that is returned becomes a view of itself, without history."""
    return tuple([
        o if not isinstance(o, TensorBase) or among(o, dirty) else _view(o, None) if not among(o, args)
        else _view(o, o) if o._node is None and (o._view is None or o._view.base._node is None)
        else _of_class(o, alias_of(o))
        for o in outputs
    ])  # fmt: skip


def _owned(node: Any, outputs: tuple[Any, ...], args: Sequence[Any], single: bool, measured: Any = None) -> Any:
    """The outputs as they may bear this Function's history: in memory of their own, or views of inputs.

    Most are new: then nobody else holds the array, and it has never been written in place.
    """
    mine = outputs
    for k, o in enumerate(outputs):
        if not isinstance(o, TensorBase):
            continue
        version, array = o._counter[0], o.array
        if version.__class__ is int and version == 0 and o._view is None and getattr(array, "base", None) is None:
            more = count(array) - _OWN_ARRAY
            if more <= 0 or more <= sum(v is array for v in node.__dict__.values()):
                for a in args:
                    if a is o:
                        break
                else:
                    continue
        array = None
        places = count(o)
        places -= sum(t is o for t in (*outputs, *node._to_save, *node._flat, *node.__dict__.values()))
        if measured is not None:
            measured(places)
        elif not among(o, node._dirty):
            mine = (*mine[:k], _settled(node, o, args, places > _OWN[single]), *mine[k + 1 :])
    return mine


def _settled(node: Any, o: Any, args: Sequence[Any], held: bool) -> Any:
    """An output that may share its memory: with an input, then a view of that; with anybody else, then a copy.

    Whether the tensor itself is ``held`` by others matters if it has been written: it may be so again. What is on ctx
    is guarded there.
    """
    x = next((a for a in args if isinstance(a, TensorBase) and (a is o or same(a, o))), None)
    if x is not None:
        return _view(o, x)
    if o._view is None:
        held = (held and o._counter[0] > 0) or is_held(o.array)
    else:
        base = o._view._base
        array = base.array
        held = count(base) > _OWN_ARRAY or count(array) > _OWN_ARRAY + (getattr(o.array, "base", None) is array)
    if held and not any(watch.holds for watch in now().watches):
        on_ctx = [*node._to_save, *(p for n, v in vars(node).items() for _, p, sure in held_in(n, v) if sure)]
        shown = [layout(p) if isinstance(p, TensorBase) else p for p in on_ctx if p is not None]
        if not any(np.may_share_memory(layout(o), array) for array in shown):
            return wrap(unwritten(o.array))
    return _view(o, None)


def _view(o: Any, x: Any) -> Any:
    """An output that lies in the memory of the input ``x``, or was made as a view, as one that may not be written."""
    if o is not x and o._view is not None and (x is None or o._counter is x._counter):
        base = o._view.base
    elif x is None:
        return o
    else:
        base = x if x._view is None else x._view.base
        o = _of_class(o, share(wrap(o.array, None, x._counter), o))
    o._view = View(base, (), "function")
    return o


def _of_class(o: Any, shown: Any) -> Any:
    """``shown`` in the class that operations on ``o`` give: that of a user's says which."""
    if type(o) is not slots.tensor and hasattr(o, "view_as"):
        shown.__class__ = type(o.view_as(o))
    return shown


def _references(single: bool) -> int:
    """In how many places `_owned` finds an output that only `apply` and its own call hold."""
    found: list[int] = []
    node = SimpleNamespace(_to_save=(), _flat=(), _dirty=())

    def recorded(result: Any) -> None:
        outputs = (result,) if single else result
        _owned(node, outputs, (), single, found.append)

    def apply() -> None:
        result: Any = wrap(None, None, [1])
        if not single:
            result = (result,)
        recorded(result)

    apply()
    return found[0]


_BY_DATA = re.compile(r"[\w.]+\.data(\[[^]]*\])*\s*([-+*/]?=[^=]|\.\w+_\()")
"""A line that writes a tensor through its ``.data``."""


def _check_changed(node: Any, args: Sequence[Any], changed: Any, version: int, outputs: Sequence[Any]) -> None:
    """Raise RuntimeError for an input that forward has changed in place, unless that was declared.

    What needs no gradient and is not returned may be changed: it is a buffer, such as a running mean. What is changed
    past the version counter, through ``.data``, and returned, as PyTorch's users do on purpose, is only warned of.
    """
    counter = changed._counter
    if any(t._counter is counter for t in node._dirty):
        return
    k = next(k for k, a in enumerate(args) if a is changed)
    if not node._needs[k] and not any(isinstance(o, TensorBase) and o._counter is counter for o in outputs):
        return
    name = node._argument(k)
    past = int(counter[0]) == int(version)
    how = "through an array that was handed out" if past else "changed"
    place = written_at(counter, int(version)) or "a line that is not known"
    by_data = not isinstance(place, str) and _BY_DATA.match(place.source)
    if past and by_data and any(o is changed for o in outputs):  # as torchdiffeq does, to be unnoticed
        counter[0] = int(version)
        warn(
            f"{node._function.__name__}: forward changed its input {name!r} in place past the version counter, and "
            f"returns it.\n  {how} at {place}\nWhat has saved it before is not told; its gradient is what backward "
            f"returns. ctx.mark_dirty({name}) says so."
        )
        return
    raise RuntimeError(
        f"{node._function.__name__}: forward changed its input {name!r} in place and did not say so.\n"
        f"  {how} at {place}\n"
        f"Change a clone() of it; or call ctx.mark_dirty({name}) and return {name}, if the caller is to see the change."
    )


def _check_arrays(node: Any, result: Any) -> None:
    """Warn of no outputs, and of ones that are arrays, through which no gradient flows; TypeError if all are."""
    if result is None and lacks_return(getattr(node._function, "_user", node._function).forward):
        warn(f"{node._function.__name__}: forward returned nothing: there is no return in it.\n"
             f"  forward is at {node._written()}")  # fmt: skip
    found = [part for _, part in reachable("", result)]
    numbers = [part for part in found if not isinstance(part, TensorBase)]
    arrays = [part for part in numbers if isinstance(part, (np.ndarray, np.generic)) and part.dtype.kind in "fc"]
    if not arrays:
        return
    message = (
        f"{node._function.__name__}: forward returned a NumPy {kind(arrays[0])}, through which no gradient flows.\n"
        f"  forward is at {node._written()}\n"
        "Return gradwright.from_numpy(...) of it, if one is to."
    )
    if len(numbers) == len(found):
        raise TypeError(message)
    warn(message)


def _check_dirty(node: Any, outputs: Sequence[Any], needed: bool) -> None:
    for t in node._dirty:
        if not among(t, outputs):
            raise RuntimeError("Some elements marked as dirty during the forward method were not returned as output. "
                               "The inputs that are modified inplace must all be outputs of the Function.")  # fmt: skip
        check_writable(t, needed)
        bump(t._counter)  # whatever it was written with
    if any(t._view is not None for t in node._dirty) and len(outputs) > 1 and needed:
        raise RuntimeError("If your Function modifies inplace an input that is a view of another Tensor, your Function "
                           "cannot return more than one Tensor. Clone the input, or split the Function.")  # fmt: skip


_OWN = {single: alone(partial(_references, single)) for single in (True, False)}


def _references_to_array() -> int:
    """In how many places it finds the array of such an output."""
    o = wrap(np.zeros(1))
    array = o.array
    return count(array)


_OWN_ARRAY = alone(_references_to_array)
