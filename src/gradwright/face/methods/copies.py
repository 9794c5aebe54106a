"""Copies of tensors, by `copy` and `pickle`: what comes along, and what shares memory with what."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from gradwright.engine import memory
from gradwright.engine.base import TensorBase, unpickled, warn_of_lost_history, wrap
from gradwright.engine.levels import moves
from gradwright.engine.node import is_input
from gradwright.engine.strict import warn
from gradwright.engine.view import alias_of
from gradwright.face.functions.shape import clone
from gradwright.face.methods.subclasses import attributes
from gradwright.function.contract.reached import slots
from gradwright.function.watched.in_backward import made_of


def is_alone(t: Any) -> bool:
    """Whether no derivative goes through ``t``: a leaf, and no input of a function that is differentiated now."""
    return t.is_leaf and not moves(t.array) and not is_input(t._node)


def shallow(t: Any, out: Any) -> Any:
    """``out``, which shows what ``t`` does, as its copy by ``copy.copy``: its own gradient has the same values."""
    _warn_of_hooks(t)
    grad = _gradient(t)
    out._grad = grad if grad is None else grad.clone()
    out.__dict__.update(attributes(t))
    return _filled(out, _in_slots(t))


def deep(t: Any, out: Any, memo: dict[Any, Any], its: dict[str, Any]) -> Any:
    """``out``, which shows what `in_own_memory` gave of ``t``, as its deep copy, with its gradient."""
    memo[id(t)] = out
    out._grad = copy.deepcopy(_gradient(t), memo)
    out.__dict__.update(copy.deepcopy(its, memo))
    return _filled(out, copy.deepcopy(_in_slots(t), memo))


def pickled(t: Any) -> Any:
    """What ``t`` is made of again: class, values, whether it requires grad, its gradient, what was set on it."""
    if not t.is_leaf:
        warn_of_lost_history(t, "pickled")
    _warn_of_hooks(t)
    held = _in_slots(t)
    made = type(t), t.array, t.requires_grad, _gradient(t)
    return unpickled, made, (attributes(t), held) if held else attributes(t) or None


def _in_slots(t: Any) -> dict[str, Any]:
    """What lies in the slots of classes of the user's."""
    own = [name for name in slots(type(t)) if name not in TensorBase.__slots__]
    return {name: getattr(t, name) for name in own if hasattr(t, name)}


def _filled(out: Any, held: dict[str, Any]) -> Any:
    for name, value in held.items():
        setattr(out, name, value)
    return out


def _gradient(t: Any) -> Any:
    """The gradient of a leaf, without a history of its own."""
    grad = t.grad if t.is_leaf else None
    return grad if grad is None or grad.is_leaf else grad.detach()


def _warn_of_hooks(t: Any) -> None:
    for hook in (t._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warn(f"backward hook {hook!r} on tensor will not be serialized: register it on the copy. If this is "
                 "expected, set hook.__torch_unserializable__ = True")  # fmt: skip


def in_own_memory(t: Any, memo: dict[Any, Any]) -> Any:
    """The values of ``t`` in memory of their own; copies that have a memo in common share it as the originals did."""
    return made_of(t, _in_own_memory(alias_of(t), memo.setdefault("torch", {})), "deepcopy()")


def _in_own_memory(t: Any, known: dict[int, Any]) -> Any:
    array = t.array
    if type(array) is np.ndarray and array.size:
        whole = memory.root(array)
        alone = array is whole and array.flags.c_contiguous
        if id(whole) not in known:
            held = np.empty(array.shape, array.dtype) if alone else np.empty(whole.nbytes, np.uint8)
            known[id(whole)] = held, [0], whole
        held, counter, _ = known[id(whole)]
        if not alone or held.dtype != array.dtype:
            start = array.__array_interface__["data"][0] - byte_bounds(whole)[0]
            held = np.ndarray(array.shape, array.dtype, held, start, array.strides)
        held[...] = array  # so much of the whole is touched
        return wrap(held, None, counter)
    part = getattr(t, "_part", None)
    if part is None:
        return clone(t)
    held, counter, _ = known.setdefault(id(part.memory), (memory.Memory(part.memory.array, False), [0], part.memory))
    t._counter = counter
    memory.moved_to(t, held, array)
    return t
