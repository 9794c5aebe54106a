"""Distances and angles between vectors, and the bilinear map."""

from __future__ import annotations

from gradwright import backends
from gradwright.base import dtypes
from gradwright.base.errors import size
from gradwright.face.creation import ones
from gradwright.face.functions.algebra.linalg import einsum
from gradwright.face.functions.elementwise import mul
from gradwright.face.functions.reduce import norm
from gradwright.face.reading.torch import numpy_names, tensor_arg
from gradwright.face.tensor import Tensor

__all__ = ["bilinear", "cosine_similarity", "pairwise_distance", "pdist"]


@numpy_names
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """x1 . x2 / (max(|x1|, eps) max(|x2|, eps)) of vectors along ``dim``.

    Shape: the sizes broadcast; the result is without ``dim``. Of parallel vectors the slope is 0; a length that eps
    replaces is a constant.

    Raises RuntimeError unless the common dtype is floating-point or complex, IndexError for a dim that is not there.

    >>> gw.nn.functional.cosine_similarity(gw.tensor([[1.0, 0.0], [3.0, 4.0]]), gw.tensor([[0.0, 1.0]]))
    tensor([0.0000, 0.8000])
    """
    a, b = tensor_arg("cosine_similarity", x1, "x1"), tensor_arg("cosine_similarity", x2, "x2", 2)
    product = mul(a, b)
    if dtypes.kind(product.array.dtype) not in "fc":
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {product.dtype}")
    a, b = (x.to(product.dtype).expand(product.shape) for x in (a, b))
    a, b = (x / norm(x, 2, dim, True).clamp(min=eps) for x in (a, b))
    return (a * b).sum(dim)


def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The p-norm of x1 - x2 + eps over the last dim.

    Shape: (..., d) and (..., d), which broadcast, to (...), or (..., 1) if ``keepdim``. ``eps`` keeps the norm of equal
    vectors off its kink at 0. Raises RuntimeError if the sizes do not broadcast.

    >>> gw.nn.functional.pairwise_distance(gw.tensor([[0.0, 0.0]]), gw.tensor([[3.0, 4.0]]))
    tensor([5.0000])
    """
    difference = tensor_arg("pairwise_distance", x1, "x1") - tensor_arg("pairwise_distance", x2, "x2", 2)
    return norm(difference + eps, p, -1, keepdim)


def pdist(input: Tensor, p: float = 2) -> Tensor:
    """The p-norms of the differences of all pairs of rows i < j, in row-major order: (n, d) to (n (n - 1) / 2,).

    The slope of equal rows is 0. Raises RuntimeError for other than 2 dims, or a negative p.

    >>> gw.nn.functional.pdist(gw.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]))
    tensor([5.0000, 1.0000, 4.2426])
    """
    x = tensor_arg("pdist", input)
    if x.array.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {x.array.ndim}D")
    if p < 0:
        raise RuntimeError(f"pdist only supports non-negative p values, got {p}")
    n = x.array.shape[0]
    i, j = ones(n, n, device=x.device).triu(1).nonzero().unbind(1)
    return norm(x[i] - x[j], p, 1)


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """y_k = x1^T W_k x2 + b_k for x1 (..., n), x2 (..., m), W (out, n, m), b (out,) or None: (..., out).

    Raises RuntimeError for sizes or dtypes that do not fit.

    >>> gw.nn.functional.bilinear(gw.ones(5, 2), gw.ones(5, 3), gw.ones(4, 2, 3)).shape
    torch.Size([5, 4])
    """
    a, b = tensor_arg("bilinear", input1, "input1"), tensor_arg("bilinear", input2, "input2", 2)
    w = tensor_arg("bilinear", weight, "weight", 3)
    shapes = a.array.shape, b.array.shape, w.array.shape
    if shapes[0][:-1] != shapes[1][:-1] or len(shapes[2]) != 3 or shapes[2][1:] != (shapes[0][-1], shapes[1][-1]):
        raise RuntimeError(
            f"bilinear(): sizes do not fit: input1 {size(shapes[0])}, input2 {size(shapes[1])}, weight "
            f"{size(shapes[2])}; expected (..., n), (..., m) and (out, n, m)"
        )
    for t in (a, b):
        if backends.differ("bilinear", t.array, w.array):
            raise RuntimeError(f"All tensors must have the same dtype, got input1: {a.dtype}, input2: {b.dtype}, "
                               f"weight: {w.dtype}. {dtypes.remedy(t.dtype, w.dtype)}")  # fmt: skip
    y = einsum("...i,kij,...j->...k", a, w, b)
    return y if bias is None else y + tensor_arg("bilinear", bias, "bias", 4)
