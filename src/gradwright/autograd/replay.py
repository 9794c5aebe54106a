"""Running forward again, recorded, so that what it kept for backward has its history.

A Function's forward is not recorded. What it keeps that is neither an input nor an output, an *intermediate*, has no
history, and a recorded backward that uses it would take it for a constant. So a node with intermediates also keeps what
forward was called with; a recorded backward runs forward again on that and gets the ctx that this leaves.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from types import CellType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from gradwright.autograd import containers
from gradwright.autograd.base import TensorBase, wrap
from gradwright.autograd.grad_mode import guarding, record, recording, watching
from gradwright.autograd.record import freed, pack, unpack
from gradwright.autograd.saved import allow_mutation_on_saved_tensors
from gradwright.autograd.signature import has_setup
from gradwright.backends.generator import shared
from gradwright.dtypes import FLOAT, of
from gradwright.errors import size

_DEPTH = 8
PLAIN = containers.PLAIN - {FunctionType}
"""The classes of most attributes that hold no tensors."""
_OBJECTS = 100
"""More objects in one attribute than this are not looked into."""
_OWN = ("gradwright", "builtins", "numpy")
_EMPTY = CellType()
_TENSOR: Any = object()
"""Where a tensor was among the arguments."""


class Replay:
    """What it takes to run the forward of a node again; the tensors among the arguments are with what the node saves.

    Attributes:
        arguments: those that are no tensors, in their places.
        count: how many tensors `save_for_backward` was given; the arguments are saved after them.
        random: the state that each source of random numbers had.
    """

    __slots__ = ("arguments", "count", "fresh", "random")

    def __init__(self, arguments: list[Any], count: int, fresh: frozenset[int], random: dict[Any, bytes]) -> None:
        self.arguments, self.count, self.fresh, self.random = arguments, count, fresh, random


def keep(node: Any, inside: Any, packs: list[Any], outputs: Sequence[Any]) -> Replay | None:
    """If ``node`` has intermediates, what their replay takes; the arguments are added to ``packs``."""
    _, args, nodes, start = inside.call
    left = inside.left
    known = (*args, *(o for o in outputs if all(o is not f for f in node._flat)))
    for t in node._to_save:
        if t is not None and _has_no_history(t, start) and _is_new(t, known):
            break
    else:
        for name, value in node.__dict__.items():
            if _is_new(value, known) and any(_matters(p, start, left, known) for _, p in parts(name, value)):
                break
        else:
            return None
    count = len(packs)
    written = getattr(inside, "written", {})
    arguments: list[Any] = []
    for k, (a, source) in enumerate(zip(args, nodes, strict=True)):
        if isinstance(a, TensorBase):
            packs.append((written[k], [0], 0, source) if k in written else (*pack(a)[:3], source))
            a = _TENSOR
        arguments.append(a)
    return Replay(arguments, count, frozenset(written), getattr(inside, "random", {}))


def _has_no_history(t: Any, start: int) -> bool:
    """Whether what ``t`` depends on is not known, or only from inside forward on."""
    node = t._node  # that of a view that was made without recording has been made inside, too
    return (node is None or node._seq >= start) and of(t.array.dtype).category >= FLOAT


def _is_new(value: Any, known: Sequence[Any]) -> bool:
    return all(value is not k for k in known)


def _matters(part: Any, start: int, left: bool, known: Sequence[Any]) -> bool:
    if isinstance(part, TensorBase):
        return _has_no_history(part, start) and _is_new(part, known)
    return left and _is_new(part, known)


def parts(name: str, value: Any, depth: int = _DEPTH) -> Iterator[tuple[str, Any]]:
    """The tensors, and the arrays and numbers of floating point, in an attribute of ctx, with their names."""
    if isinstance(value, (TensorBase, float, complex, np.floating)):
        yield name, value
    elif isinstance(value, np.ndarray):
        if value.dtype.kind in "fc":
            yield name, value
    elif depth and isinstance(value, (list, tuple)):
        for k, v in enumerate(value):
            yield from parts(f"{name}[{k}]", v, depth - 1)
    elif depth and isinstance(value, dict):
        for key, v in value.items():
            yield from parts(f"{name}[{key!r}]", v, depth - 1)
    elif depth and isinstance(value, SimpleNamespace):
        for key, v in vars(value).items():
            yield from parts(f"{name}.{key}", v, depth - 1)
    elif depth and dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from parts(f"{name}.{field.name}", getattr(value, field.name, None), depth - 1)
    elif depth:
        yield from _hidden(name, value)


def _hidden(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The tensors and arrays in functions, methods, partials and objects of the user's classes."""
    found: list[tuple[str, Any]] = [(name, value)]
    seen: set[int] = set()
    while found:
        name, value = found.pop()
        if isinstance(value, (TensorBase, np.ndarray, list, tuple, dict)):
            yield from ((n, v) for n, v in parts(name, value) if not isinstance(v, (float, complex, np.floating)))
        elif id(value) not in seen and len(seen) < _OBJECTS:
            seen.add(id(value))
            found += [(f"{name}.{key}", v) for key, v in held(value).items() if v is not None]


def held(value: Any) -> dict[str, Any]:
    """What is in a function's closure, or in an object."""
    if isinstance(value, FunctionType):
        cells = zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
        return {name: cell.cell_contents for name, cell in cells if cell != _EMPTY}
    if isinstance(value, MethodType):
        return {"__self__": value.__self__, "__func__": value.__func__}
    if isinstance(value, functools.partial):
        return {"func": value.func, "args": value.args, **value.keywords}
    if isinstance(value, (type, ModuleType)) or type(value).__module__.partition(".")[0] in _OWN:
        return {}
    slots = [name for name in getattr(type(value), "__slots__", ()) if name != "__dict__"]
    return getattr(value, "__dict__", {}) | {name: getattr(value, name, None) for name in slots}


