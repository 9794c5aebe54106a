"""The operations that GRADWRIGHT_ELEMENTWISE registers, from the loops that C++ has for their values and derivatives.

Each derivative that is given is an operation itself, with a factor u: u * f'(x) is the gradient of f, given that u of
its result. The derivative of u * f'(x) is f'(x) by u, and u * f''(x) by x: so one rule makes all orders.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gradwright.base import dtypes
from gradwright.engine.base import TensorBase, wrap
from gradwright.function.custom_op import CustomOp

Orders = tuple[int, int]
_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
_WHOLE = r"\d+[uUlL]*(?![\w.])"
_CHAIN = re.compile(rf"(?<![\w.])(?<![\d.][eE][-+]){_WHOLE}(?:\s*[*/]\s*{_WHOLE})+")
"""A product or quotient of whole numbers."""


def truncated(code: str) -> str:
    """What is wrong with C++ in which whole numbers are divided to what is none; "" if nothing is."""
    for chain in _CHAIN.finditer(code):
        if code[: chain.start()].rstrip().endswith(("*", "/")):
            continue  # what stands before it decides
        first, *rest = re.findall(r"[*/]?\s*\d+", chain[0])
        value = int(first)
        for step in rest:
            by = int(step[1:])
            if step[0] == "/" and (by == 0 or value % by):
                mend = re.sub(r"^(\d+)[uUlL]*", r"\1.0", chain[0])
                was = f"{value // by} in C++, which divides whole numbers to whole numbers" if by else "not defined"
                return f"{value}/{by} is {was}: write {mend}"
            value = value // by if step[0] == "/" else value * by
    return ""


def elementwise(module: str, name: str, kernels: Mapping[Orders, Callable[..., None]], inputs: int, place: str,
                expressions: str) -> Any:  # fmt: skip
    """The operation, whose loops are given by how often they differentiate by x and by y; the rest it makes of them.

    ``kernel(*arrays, out)`` writes into a new array. ``expressions`` are those of the macro, for the docstring.
    """
    made: dict[Orders, Any] = {}

    def derivative(by_x: int, by_y: int, *values: Any) -> Any:
        """u times a derivative, of (u, x) or (u, x, y): an operation on tensors, computed at once on arrays."""
        orders = by_x, by_y
        if orders not in kernels:
            which = "".join(["x"] * by_x + ["y"] * by_y)
            raise NotImplementedError(
                f"{name}(): its derivative by {which} is not given: add it to the macro that declares {name}, at "
                f"{place}"
            )
        if not any(isinstance(v, TensorBase) for v in values):
            return _computed(name, kernels[orders], values)
        if orders not in made:
            made[orders] = _scaled(module, name, kernels[orders], inputs, derivative, orders)
        return made[orders](*values)

    op = _operation(name, name, kernels[0, 0], ("x", "y")[:inputs])
    if inputs == 1 and (1, 0) in kernels:
        op.vjp(x=lambda xp, g, x: derivative(1, 0, g, x))
        op.jvp(x=lambda xp, t, x: derivative(1, 0, t, x))
    elif (1, 0) in kernels:
        op.vjp(x=lambda xp, g, x, y: derivative(1, 0, g, x, y), y=lambda xp, g, x, y: derivative(0, 1, g, x, y))
        op.jvp(x=lambda xp, t, x, y: derivative(1, 0, t, x, y), y=lambda xp, t, x, y: derivative(0, 1, t, x, y))
    what = "value and derivatives" if len(kernels) > 1 else "value"
    return _placed(op, module, f"Elementwise; its {what}: {expressions}\n\nRegistered in C++ at {place}.")


def _scaled(module: str, name: str, kernel: Callable[..., None], inputs: int, derivative: Callable[..., Any],
            orders: Orders) -> Any:  # fmt: skip
    """The operation u * (a derivative of the operation called ``name``)."""
    i, j = orders
    op: Any = _operation(name, f"{name}_{'x' * i}{'y' * j}", kernel, ("u", "x", "y")[: 1 + inputs])
    if inputs == 1:
        op.vjp(u=lambda xp, g, x: derivative(i, j, g, x), x=lambda xp, g, u, x: derivative(i + 1, j, g * u, x))
    else:
        op.vjp(
            u=lambda xp, g, x, y: derivative(i, j, g, x, y),
            x=lambda xp, g, u, x, y: derivative(i + 1, j, g * u, x, y),
            y=lambda xp, g, u, x, y: derivative(i, j + 1, g * u, x, y),
        )
    return _placed(op, module, f"u times a derivative of {name}.")


def _operation(name: str, title: str, kernel: Callable[..., None], inputs: Sequence[str]) -> CustomOp[..., Any]:
    """What a loop of the operation ``name`` computes of inputs of these names, as the operation ``title``."""

    def op(*tensors: Any) -> Any:
        for t in tensors:
            if not isinstance(t, TensorBase):
                raise TypeError(f"{name}(): expected a Tensor, but got {type(t).__name__}")
        return wrap(_computed(name, kernel, [t.array for t in tensors]))

    how = inspect.Parameter.POSITIONAL_OR_KEYWORD
    op.__name__ = op.__qualname__ = title
    op.__signature__ = inspect.Signature([inspect.Parameter(n, how) for n in inputs])  # type: ignore[attr-defined]
    return CustomOp(op, kind="elementwise")


def _placed(op: Any, module: str, doc: str) -> Any:
    for thing in (op, op.__wrapped__, op.function):
        thing.__module__, thing.__doc__ = module, doc
    return op


def _computed(name: str, kernel: Callable[..., None], values: Sequence[Any]) -> Any:
    """What a loop makes of arrays, which are broadcast."""
    arrays = [np.asarray(a) for a in values]
    d, shape = arrays[0].dtype, arrays[0].shape
    if d not in _FLOATS or any(a.dtype != d for a in arrays):
        found = " and ".join(dict.fromkeys(dtypes.of(a.dtype).name for a in arrays))
        raise RuntimeError(f"{name}(): expected float32 or float64 tensors, all of one dtype, but found {found}")
    if any(a.shape != shape for a in arrays):
        try:
            arrays = list(np.broadcast_arrays(*arrays))
        except ValueError:
            shapes = ", ".join(str([*a.shape]) for a in arrays)
            raise RuntimeError(f"{name}(): the shapes {shapes} cannot be broadcast together") from None
        shape = arrays[0].shape
    out = np.empty(shape, d)
    kernel(*arrays, out)
    return out
