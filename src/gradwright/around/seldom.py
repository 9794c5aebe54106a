"""Functions at PyTorch's top that few programs call."""

from __future__ import annotations

from typing import Any

from gradwright import linalg
from gradwright.face.complex import view_as_complex, view_as_real
from gradwright.face.join import copied

__all__ = ["_assert_async", "lobpcg", "native_norm", "view_as_complex_copy", "view_as_real_copy"]

view_as_complex_copy = copied(view_as_complex, "view_as_complex_copy")
view_as_real_copy = copied(view_as_real, "view_as_real_copy")


def _assert_async(input: Any, assert_msg: str = "") -> None:
    """RuntimeError, at once, with this message if the one number of a tensor is 0, or if it has not one number."""
    if not bool(input):
        raise RuntimeError(assert_msg or "Expected Tensor with single nonzero value, but got zero")


def native_norm(input: Any, p: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """The norm of order ``p`` over ``dim``, or of all entries, those that a sparse tensor stores among them."""
    x = input.coalesce().values() if getattr(input, "is_sparse", False) else input
    return linalg.vector_norm(x, 2 if p is None else p, dim, keepdim, dtype=dtype)


def lobpcg(A: Any, k: int | None = None, B: Any = None, X: Any = None, n: int | None = None, iK: Any = None,
           niter: int | None = None, tol: float | None = None, largest: bool | None = None, method: str | None = None,
           tracker: Any = None, ortho_iparams: Any = None, ortho_fparams: Any = None,
           ortho_bparams: Any = None) -> tuple[Any, Any]:  # fmt: skip
    """The ``k`` largest (or smallest) eigenvalues of A x = e B x, (*, k), and their vectors, (*, m, k).

    ``A`` is symmetric, ``B`` positive definite. All are computed, by `linalg.eigh`, and not by PyTorch's iterations:
    what says how those go (``iK``, ``niter``, ``tol``, ``method``, ``ortho_``) makes no difference, nor do the values
    of ``X``; the time grows with m**3. Vectors have B-norm 1, and either sign. Derivatives are those of `linalg.eigh`.

    RuntimeError if ``k``, or the number of columns of ``X``, is more than a third of m, as in PyTorch.
    """
    a = A.to_dense() if getattr(A, "is_sparse", False) else A
    b = B.to_dense() if getattr(B, "is_sparse", False) else B
    m, count = a.shape[-1], (k if k is not None else 1 if X is None else X.shape[-1])
    if m < 3 * (count if n is None else n):
        raise RuntimeError(f"LPBPCG algorithm is not applicable when the number of A rows (={m}) is smaller than 3 x "
                           f"the number of requested eigenpairs (={count}): take linalg.eigh")  # fmt: skip
    if b is None:
        values, vectors = linalg.eigh(a)
    else:
        low = linalg.cholesky(b)
        half = linalg.solve_triangular(low, a, upper=False)
        inner = linalg.solve_triangular(low, half.mH, upper=False)
        values, vectors = linalg.eigh((inner + inner.mH) / 2)
        vectors = linalg.solve_triangular(low.mH, vectors, upper=True)
    if largest is None or largest:
        return values[..., -count:].flip(-1), vectors[..., -count:].flip(-1)
    return values[..., :count], vectors[..., :count]
