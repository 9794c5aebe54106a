"""Products of sparse matrices under the names that PyTorch has beside `torch.sparse.mm`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwright.face.functions.join import cat, stack
from gradwright.face.sparse.functions import mm
from gradwright.face.sparse.tensor import SparseTensor, expected

if TYPE_CHECKING:
    from gradwright.face.typing import Number, Tensor

spmm = dsmm = mm


def _rows(name: str, mat1: Any, mat2: Any) -> SparseTensor:
    """The product as a sparse tensor of those rows that may have other entries than 0."""
    a = expected(name, mat1)
    if a.ndim != 2 or a.sparse_dim() != 2 or mat2.ndim != 2 or len(mat2) != a.shape[1]:
        raise RuntimeError(f"{name}(): sizes {tuple(a.shape)} and {tuple(mat2.shape)} do not go together: expected "
                           "(n, m), both indexed, and (m, k)")  # fmt: skip
    rows, columns = a._indices()
    held = a._values().unsqueeze(1) * mat2[columns]
    return SparseTensor(rows.unsqueeze(0), held, (a.shape[0], mat2.shape[1])).coalesce()


def hspmm(mat1: SparseTensor, mat2: Tensor) -> SparseTensor:
    """mat1 @ mat2 of a sparse and a dense matrix, as a sparse tensor of rows."""
    return _rows("hspmm", mat1, mat2)


hsmm = hspmm


def smm(input: SparseTensor, mat: Tensor) -> SparseTensor:
    """input @ mat of a sparse and a dense matrix, as a sparse matrix."""
    made = _rows("smm", input, mat)
    (rows,), k = made._indices(), mat.shape[1]
    columns = rows.new_tensor(range(k)).repeat(len(rows))
    at = stack([rows.repeat_interleave(k), columns])
    return SparseTensor(at, made._values().reshape(-1), made.shape, True)


def sspaddmm(input: SparseTensor, mat1: SparseTensor, mat2: Tensor, *, beta: Number = 1,
             alpha: Number = 1) -> SparseTensor:  # fmt: skip
    """beta input + alpha mat1 @ mat2 of sparse matrices and a dense ``mat2``, as a sparse matrix."""
    a, b = expected("sspaddmm", input), smm(mat1, mat2)
    if a.shape != b.shape:
        raise RuntimeError(f"sspaddmm(): expected input of size {tuple(b.shape)}, but got {tuple(a.shape)}")
    held = cat([a._values() * beta, b._values() * alpha])
    return SparseTensor(cat([a._indices(), b._indices()], 1), held, a.shape)


saddmm = sspaddmm
