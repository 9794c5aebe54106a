"""Functions at PyTorch's top that few programs call."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwright.base import dtypes
from gradwright.face import linalg
from gradwright.face.creation import as_tensor
from gradwright.face.functions.complex import view_as_complex, view_as_real
from gradwright.face.functions.join import copied
from gradwright.face.reading.torch import dims
from gradwright.pytorch.overrides import handle_torch_function, has_torch_function

__all__ = ["_assert_async", "hash_tensor", "lobpcg", "native_norm", "view_as_complex_copy", "view_as_real_copy"]

view_as_complex_copy = copied(view_as_complex, "view_as_complex_copy")
view_as_real_copy = copied(view_as_real, "view_as_real_copy")

_xor: Any = np.bitwise_xor.reduce


def _assert(condition: Any, message: str) -> None:
    """AssertionError with the ``message`` unless the condition holds; one with ``__torch_function__`` is asked."""
    if has_torch_function((condition,)):
        handle_torch_function(_assert, (condition,), condition, message)
    elif not condition:
        raise AssertionError(message)


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


def hash_tensor(input: Any, dim: Any = (), *, keepdim: bool = False, mode: int = 0) -> Any:
    """The exclusive or, over ``dim`` or all dims, of the bits of the entries as float64 or int64: of dtype uint64.

    RuntimeError for another ``mode`` than 0 and for no entries, NotImplementedError for complex numbers.
    """
    if mode != 0:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    if input.is_complex():
        raise NotImplementedError(f"hash_tensor(): expected real numbers, but got {input.dtype}")
    x = input.detach()
    if x.dtype is not dtypes.uint64:
        x = x.to(dtypes.float64 if x.is_floating_point() else dtypes.int64).contiguous()
    over = dims("hash_tensor", dim, x.ndim)
    if any(x.shape[d] == 0 for d in (range(x.ndim) if over is None else over)):
        raise (RuntimeError if over is None else IndexError)(
            f"hash_tensor(): expected dims to reduce that are not empty, but got {dim} of shape {tuple(x.shape)}")
    bits = x.cpu().numpy().view(np.uint64)
    return as_tensor(_xor(bits, axis=over, keepdims=keepdim), device=x.device)
