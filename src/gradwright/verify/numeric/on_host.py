"""A function of any library's arrays as one of NumPy's: its arguments and results are moved."""

from __future__ import annotations

from functools import update_wrapper
from typing import Any

import numpy as np

from gradwright import backends
from gradwright.backends.devices import CPU, device_of
from gradwright.engine.base import wrap
from gradwright.face.xp.creation import moved
from gradwright.function.function import Function
from gradwright.verify.numeric.jacobian import exchanged, leaf, tensors


def on_host(func: Any, inputs: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """A function, or a Function, and its inputs, tensors among them over NumPy's arrays; as they are where all are.

    The function is handed its inputs where they were, and its outputs are read to the CPU, both with their history. So
    its derivatives are those of ``func``, and inputs may be moved in place.
    """
    devices = [device_of(t.array) for t in tensors(inputs)]
    if all(d == CPU for d in devices):
        return func, inputs

    call = func.apply if isinstance(func, type) and issubclass(func, Function) else func

    def hosted(*arguments: Any) -> Any:
        left = iter(devices)
        return exchanged(call(*exchanged(arguments, lambda t: moved(t, next(left)))), lambda t: moved(t, CPU))

    update_wrapper(hosted, call)
    if hasattr(call, "__self__"):  # the Function whose apply it is
        vars(hosted)["__self__"] = call.__self__
    here: dict[int, Any] = {}
    return hosted, exchanged(inputs, lambda t: here.setdefault(id(t), _on_cpu(t)))


def _on_cpu(t: Any) -> Any:
    if device_of(t.array) == CPU:
        return t
    return (wrap if t._node is None else leaf)(np.array(backends.to_host(t.array)))
