"""Gradients kept small: by their norm, or element by element. They are changed in place, outside the graph."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from functools import reduce
from typing import Any

from gradwright import backends
from gradwright.backends.quiet import quietly
from gradwright.base import dtypes
from gradwright.engine.base import wrap
from gradwright.engine.grad_mode import no_grad
from gradwright.engine.mode import now
from gradwright.engine.strict import warn
from gradwright.face import creation, linalg
from gradwright.face.functions.join import stack
from gradwright.face.reading import overwrite
from gradwright.face.reading.require import require
from gradwright.face.tensor import Tensor


@no_grad()
def get_total_norm(tensors: Tensor | Iterable[Tensor], norm_type: float = 2.0, error_if_nonfinite: bool = False,
                   foreach: bool | None = None) -> Tensor:  # fmt: skip
    """The norm of all tensors' elements together, 0-d, on the device of the first: (sum_i abs(x_i)**p)**(1/p).

    Args:
        tensors: a tensor or several; one that is there twice counts once (in PyTorch twice).
        norm_type: p; ``inf`` for the greatest absolute value.
        error_if_nonfinite: raise RuntimeError if the norm is NaN or infinite.
        foreach: makes no difference.

    >>> gw.nn.utils.get_total_norm([gw.tensor([3.0]), gw.tensor([4.0])])
    tensor(5.)
    """
    held = _each_once(tensors)
    if not held:
        return creation.tensor(0.0)
    p, first = float(norm_type), held[0].device
    total = None
    if p == 2 and all(t.dtype in _PLAIN and (t.device is first or t.device == first) for t in held):
        total = wrap(quietly(_length, [t.array if t._view is None else t.detach().array for t in held]))
    if total is None or _may_have_overflowed(total):
        dtype = reduce(dtypes.promote_types, [t.dtype for t in held])
        norms = [linalg.vector_norm(t.detach(), p, dtype=dtypes.promote_types(t.dtype, dtype.to_real())) for t in held]
        total = linalg.vector_norm(stack([n.to(first) for n in norms]), p)
    if error_if_nonfinite:
        require(total.isfinite().array, (
            f"The total norm of order {p} for gradients from `parameters` is non-finite, so it cannot be clipped. To "
            "disable this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
        ))  # fmt: skip
    return total


def _may_have_overflowed(total: Any) -> bool:
    """Whether a norm may be no number, where values may be looked at: not while a step is traced."""
    space = backends.namespace(total.array)
    return now().interpreter is None and space.may_hold(~space.isfinite(total.array))


_USED_UP = "`parameters` is an empty generator, no gradient clipping will occur."
_PLAIN = (dtypes.float32, dtypes.float64)


def _length(arrays: list[Any]) -> Any:
    xp = backends.namespace(arrays[0])
    lines = [xp.reshape(a, (-1,)) for a in arrays]
    return xp.sqrt(xp.sum(xp.stack([xp.matmul(a, a) for a in lines]), axis=0))


@no_grad()
def clip_grads_with_norm_(parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor,
                          foreach: bool | None = None) -> None:  # fmt: skip
    """Multiply all gradients by max_norm / (total_norm + 1e-6), unless that is 1 or more.

    Args:
        parameters: a tensor or several, of which those without a gradient do not matter.
        max_norm: what their norm is to be at most.
        total_norm: what it is, as `get_total_norm` gives it. If it is NaN, so are the gradients then, with a warning.
        foreach: makes no difference.

    Raises ValueError for a negative or NaN ``max_norm``.

    >>> w = gw.zeros(2, requires_grad=True)
    >>> w.grad = gw.tensor([3.0, 4.0])
    >>> gw.nn.utils.clip_grads_with_norm_(w, 1.0, gw.tensor(5.0))
    >>> w.grad
    tensor([0.6000, 0.8000])
    """
    total = creation.as_tensor(total_norm)
    divisor = total + 1e-6
    space = backends.namespace(divisor.array)
    if now().interpreter is None and not space.may_hold(space.isfinite(divisor.array)):  # else nobody knows
        warn(
            f"clip_grad_norm_: the norm of the gradients is {total.item()}, so they are NaN or 0 from now on: "
            "error_if_nonfinite=True stops here, and detect_anomaly() says which operation made the first such number."
        )
    coefficient = _bound("max_norm", max_norm) / divisor
    if space.may_hold(~(coefficient.array >= 1)):
        coefficient = coefficient.clamp(max=1.0)
        for grad in _gradients(parameters):
            grad.mul_(coefficient.to(grad.device))


def clip_grad_norm_(parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0,
                    error_if_nonfinite: bool = False, foreach: bool | None = None) -> Tensor:  # fmt: skip
    """Scale the gradients down, all by one factor, if their norm is greater than ``max_norm``.

    Args:
        parameters: a tensor or several, of which those without a gradient do not matter.
        max_norm: what their norm is to be at most.
        norm_type: see `get_total_norm`, as for the next.
        error_if_nonfinite: raise RuntimeError if the norm is NaN or infinite, and change nothing.
        foreach: makes no difference.

    A weight that is listed twice, because two layers share it, counts once; PyTorch counts it and scales it twice.

    Returns their norm before, as a 0-d tensor, which does not overflow where it is a number of its dtype. Warns of one
    that is infinite or NaN, and of an iterator that has nothing to give, because it was used up. Raises ValueError for
    a negative or NaN ``max_norm``, which would turn the gradients round.

    >>> w = gw.tensor([1.0, 1.0], requires_grad=True)
    >>> (w * gw.tensor([3.0, 4.0])).sum().backward()
    >>> clip_grad_norm_(w, 1.0)
    tensor(5.)
    >>> w.grad
    tensor([0.6000, 0.8000])
    """
    _bound("max_norm", max_norm)
    held = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    if not held and isinstance(parameters, Iterator):
        warnings.warn(_USED_UP, stacklevel=2)
    total = get_total_norm(list(_gradients(held)), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(held, max_norm, total)
    return total


@no_grad()
def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Cut every element of the gradients off at -clip_value and clip_value.

    Args:
        parameters: a tensor or several, of which those without a gradient do not matter.
        clip_value: the greatest absolute value.
        foreach: makes no difference.

    Warns of an iterator that has nothing to give, because it was used up. Raises ValueError for a negative or NaN
    ``clip_value``.

    >>> w = gw.zeros(2, requires_grad=True)
    >>> w.grad = gw.tensor([0.5, -4.0])
    >>> gw.nn.utils.clip_grad_value_(w, 1.0)
    >>> w.grad
    tensor([ 0.5000, -1.0000])
    """
    limit = _bound("clip_value", clip_value)
    held = _each_once(parameters)
    if not held and isinstance(parameters, Iterator):
        warnings.warn(_USED_UP, stacklevel=4)  # past the decorator
    for grad in _gradients(held):
        if not overwrite.limit(grad, limit):
            grad.clamp_(-limit, limit)


def _bound(name: str, value: Any) -> float:
    found = float(value)
    if not found >= 0:
        raise ValueError(f"{name} must be a number of at least 0, but got {found}: gradients would be turned round")
    return found


def _gradients(parameters: Any) -> Iterator[Any]:
    """Those of a tensor or several, each once."""
    return (p.grad for p in _each_once(parameters) if p.grad is not None)


def _each_once(tensors: Any) -> list[Any]:
    several: Iterable[Any] = [tensors] if isinstance(tensors, Tensor) else tensors
    return list({id(t): t for t in several}.values())


def clip_grad_norm(parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0,
                   error_if_nonfinite: bool = False, foreach: bool | None = None) -> Tensor:  # fmt: skip
    """`clip_grad_norm_` under its old name, with a FutureWarning."""
    text = ("`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.")
    warnings.warn(text, FutureWarning, stacklevel=2)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)
