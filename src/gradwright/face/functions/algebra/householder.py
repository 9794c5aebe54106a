"""Products of Householder reflections 1 - tau_i v_i v_i^H, as `geqrf` packs them: v_i in column i, below its 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwright import backends
from gradwright.engine.base import wrap
from gradwright.engine.levels import followed
from gradwright.face.functions.algebra.matrices import adjoint, eye, matrix, same_dtype
from gradwright.face.functions.algebra.solve import solve_triangular
from gradwright.face.functions.diagonal import diag_embed, tril, triu
from gradwright.face.functions.returns import return_type

if TYPE_CHECKING:
    from gradwright.face.typing import ATau, Tensor

__all__ = ["geqrf", "orgqr", "ormqr"]

_GEQRF = return_type("geqrf", "a", "tau")


def geqrf(input: Tensor) -> ATau:
    """R with the vectors v of Q = H_1 H_2 ... beneath it, and their factors tau. It has no derivative; `qr` has one."""
    x = matrix("geqrf", input, "input")
    if followed(x):
        raise NotImplementedError("geqrf(): it has no derivative: use linalg.qr, or detach() the argument")
    return _GEQRF(*map(wrap, backends.namespace(x.array).linalg.geqrf(x.array)))


def _reflectors(name: str, x: Any, tau: Any) -> tuple[Any, Any]:
    """V and T of Q = 1 - V T V^H (Schreiber and Van Loan, 1989): T^-1 = 1/tau + the triangle of V^H V above it."""
    if matrix(name, x, "input").array.ndim - 1 != tau.array.ndim:
        raise RuntimeError(f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to "
                           f"{tau.array.ndim} and input.ndim is equal to {x.array.ndim}")  # fmt: skip
    same_dtype(name, x, tau, "input and tau")
    k = tau.array.shape[-1]
    if k > x.array.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    v = tril(x[..., :k], -1) + eye(x, x.array.shape[-2], k)
    system = eye(x, k) + tau.unsqueeze(-1) * triu(adjoint(v) @ v, 1)
    return v, solve_triangular(system, diag_embed(tau), upper=True, unitriangular=True)


def householder_product(A: Tensor, tau: Tensor) -> Tensor:
    """The first columns, as many as A has, of Q = H_1 H_2 ... H_k, H_i = 1 - tau_i v_i v_i^H with v_i in column i of A.

    Shapes: A is (..., m, n) with m >= n, its upper triangle not read; tau (..., k) with k <= n; the result (..., m, n).

    Raises RuntimeError if m < n, k > n, the dims or dtypes do not fit.

    >>> a, tau = gw.geqrf(gw.tensor([[3.0, 1.0], [4.0, 2.0]]))
    >>> gw.linalg.householder_product(a, tau)
    tensor([[-0.6000, -0.8000],
            [-0.8000,  0.6000]])
    """
    m, n = matrix("linalg.householder_product", A).array.shape[-2:]
    if m < n:
        raise RuntimeError("torch.linalg.householder_product: input.shape[-2] must be greater than or equal to "
                           "input.shape[-1]")  # fmt: skip
    v, t = _reflectors("torch.linalg.householder_product", A, tau)
    return eye(A, m, n) - v @ (t @ adjoint(v[..., :n, :]))


orgqr = householder_product


def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
    """Q C (C Q if not ``left``), with Q^H in place of Q if ``transpose``, where C is ``other``."""
    matrix("torch.ormqr", input, "input")
    matrix("torch.ormqr", other, "other", 3)
    if input.array.shape[-2] != other.array.shape[-2 if left else -1]:
        raise RuntimeError(
            f"torch.ormqr: other.shape[{-2 if left else -1}] must be equal to input.shape[-2], but they are "
            f"{other.array.shape[-2 if left else -1]} and {input.array.shape[-2]}"
        )
    v, t = _reflectors("torch.ormqr", input, tau)
    t = adjoint(t) if transpose else t
    return other - (v @ (t @ (adjoint(v) @ other)) if left else ((other @ v) @ t) @ adjoint(v))
