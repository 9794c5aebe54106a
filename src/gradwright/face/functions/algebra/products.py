"""Products beyond those of two matrices, under PyTorch's names."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from gradwright.base import dtypes
from gradwright.base.errors import size
from gradwright.face.functions.algebra.linalg import dot, matmul, mm
from gradwright.face.functions.algebra.matrices import same_dtype
from gradwright.face.functions.elementwise import mul
from gradwright.face.functions.join import cat
from gradwright.face.functions.rearrange import flip, roll
from gradwright.face.functions.scan import cumprod
from gradwright.face.functions.shape import permute
from gradwright.face.reading.torch import numpy_names, one_dim, tensor_arg, tensor_list

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor

__all__ = ["chain_matmul", "cross", "inner", "kron", "tensordot", "vander", "vdot"]


def vdot(input: Tensor, other: Tensor) -> Tensor:
    """Inner product of two vectors, the first one conjugated."""
    a = tensor_arg("vdot", input)
    return dot(a.conj() if dtypes.kind(a.array.dtype) == "c" and a.array.ndim == 1 else a, other)


@numpy_names
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """Inner products sum conj(x) y along ``dim``; the other dims broadcast.

    Raises RuntimeError if the dtypes differ or the sizes do not broadcast.

    >>> gw.linalg.vecdot(gw.tensor([[1.0, 2.0], [3.0, 4.0]]), gw.tensor([1.0, 1.0]))
    tensor([3., 7.])
    """
    a, b = tensor_arg("linalg.vecdot", x, "x"), tensor_arg("linalg.vecdot", y, "y", 2)
    same_dtype("linalg.vecdot", a, b, "x and y")
    return (mul(a.conj() if dtypes.kind(a.array.dtype) == "c" else a, b)).sum(dim, dtype=a.dtype)


def inner(input: Tensor, other: Tensor) -> Tensor:
    """Sums of products over the last dim of both; of two numbers, or a number and a tensor, their product."""
    a, b = tensor_arg("inner", input), tensor_arg("inner", other, "other", 2)
    same_dtype("inner()", a, b, "input and other")
    if not a.array.ndim or not b.array.ndim:
        return mul(a, b)
    if a.array.shape[-1] != b.array.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{size(a.array.shape)} and {size(b.array.shape)}"
        )
    return tensordot(a, b, ([-1], [-1]))


def _paired(a: Any, b: Any, dims: Any) -> tuple[list[int], list[int]]:
    """The dims of both tensors that are summed over."""
    dims = dims.tolist() if hasattr(dims, "tolist") and dims.ndim else dims
    if hasattr(dims, "__index__"):
        dims = dims.__index__()
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.array.ndim, b.array.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        return [*range(a.array.ndim - dims, a.array.ndim)], [*range(dims)]
    left, right = ([d] if isinstance(d, int) else [*d] for d in dims)
    if len(left) != len(right):
        raise RuntimeError(f"both dimension lists should have same length, got {left} and {right}")
    pairs = [[one_dim("tensordot", d, x.array.ndim) for d in ds] for x, ds in ((a, left), (b, right))]
    return pairs[0], pairs[1]


def tensordot(a: Tensor, b: Tensor, dims: int | Tensor | Sequence[int] | Sequence[Sequence[int]] = 2) -> Tensor:
    """Sums of products over the last ``dims`` dims of ``a`` and the first of ``b``, or over two lists of dims."""
    a, b = tensor_arg("tensordot", a, "a"), tensor_arg("tensordot", b, "b", 2)
    left, right = _paired(a, b, dims)
    same_dtype("tensordot", a, b, "a and b")
    for i, j in zip(left, right, strict=True):
        m, n = a.array.shape[i], b.array.shape[j]
        if m == n:
            continue
        if 1 not in (m, n):
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {m} in dim {i} and second has size {n} in "
                f"dim {j}"
            )
        a, b = (a.sum(i, keepdim=True), b) if n == 1 else (a, b.sum(j, keepdim=True))
    rows = [i for i in range(a.array.ndim) if i not in left]
    columns = [j for j in range(b.array.ndim) if j not in right]
    shape = [a.array.shape[i] for i in rows] + [b.array.shape[j] for j in columns]
    k = prod(a.array.shape[i] for i in left)
    x = permute(a, rows + left).reshape(prod(shape[: len(rows)]), k)
    y = permute(b, right + columns).reshape(k, prod(shape[len(rows) :]))
    return mm(x, y).reshape(shape)


def kron(input: Tensor, other: Tensor) -> Tensor:
    """The blocks input[i] * other, of tensors of any number of dims."""
    a, b = tensor_arg("kron", input), tensor_arg("kron", other, "other", 2)
    n = max(a.array.ndim, b.array.ndim)
    left, right = ((1,) * (n - x.array.ndim) + x.array.shape for x in (a, b))
    wide = a.reshape([k for m in left for k in (m, 1)]) * b.reshape([k for m in right for k in (1, m)])
    return wide.reshape([i * j for i, j in zip(left, right, strict=True)])


def _crossed(name: str, a: Any, b: Any, dim: int) -> Any:
    if a.array.ndim != b.array.ndim:
        raise RuntimeError(f"{name}: inputs must have the same number of dimensions.")
    axis = one_dim(name, dim, a.array.ndim)
    if a.array.shape[axis : axis + 1] != (3,) or b.array.shape[axis] != 3:
        got = [x.array.shape[axis : axis + 1] for x in (a, b)]
        raise RuntimeError(f"{name}: inputs dimension {dim} must have length 3. Got {got[0]} and {got[1]}")
    return roll(a * roll(b, -1, axis) - roll(a, -1, axis) * b, -1, axis)


@numpy_names
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """Cross products of the vectors along ``dim``: the first dim of length 3 if none is named."""
    a, b = tensor_arg("cross", input), tensor_arg("cross", other, "other", 2)
    if dim is None:
        dim = next((i for i, n in enumerate(a.array.shape) if n == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return _crossed("linalg.cross", a, b, dim)


@numpy_names
def vector_cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """Cross products x y of the vectors along ``dim``: entry i is x[i+1] y[i+2] - x[i+2] y[i+1], counted round.

    Shapes: both have size 3 in ``dim``; the other dims broadcast. Raises RuntimeError for another size there.

    >>> gw.linalg.cross(gw.tensor([1.0, 0.0, 0.0]), gw.tensor([0.0, 1.0, 0.0]))
    tensor([0., 0., 1.])
    """
    return _crossed("linalg.cross", tensor_arg("cross", input), tensor_arg("cross", other, "other", 2), dim)


def _order(sizes: Sequence[int]) -> list[list[int]]:
    """Where to split each chain of matrices i to j, of sizes[i] x sizes[i + 1] and so on, for the fewest products."""
    n = len(sizes) - 1
    cost = [[0] * n for _ in range(n)]
    split = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i][j], split[i][j] = min(
                (cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)
            )
    return split


def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """The product of two or more matrices, in the cheapest order; the first and the last may be vectors.

    Shapes: (n0, n1), (n1, n2), ..., (nk-1, nk) to (n0, nk); a vector at an end has its size left out of the result.

    Raises RuntimeError for fewer than two tensors, and for dims, sizes or dtypes that do not fit.

    >>> gw.linalg.multi_dot([gw.ones(2, 3), gw.ones(3, 4), gw.ones(4)])
    tensor([12., 12.])
    """
    xs = tensor_list("multi_dot", tensors)
    if len(xs) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(xs)}")
    ends = xs[0].array.ndim == 1, xs[-1].array.ndim == 1
    for i, x in enumerate(xs):
        if x.array.ndim != 2 and not (x.array.ndim == 1 and i in (0, len(xs) - 1)):
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {x.array.ndim}D")
        same_dtype("multi_dot()", xs[0], x, f"tensors 0 and {i}")
    xs[0] = xs[0].unsqueeze(0) if ends[0] else xs[0]
    xs[-1] = xs[-1].unsqueeze(1) if ends[1] else xs[-1]
    for i in range(len(xs) - 1):
        if xs[i].array.shape[1] != xs[i + 1].array.shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {size(xs[i].array.shape)} and "
                f"{size(xs[i + 1].array.shape)} cannot be multiplied"
            )
    split = _order([x.array.shape[0] for x in xs] + [xs[-1].array.shape[1]])

    def product(i: int, j: int) -> Any:
        return xs[i] if i == j else matmul(product(i, split[i][j]), product(split[i][j] + 1, j))

    out = product(0, len(xs) - 1)
    return out.reshape(out.array.shape[int(ends[0]) : 2 - int(ends[1])])


def chain_matmul(*matrices: Tensor) -> Tensor:
    """The product of matrices, in the cheapest order."""
    if len(matrices) == 1 and isinstance(matrices[0], (tuple, list)):
        matrices = tuple(matrices[0])
    for i, x in enumerate(matrices):
        if tensor_arg("chain_matmul", x, "matrices", i + 1).array.ndim != 2:
            raise RuntimeError(f"chain_matmul(): Tensor dimension is {x.array.ndim}, expected 2 instead.")
    return matrices[0] if len(matrices) == 1 else multi_dot(matrices)


def powers(x: Tensor, N: int | None = None) -> Tensor:
    """Powers 0 to N - 1 (by default as many as entries) of the entries of ``x``, in a new last dim.

    Shapes: x is (..., n), the result (..., n, N). Booleans become int64 (PyTorch refuses them). Raises RuntimeError if
    N is given and below 2.

    >>> gw.linalg.vander(gw.tensor([1.0, 2.0, 3.0]))
    tensor([[1., 1., 1.],
            [1., 2., 4.],
            [1., 3., 9.]])
    """
    x = tensor_arg("linalg.vander", x, "x")
    x = x if x.array.ndim else x.reshape(1)
    shape = x.array.shape
    n = shape[-1] if N is None else N
    if N is not None and N <= 1:
        raise RuntimeError("linalg.vander: N must be greater than 1.")
    x = x.unsqueeze(-1)
    x = x.to(int) if dtypes.kind(x.array.dtype) == "b" else x
    ones = x.new_ones((*shape, 1))
    return cat([ones, cumprod(x.expand(*shape, n - 1), -1)], -1) if n > 1 else ones[..., :n]


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The Vandermonde matrix of a vector: its powers from N - 1 to 0, or from 0 if ``increasing``."""
    if tensor_arg("vander", x, "x").array.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    n = x.array.shape[0] if N is None else N
    if n < 0:
        raise RuntimeError("N must be non-negative.")
    out = powers(x, max(n, 2))[..., :n]
    return out if increasing else flip(out, (-1,))
