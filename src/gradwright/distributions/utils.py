"""What distributions share: parameters of one shape, properties computed when asked for, probabilities and logits."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Number
from typing import Any

from gradwright.base import dtypes
from gradwright.engine.base import TensorBase
from gradwright.engine.grad_mode import enable_grad
from gradwright.face.creation import tensor
from gradwright.face.functions.diagonal import tril_indices
from gradwright.face.functions.reduce import logsumexp, softmax
from gradwright.face.functions.shape import broadcast_tensors
from gradwright.face.tensor import Tensor

__all__ = [
    "broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits", "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]  # fmt: skip

EULER = 0.57721566490153286060
"""Euler's constant."""


def broadcast_all(*values: Any) -> tuple[Any, ...]:
    """Tensors of one shape. Numbers take the dtype and device of the first tensor, or the default ones.

    Raises ValueError if one is neither a number nor a tensor.
    """
    if not all(isinstance(v, (TensorBase, Number)) for v in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__."
        )
    first: Any = next((v for v in values if isinstance(v, TensorBase)), None)
    given = {"dtype": dtypes.default()} if first is None else {"dtype": first.dtype, "device": first.device}
    tensors: list[Any] = [v if isinstance(v, TensorBase) else tensor(v, **given) for v in values]
    return tuple(broadcast_tensors(*tensors))


class lazy_property:
    """A property that is computed when first asked for, with its history, and kept."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function, self.__doc__ = function, function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            value = vars(instance)[self.name] = self.function(instance)
        return value


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities kept away from 0 and 1 by the machine precision of their dtype."""
    eps = dtypes.finfo(probs.dtype).eps
    return probs.clamp(eps, 1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """log p; ``is_binary``: log(p / (1 - p)). Probabilities of 0 and 1 are moved by the machine precision."""
    p = clamp_probs(probs)
    return p.log() - (-p).log1p() if is_binary else p.log()


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """The softmax over the last dim; ``is_binary``: the sigmoid of each."""
    return logits.sigmoid() if is_binary else softmax(logits, -1)


def normalized(logits: Any) -> Any:
    """Logits shifted so that their exponentials sum to 1 over the last dim."""
    return logits - logsumexp(logits, -1, keepdim=True)


def either(probs: Any, logits: Any) -> str:
    """The name of the one that is given; ValueError if both or none are."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    return "logits" if probs is None else "probs"


def sum_rightmost(value: Any, dims: int) -> Any:
    """The sum over the last ``dims`` dims."""
    return value.sum(tuple(range(-dims, 0))) if dims else value


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The entries on and below a diagonal of the last two dims, row by row, as one dim.

    Raises ValueError if there is no such diagonal.
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = tril_indices(n, n, diag)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """The matrices whose entries on and below a diagonal are the last dim, row by row; others are 0.

    Raises ValueError if no matrix has that many entries there.
    """
    count = vec.shape[-1]
    n = (-(1 + 2 * diag) + math.sqrt((1 + 2 * diag) ** 2 + 8 * count + 4 * abs(diag) * (diag + 1))) / 2
    if abs(n - round(n)) > dtypes.finfo(vec.dtype).eps:
        raise ValueError(f"The size of last dimension is {count} which cannot be expressed as the lower triangular "
                         "part of a square D x D matrix.")  # fmt: skip
    size = round(n)
    rows, columns = tril_indices(size, size, diag)
    mat = vec.new_zeros((*vec.shape[:-1], size, size))
    mat[..., rows, columns] = vec
    return mat
