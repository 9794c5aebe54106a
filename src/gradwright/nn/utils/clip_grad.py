"""Gradients kept small: by their norm, or element by element. They are changed in place, outside the graph."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from gradwright import creation, dtypes, linalg
from gradwright.backends.quiet import quietly
from gradwright.engine import overwrite
from gradwright.engine.mode import no_grad
from gradwright.tensor import Tensor


@no_grad()
def get_total_norm(tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False,
                   foreach: bool | None = None) -> Any:  # fmt: skip
    """The norm of all tensors' elements together, as a 0-d tensor: (sum_i abs(x_i)**p)**(1/p).

    Args:
        tensors: a tensor or several.
        norm_type: p; ``inf`` for the greatest absolute value.
        error_if_nonfinite: raise RuntimeError if the norm is NaN or infinite.
        foreach: makes no difference.
    """
    held = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not held:
        return creation.tensor(0.0)
    p = float(norm_type)
    dtype = held[0].dtype.to_real()
    for t in held[1:]:
        dtype = dtypes.promote_types(dtype, t.dtype.to_real())
    total = linalg.vector_norm(creation.tensor([_norm(t, p) for t in held], dtype=dtype), p)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError(
            f"The total norm of order {p} for gradients from `parameters` is non-finite, so it cannot be clipped. To "
            "disable this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return total


def _norm(t: Any, p: float) -> float:
    if p == 2 and t.dtype in (dtypes.float32, dtypes.float64):
        flat = t.array.reshape(-1)
        return math.sqrt(quietly(operator.matmul, flat, flat))
    return float(linalg.vector_norm(t.detach(), p).item())


@no_grad()
def clip_grads_with_norm_(parameters: Any, max_norm: float, total_norm: Any, foreach: bool | None = None) -> None:
    """Multiply all gradients by max_norm / (total_norm + 1e-6), unless that is 1 or more.

    Args:
        parameters: a tensor or several, of which those without a gradient do not matter.
        max_norm: what their norm is to be at most.
        total_norm: what it is, as `get_total_norm` gives it. If it is NaN, so are the gradients then.
        foreach: makes no difference.
    """
    coefficient = float(max_norm) / (float(total_norm) + 1e-6)
    if not coefficient >= 1:
        for grad in _gradients(parameters):
            grad.mul_(coefficient)


def clip_grad_norm_(parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
                    foreach: bool | None = None) -> Any:  # fmt: skip
    """Scale the gradients down, all by one factor, if their norm is greater than ``max_norm``.

    Args:
        parameters: a tensor or several, of which those without a gradient do not matter.
        max_norm: what their norm is to be at most.
        norm_type: see `get_total_norm`, as for the next.
        error_if_nonfinite: raise RuntimeError if the norm is NaN or infinite, and change nothing.
        foreach: makes no difference.

    Returns their norm before, as a 0-d tensor. Warns of an iterator that has nothing to give, because it was used up.

    >>> import gradwright as gw
    >>> w = gw.tensor([1.0, 1.0], requires_grad=True)
    >>> (w * gw.tensor([3.0, 4.0])).sum().backward()
    >>> clip_grad_norm_(w, 1.0)
    tensor(5.)
    >>> w.grad
    tensor([0.6000, 0.8000])
    """
    held = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    if not held and isinstance(parameters, Iterator):
        warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=2)
    total = get_total_norm(list(_gradients(held)), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(held, max_norm, total)
    return total


@no_grad()
def clip_grad_value_(parameters: Any, clip_value: float, foreach: bool | None = None) -> None:
    """Cut every element of the gradients off at -clip_value and clip_value.

    Args:
        parameters: a tensor or several, of which those without a gradient do not matter.
        clip_value: the greatest absolute value.
        foreach: makes no difference.
    """
    limit = float(clip_value)
    for grad in _gradients(parameters):
        if not overwrite.limit(grad, limit):
            grad.clamp_(-limit, limit)


def _gradients(parameters: Any) -> Iterator[Any]:
    """Those of a tensor or several."""
    several: Iterable[Any] = [parameters] if isinstance(parameters, Tensor) else parameters
    return (p.grad for p in several if p.grad is not None)


def clip_grad_norm(parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
                   foreach: bool | None = None) -> Any:  # fmt: skip
    """`clip_grad_norm_` under its old name, with a FutureWarning."""
    text = ("`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.")
    warnings.warn(text, FutureWarning, stacklevel=2)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)
