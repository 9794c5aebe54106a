"""Distances between points, and rows brought to a length, under PyTorch's names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwright import backends
from gradwright.base import dtypes
from gradwright.engine.apply import apply
from gradwright.face.functions.elementwise import where
from gradwright.face.functions.reduce import norm
from gradwright.face.functions.shape import broadcast_shapes
from gradwright.face.reading.torch import numpy_names, one_dim, tensor_arg
from gradwright.ops import distance as _distance

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor

__all__ = ["cdist", "dist", "renorm"]

_LARGE = 25  # from here on a matrix product is worth its rounding, as in PyTorch
_MODES = {"use_mm_for_euclid_dist_if_necessary": None, "use_mm_for_euclid_dist": True,
          "donot_use_mm_for_euclid_dist": False}  # fmt: skip


def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of input - other."""
    return norm(tensor_arg("dist", input) - tensor_arg("dist", other, "other", 2), p)


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """p-norm distances between each row of ``x1`` (..., P, M) and each of ``x2`` (..., R, M), of size (..., P, R).

    Euclidean ones of more than 25 rows come from a matrix product, unless ``compute_mode`` says otherwise. The slope of
    a distance of 0 is taken as 0 and its second derivative is NaN, that of its square, too.
    """
    a, b = tensor_arg("cdist", x1, "x1"), tensor_arg("cdist", x2, "x2", 2)
    for name, x in (("X1", a), ("X2", b)):
        if dtypes.kind(x.array.dtype) != "f":
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {x.dtype}")
        if x.array.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.array.ndim}D")
    if backends.differ("cdist", a.array, b.array):
        raise RuntimeError(f"cdist(): expected both of one dtype, but got {a.dtype} and {b.dtype}")
    if a.array.shape[-1] != b.array.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {a.array.shape[-1]} X2: {b.array.shape[-1]}"
        )
    if p < 0:
        raise RuntimeError(f"cdist only supports non-negative p values, got {p}")
    if compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    lead, rows = broadcast_shapes(a.array.shape[:-2], b.array.shape[:-2]), (a.array.shape[-2], b.array.shape[-2])
    mode = _MODES[compute_mode]
    if p == 2 and (max(rows) > _LARGE if mode is None else mode):
        a, b = (x.expand(*lead, *x.array.shape[-2:]) for x in (a, b))
        return apply(_distance.euclidean_distances, (a, b), {})
    differences = a.unsqueeze(-2) - b.unsqueeze(-3)
    return norm(differences, p, -1) if differences.array.shape[-1] else differences.sum(-1)


@numpy_names
def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """``input`` in which the slices along ``dim`` whose p-norm exceeds ``maxnorm`` are scaled down to it."""
    x = tensor_arg("renorm", input)
    if x.array.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {x.array.ndim} dimensions")
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    axis = one_dim("renorm", dim, x.array.ndim)
    length = norm(x, p, tuple(i for i in range(x.array.ndim) if i != axis), True)
    return x * where(length > maxnorm, maxnorm / (length + 1e-7), 1.0).to(x.dtype)
