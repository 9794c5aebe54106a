"""Factorisation of symmetric and Hermitian matrices, A = L D L^T or L D L^H, under PyTorch's names. Needs SciPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright import backends
from gradwright.base import dtypes
from gradwright.engine.apply import apply
from gradwright.face.functions.algebra.matrices import first, matrix, same_dtype, square
from gradwright.face.functions.returns import return_type
from gradwright.face.reading.require import require
from gradwright.face.reading.torch import tensor_arg
from gradwright.ops import decompose as _ops

if TYPE_CHECKING:
    from gradwright.face.typing import LDLFactor, LDLFactorInfo, Tensor

_LDL, _LDL_EX = (return_type(f"linalg_ldl_factor{s}", "LD", "pivots", *i) for s, i in (("", ()), ("_ex", ("info",))))


def ldl_factor_ex(A: Tensor, *, hermitian: bool = False, check_errors: bool = False) -> LDLFactorInfo:
    """`ldl_factor` without the error: ``info`` numbers the first zero on the diagonal of D, or is 0. Needs SciPy.

    Shapes: A is (..., n, n), LD the same, ``pivots`` (..., n) and ``info`` (...) of int32. Raises RuntimeError for such
    a zero only if ``check_errors``.

    >>> gw.linalg.ldl_factor_ex(gw.zeros(2, 2)).info
    tensor(1, dtype=torch.int32)
    """
    packed, pivots, info = apply(
        _ops.ldl_factor, (square("torch.linalg.ldl_factor_ex", A),), {"hermitian": bool(hermitian)}
    )
    if check_errors:
        require(info.array == 0, lambda: (
            f"torch.linalg.ldl_factor_ex: Factorization could not be completed because D[{first(info)}] is zero"
        ))  # fmt: skip
    return _LDL_EX(packed, pivots, info)


def ldl_factor(A: Tensor, *, hermitian: bool = False) -> LDLFactor:
    """A = L D L^T (L^H if ``hermitian``) packed in one, D of blocks of 1 or 2, and LAPACK's pivots. Needs SciPy.

    Shapes: A is (..., n, n), LD the same, ``pivots`` (..., n) of int32. A is symmetric (Hermitian), its lower triangle
    is read. It has no derivative, nor in PyTorch. `ldl_solve` solves with it.

    Raises RuntimeError if D has a zero on its diagonal, A is not square or of another dtype.

    >>> LD, pivots = gw.linalg.ldl_factor(gw.tensor([[4.0, 2.0], [2.0, 3.0]]))
    >>> LD
    tensor([[4.0000, 0.0000],
            [0.5000, 2.0000]])
    """
    return _LDL(*ldl_factor_ex(A, hermitian=hermitian, check_errors=True)[:2])


def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
    """The solution X of A X = B from `ldl_factor`'s result. Needs SciPy.

    Shapes: LD is (..., n, n), ``pivots`` (..., n), B (..., n, k), and so is X; the leading dims broadcast.

    Raises RuntimeError for pivots that are none of its (LAPACK would read and write outside the matrices), and for
    dtypes or sizes that do not fit.

    >>> LD, pivots = gw.linalg.ldl_factor(gw.tensor([[4.0, 2.0], [2.0, 3.0]]))
    >>> gw.linalg.ldl_solve(LD, pivots, gw.tensor([[8.0], [8.0]]))
    tensor([[1.],
            [2.]])
    """
    square("torch.linalg.ldl_solve", LD, "LD")
    matrix("torch.linalg.ldl_solve", B, "B", 3)
    same_dtype("torch.linalg.ldl_solve", LD, B, "LD and B")
    _pivots(LD.array, pivots)
    batch = np.broadcast_shapes(LD.array.shape[:-2], B.array.shape[:-2])
    whole = [x.expand(*batch, *x.array.shape[x.array.ndim - d :]) for x, d in ((LD, 2), (pivots, 1), (B, 2))]
    return apply(_ops.ldl_solve, whole, {"hermitian": bool(hermitian)})


def _pivots(factors: Any, pivots: Any) -> None:
    """Raise RuntimeError unless ``pivots`` may be those of these factors: rows, negative ones in pairs of equals."""
    found = backends.to_host(tensor_arg("torch.linalg.ldl_solve", pivots, "pivots", 2).array)
    n = factors.shape[-1]
    if found.dtype.kind not in "iu":
        raise RuntimeError(f"torch.linalg.ldl_solve: Expected pivots to be integers. Got {dtypes.of(found.dtype)}")
    if found.shape != factors.shape[:-1]:
        raise RuntimeError(
            "torch.linalg.ldl_solve: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{list(found.shape)} for LD with shape {list(factors.shape)}"
        )
    for row in found.reshape(-1, n).tolist() if found.size else ():
        k = 0
        while k < n:
            two = row[k] < 0
            if not 1 <= abs(row[k]) <= n or (two and row[k : k + 2] != [row[k]] * 2):
                raise RuntimeError(
                    f"torch.linalg.ldl_solve: pivots[..., {k}] is {row[k]}, but expected 1 to {n}, or two equal ones "
                    f"from -{n} to -1 side by side. Did you properly pass the result of ldl_factor?"
                )
            k += 1 + two
