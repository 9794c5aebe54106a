"""A function of any library's arrays, seen as one of NumPy's: what it is handed and what it returns is moved."""

from __future__ import annotations

from functools import update_wrapper
from typing import Any

import numpy as np

from gradwright import backends
from gradwright.backends.devices import CPU, device_of
from gradwright.engine.base import wrap
from gradwright.engine.node import AccumulateGrad
from gradwright.face.xp.creation import moved
from gradwright.function.contract.containers import put_together, take_apart
from gradwright.function.function import Function


def on_host(func: Any, inputs: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """A function, or a Function, and its inputs, tensors among them over NumPy's arrays; as they are where all are.

    The function is handed its inputs where they were, and its outputs are read to the CPU, both with their history. So
    its derivatives are those of ``func``, and inputs may be moved in place.
    """
    leaves, rest = _apart(inputs)
    devices = [device_of(t.array) for t in leaves]
    if all(d == CPU for d in devices):
        return func, inputs

    call = func.apply if isinstance(func, type) and issubclass(func, Function) else func

    def hosted(*arguments: Any) -> Any:
        given, form = _apart(arguments)
        there = put_together(form, (moved(t, d) for t, d in zip(given, devices, strict=True)))
        found, form = _apart(call(*there))
        return put_together(form, (moved(t, CPU) for t in found))

    update_wrapper(hosted, call)
    if hasattr(call, "__self__"):  # the Function whose apply it is
        vars(hosted)["__self__"] = call.__self__
    here = {id(t): t if d == CPU else _copy(t) for t, d in zip(leaves, devices, strict=True)}
    return hosted, put_together(rest, (here[id(t)] for t in leaves))


def _apart(value: Any) -> tuple[list[Any], Any]:
    leaves: list[Any] = []
    return leaves, take_apart(value, leaves)


def _copy(t: Any) -> Any:
    copy = wrap(np.array(backends.to_host(t.array)))
    if t._node is not None:
        copy._node = AccumulateGrad(copy)
    return copy
