"""Linear algebra under PyTorch's names (`torch.linalg`): of one matrix, or of many in the last two dims."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwright.base.errors import LinAlgError
from gradwright.base.lazy import lazy
from gradwright.face.functions.algebra.decompose import (
    cholesky,
    cholesky_ex,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    lu,
    lu_factor,
    lu_factor_ex,
    qr,
    svd,
    svdvals,
)
from gradwright.face.functions.algebra.householder import householder_product
from gradwright.face.functions.algebra.ldl import ldl_factor, ldl_factor_ex, ldl_solve
from gradwright.face.functions.algebra.linalg import matmul
from gradwright.face.functions.algebra.matrix_function import matrix_function, matrix_log, matrix_sqrt
from gradwright.face.functions.algebra.norms import cond, matrix_norm, matrix_rank, norm, vector_norm
from gradwright.face.functions.algebra.products import multi_dot, vecdot
from gradwright.face.functions.algebra.products import powers as vander
from gradwright.face.functions.algebra.products import vector_cross as cross
from gradwright.face.functions.algebra.solve import (
    det,
    inv,
    inv_ex,
    lstsq,
    lu_solve,
    matrix_exp,
    matrix_power,
    pinv,
    slogdet,
    solve,
    solve_ex,
    solve_triangular,
    tensorinv,
    tensorsolve,
)
from gradwright.face.functions.diagonal import diagonal as _diagonal

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor

__all__ = [
    "LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh",
    "householder_product", "inv", "inv_ex", "ldl_factor", "ldl_factor_ex", "ldl_solve", "lstsq", "lu", "lu_factor",
    "lu_factor_ex", "lu_solve", "matmul", "matrix_exp", "matrix_function", "matrix_log", "matrix_norm", "matrix_power",
    "matrix_rank", "matrix_sqrt", "multi_dot", "norm", "pinv", "qr", "slogdet", "solve", "solve_ex", "solve_triangular",
    "svd", "svdvals", "tensorinv", "tensorsolve", "vander", "vecdot", "vector_norm",
]  # fmt: skip

lazy(__name__)


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """A view of the diagonal of the matrices in two dims: entries (i, i + offset).

    Shapes: the result is A's without the two dims, and the diagonal last; a write into it goes into A. Raises
    RuntimeError if the dims are the same, IndexError if one is out of range.

    >>> gw.linalg.diagonal(gw.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([1., 4.])
    """
    return _diagonal(A, offset, dim1, dim2)