def again(node: Any) -> Any:
    """The ctx that forward leaves when it is run again, recorded.

    Raises RuntimeError if an argument was changed in place since, or the result is another one.
    """
    replay, cls = node._replay, node._function
    if node._saved is None or len(node._saved) < replay.count:  # or cleared
        raise freed(node)
    args = _arguments(node, replay)
    ctx = object.__new__(cls._node_class)
    ctx._seq, ctx._next, ctx._hooks = node._seq, node._next, None
    ctx._saved = ctx._to_save = ctx._dirty = ctx._flat = ()
    ctx._materialize, ctx._ports, ctx._replay = True, node._ports, None
    ctx._metas, ctx._outputs, ctx._needs = node._metas, node._outputs, node.needs_input_grad
    states = {source: source.get_state() for source in {*replay.random, shared} if source.is_on}
    guard, before = guarding.get(), record(True)
    guard.replaying = recording.get()
    copies = any(isinstance(w, allow_mutation_on_saved_tensors) for w in watching.get())
    try:
        for source, state in replay.random.items():
            source.set_state(state)
        with nullcontext() if copies else allow_mutation_on_saved_tensors():  # forward may write in place as it likes
            if has_setup(cls):
                result = cls.forward(*args)
                cls.setup_context(ctx, tuple(args), result)
            else:
                result = cls.forward(ctx, *args)
    finally:
        if isinstance(error := sys.exc_info()[1], Exception):
            error.add_note(
                f"raised while {cls.__name__}.forward was run again, recorded, for a backward with create_graph=True "
                "that needs the history of what forward kept: save only inputs and outputs instead, or mark backward "
                "with once_differentiable"
            )
        recording.set(before)
        guard.replaying = None
        for source, state in states.items():
            source.set_state(state)
    _hang(node, ctx, args, result if type(result) is tuple else (result,))
    _compare(node, ctx)
    return ctx


def _arguments(node: Any, replay: Replay) -> list[Any]:
    args, k = [], replay.count
    for i, a in enumerate(replay.arguments):
        if a is _TENSOR:
            packed = node._saved[k]
            k += 1
            if i in replay.fresh:
                a = wrap(packed[0].copy(), packed[3])  # forward will change it again
            else:
                a = unpack(node, packed, f"the argument {node._argument(i)!r}")
        args.append(a)
    return args


def _hang(node: Any, ctx: Any, args: Sequence[Any], outputs: Sequence[Any]) -> None:
    """Make outputs the outputs of ``node``: their derivative is the one that the user declares."""
    for k, out in enumerate(outputs):
        if not isinstance(out, TensorBase):
            continue
        if not _is_new(out, args) and _is_new(out, ctx._dirty):
            continue
        if of(out.array.dtype).category < FLOAT:
            out._node = None
        elif _is_new(out, ctx._flat):  # one that has no derivative is an intermediate to backward
            out._node = node._port(k)


def _kept(node: Any, saved: Sequence[Any]) -> dict[str, Any]:
    """What is on a ctx, by name."""
    found = {f"saved_tensors[{k}]": t for k, t in enumerate(saved) if t is not None}
    return found | {n: v for name in _names(node) for n, v in parts(name, getattr(node, name))}


def _names(node: Any) -> list[str]:
    return [*vars(node), *getattr(node, "_attributes", ())]


def _compare(node: Any, ctx: Any) -> None:
    """Raise RuntimeError if forward has not left what it left the first time; hand on what was added since."""
    before, now = node._values(), ctx._to_save
    if len(before) != len(now):
        raise _differs(node, "saved_tensors", f"was {len(before)} tensors, and is {len(now)}")
    first, second = _kept(node, before), _kept(ctx, now)
    for name, value in second.items():
        if name not in first:
            raise _differs(node, name, "was not there the first time")
        a, b = _values(first[name]), _values(value)
        if a.shape != b.shape or a.dtype != b.dtype:
            raise _differs(node, name, f"was {size(a.shape)} of {a.dtype}, and is {size(b.shape)} of {b.dtype}")
        if a.dtype.kind in "fc":
            rough = float(np.finfo(a.dtype).eps) ** 0.5
            same = np.allclose(a, b, rough, rough * float(np.abs(a[np.isfinite(a)]).max(initial=0)), equal_nan=True)
        else:
            same = np.array_equal(a, b)
        if not same and isinstance(value, float) and name in vars(ctx) and not guarding.get().values:
            setattr(ctx, name, first[name])  # it was not made of a tensor: the time, say
        elif not same:
            raise _differs(node, name, "has other values")
    for name in _names(node):
        if name not in vars(ctx):
            setattr(ctx, name, getattr(node, name))


def _values(value: Any) -> Any:
    array = np.asarray(value.array if isinstance(value, TensorBase) else value)
    return array.astype(np.float32) if of(array.dtype).category >= FLOAT and array.dtype.kind not in "fc" else array


def _differs(node: Any, name: str, how: str) -> RuntimeError:
    return RuntimeError(
        f"{node._function.__name__}: forward gives another result when it is run again: ctx.{name} {how}. A recorded "
        "backward (create_graph=True) runs forward again, because it needs the history of what forward kept.\n"
        f"  forward is at {node._written()}\n"
        "Let forward depend on its arguments alone, and draw random numbers with gradwright's functions; or save only "
        "inputs and outputs, and compute the rest again in backward; or mark backward with once_differentiable."
    )
