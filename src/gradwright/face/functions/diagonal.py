"""Diagonals and triangles of matrices under PyTorch's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwright.backends.devices import chosen, place
from gradwright.backends.numpy import namespace as xp
from gradwright.base import dtypes
from gradwright.engine.apply import apply
from gradwright.engine.base import wrap
from gradwright.engine.numbers import whole
from gradwright.face.functions.memory_options import strided_only
from gradwright.face.functions.reduce import sum as _sum
from gradwright.face.functions.shape import flatten, movedim
from gradwright.face.reading.torch import one_dim, tensor_arg
from gradwright.ops import index as _index
from gradwright.ops import shape as _shape

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor, TriangleIndices

__all__ = [
    "diag", "diag_embed", "diagflat", "diagonal", "trace", "tril", "tril_indices", "triu", "triu_indices",
]  # fmt: skip


def _triangle(op: Any, name: str, input: Any, diagonal: int) -> Any:
    x = tensor_arg(name, input)
    if x.array.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions, but argument 'input' has "
                           f"{x.array.ndim}: a vector becomes a matrix with .unsqueeze(0)")  # fmt: skip
    return apply(op, (x,), {"k": whole(name, "diagonal", diagonal)})


def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """The lower triangle of each matrix; zeros above ``diagonal``."""
    return _triangle(_shape.tril, "tril", input, diagonal)


def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """The upper triangle of each matrix; zeros below ``diagonal``."""
    return _triangle(_shape.triu, "triu", input, diagonal)


def _indices(name: str, find: Any) -> TriangleIndices:
    def call(row: int, col: int, offset: int = 0, *, dtype: Any = dtypes.int64, device: Any = None,
             **memory: Any) -> Any:  # fmt: skip
        if memory:
            strided_only(call, memory)
        row, col, offset = (whole(name, n, v) for n, v in (("row", row), ("col", col), ("offset", offset)))
        if row < 0 or col < 0:
            raise RuntimeError(f"{name}(): row and col must be non-negative, got {row} and {col}")
        there = find(xp.ones((row, col), dtype=bool), k=offset)
        rows = xp.astype(xp.stack(xp.nonzero(there)), dtypes.numpy_dtype(dtype))
        return wrap(place(chosen(device)).hold(rows))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"The rows and columns of the entries of a {name[:4]} triangle, in row-major order, as two rows."
    return call


tril_indices, triu_indices = _indices("tril_indices", xp.tril), _indices("triu_indices", xp.triu)


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Zeros with the last dim on the diagonal of new dims ``dim1`` and ``dim2``."""
    x = tensor_arg("diag_embed", input)
    if not x.array.ndim:
        raise RuntimeError("diag_embed(): expects a tensor of at least one dim, but got a 0-d tensor")
    n = x.array.shape[-1] + abs(offset)
    ndim = x.array.ndim + 1
    a, b = one_dim("diag_embed", dim1, ndim, "dim1"), one_dim("diag_embed", dim2, ndim, "dim2")
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    out = apply(_index.undiagonal, (x,), {"shape": (*x.array.shape[:-1], n, n), "offset": offset})
    return movedim(out, (-2, -1), (a, b)) if (a, b) != (ndim - 2, ndim - 1) else out


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """The square matrix with all entries of ``input`` on its diagonal."""
    return diag_embed(flatten(tensor_arg("diagflat", input)), offset)


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """The diagonal of a matrix (a copy), or the square matrix with a vector on its diagonal."""
    x = tensor_arg("diag", input)
    if x.array.ndim == 1:
        return diag_embed(x, diagonal)
    if x.array.ndim != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {x.array.ndim}D")
    return apply(_index.diagonal, (x,), {"offset": whole("diag", "diagonal", diagonal)}).clone()


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A view of the diagonal in dims ``dim1`` and ``dim2``, put last."""
    x = tensor_arg("diagonal", input)
    a, b = (one_dim("diagonal", d, x.array.ndim, name) for d, name in ((dim1, "dim1"), (dim2, "dim2")))
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    x = x if (a, b) == (x.array.ndim - 2, x.array.ndim - 1) else movedim(x, (a, b), (-2, -1))
    return apply(_index.diagonal, (x,), {"offset": whole("diagonal", "offset", offset)})


def trace(input: Tensor) -> Tensor:
    """Sum of the diagonal of a matrix."""
    x = tensor_arg("trace", input)
    if x.array.ndim != 2:
        raise RuntimeError("trace: expected a matrix")
    return _sum(diagonal(x))
