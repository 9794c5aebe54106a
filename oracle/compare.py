"""Are two results the same? What differs, in a line."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import gradwright
from oracle.convert import numpy_of

TOLERANCE = {"float16": 2e-2, "bfloat16": 5e-2, "float32": 1e-4, "complex64": 1e-4, "float64": 1e-7, "complex128": 1e-7}
"""Relative to the largest number of the expected result, and to each number, by the dtype of the result."""


def tensors_in(result: Any) -> list[Any]:
    """The tensors of a result, PyTorch's or gradwright's, in order."""
    if isinstance(result, (torch.Tensor, gradwright.Tensor)):
        return [result]
    return [t for part in result for t in tensors_in(part)] if isinstance(result, (tuple, list)) else []


def structure_difference(expected: Any, got: Any) -> str | None:
    """Tensors where there should be tensors, sequences of the same kind, length and field names elsewhere."""
    if isinstance(expected, (torch.Tensor, gradwright.Tensor)):
        return None if isinstance(got, gradwright.Tensor) else f"expected a tensor, got {_kind(got)}"
    if isinstance(expected, (tuple, list)):
        base = list if isinstance(expected, list) else tuple
        if not isinstance(got, base):
            return f"expected a {base.__name__}, got {_kind(got)}"
        if len(expected) != len(got):
            return f"expected {len(expected)} results, got {len(got)}"
        for name in getattr(type(expected), "__match_args__", ()):
            if not hasattr(got, name):
                return f"the result has no field {name!r}"
        return next((d for e, g in zip(expected, got, strict=True) if (d := structure_difference(e, g))), None)
    same = type(expected) is type(got) and (expected == got or expected != expected)  # the latter: nan
    return None if same else f"expected {expected!r}, got {_kind(got)}"


def dtype_difference(expected: Any, got: Any) -> str | None:
    """The dtype of each tensor of two results of the same structure."""
    for e, g in zip(tensors_in(expected), tensors_in(got), strict=True):
        if str(e.dtype) != str(g.dtype):
            return f"expected {e.dtype}, got {g.dtype}"
    return None


def shape_difference(expected: Any, got: Any) -> str | None:
    """The shape of each tensor, and whether it requires grad."""
    for e, g in zip(tensors_in(expected), tensors_in(got), strict=True):
        if tuple(e.shape) != tuple(g.shape):
            return f"expected shape {[*e.shape]}, got {[*g.shape]}"
        if e.requires_grad != g.requires_grad:
            return f"expected requires_grad={e.requires_grad}, got {g.requires_grad}"
    return None


def value_difference(expected: Any, got: Any, slack: float = 1.0) -> str | None:
    """The numbers of each tensor, to `TOLERANCE` times ``slack``; None in a list of gradients stands for zeros."""
    for place, (e, g) in enumerate(zip(expected, got, strict=True)):
        difference = _numbers(e, g, slack)
        if difference:
            return difference if len(expected) == 1 else f"number {place}: {difference}"
    return None


def _numbers(expected: Any, got: Any, slack: float) -> str | None:
    if expected is None and got is None:
        return None
    e = None if expected is None else numpy_of(expected)
    g = None if got is None else numpy_of(got)
    e = np.zeros_like(g) if e is None else e
    g = np.zeros_like(e) if g is None else g
    if e.shape != g.shape:
        return f"expected shape {[*e.shape]}, got {[*g.shape]}"
    names = {str(t.dtype).rpartition(".")[2] for t in (expected, got) if t is not None}
    tolerance = slack * max((TOLERANCE.get(n, 0.0) for n in names), default=0.0)
    if e.dtype.kind not in "fc" and g.dtype.kind not in "fc":
        wrong = e != g
    else:
        with np.errstate(all="ignore"):
            finite = np.abs(e[np.isfinite(e)])
            scale = max(1.0, float(finite.max())) if finite.size else 1.0
            wrong = ~np.isclose(g, e, rtol=tolerance, atol=0.1 * tolerance * scale, equal_nan=True)
    if not wrong.any():
        return None
    where = tuple(int(i) for i in np.argwhere(wrong)[0])
    at = f" at {list(where)}" if where else ""
    return f"expected {e[where]:.8g}, got {g[where]:.8g}{at} ({int(wrong.sum())} of {wrong.size} differ)"


def _kind(value: Any) -> str:
    return "a tensor" if isinstance(value, gradwright.Tensor) else f"{type(value).__name__} {value!r}"[:60]
