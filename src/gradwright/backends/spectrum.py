"""Which eigenvalues or singular values are equal, and what then has no derivative. On the host, for every library.

Two count as equal if they differ by at most 10 n eps times the largest, n being how many there are: LAPACK's values are
those of a matrix that differs by some n eps of its norm (values that are equal came out up to 1.4 n eps apart, for n
from 2 to 100), and where the gap is no larger than that, rounding alone decides what the vectors are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradwright.base.errors import LinAlgError
from gradwright.base.upward import slots

__all__ = ["distinct", "full_rank", "independent", "level", "turnable", "unphased"]

_MENDS = {
    "linalg.eigh": "A function of the matrix, v @ diag(f(values)) @ v.mH, is gradwright.linalg.matrix_function(x, f); "
    "the projector v[:, :k] @ v[:, :k].mH is that of f = lambda t: (1 + sign(c - t)) / 2 for a c between values k - 1 "
    "and k",
    "linalg.eig": "A function of a Hermitian matrix is gradwright.linalg.matrix_function(x, f), of any matrix "
    "gradwright.linalg.matrix_exp(x) and matrix_power(x, n)",
    "linalg.svd": "A function of the singular values, u @ diag(s * f(s**2)) @ vh, is x @ "
    "gradwright.linalg.matrix_function(x.mH @ x, f)",
}
_EPS = {c: float(np.finfo(c).eps) for c in "fdFD"}


def _equal(values: Any) -> Any:
    """Of each two values, whether they are equal; of one with itself, not. None if all differ. Real ones are sorted."""
    n, rounding = values.shape[-1], 10 * values.shape[-1] * _EPS[values.dtype.char]
    if n and values.dtype.char in "fd":
        largest = np.maximum(abs(values[..., 0]), abs(values[..., -1]))
        if (abs(values[..., 1:] - values[..., :-1]) > (rounding * largest)[..., None]).all():
            return None
    least = rounding * np.max(np.abs(values), axis=-1, initial=0)
    equal = (np.abs(values[..., :, None] - values[..., None, :]) <= least[..., None, None]) & ~np.eye(n, dtype=bool)
    return equal if equal.any() else None


def _first(where: Any, axes: int) -> tuple[list[int], str]:
    """The first place where a condition on things along the last ``axes`` holds, and which matrix that is in words."""
    place = np.argwhere(where)[0].tolist()
    batch = place[:-axes]
    return place, f" of matrix {batch}" if batch else ""


def _named(values: Any, where: Any, of: str) -> str:
    """The first two values for which ``where`` holds."""
    (*batch, i, j), matrix = _first(where, 2)
    kind = "singular values" if of == "linalg.svd" else "eigenvalues"
    a, b = values[*batch, i], values[*batch, j]
    return f"{of}: {kind} {i} and {j}{matrix} are equal up to rounding ({a:.9g} and {b:.9g})"


def distinct(values: Any, *, used: Callable[[], Any], of: str) -> Any:
    """``values``, if each of those whose vectors are ``used`` differs from all others; else LinAlgError.

    Of fewer vectors than values the rest is not used; of more, the rest belongs to the last value.
    """
    equal = _equal(values)
    if equal is not None:
        given, n = used(), values.shape[-1]
        wanted = np.zeros(values.shape, bool)
        wanted[..., : given.shape[-1]] = given[..., :n]
        wanted[..., -1] |= given[..., n:].any(-1)
        equal &= wanted[..., :, None] | wanted[..., None, :]
    if equal is not None and equal.any():
        raise LinAlgError(
            f"{_named(values, equal, of)}, so their vectors are any basis of one space and have no derivative, which "
            f"this backward pass asks for. {_MENDS[of]}; it is right there too. If these vectors are not meant, detach "
            "them, or cut the others out by a slice: v[:, :k]."
        )
    return values


def level(slopes: Any, values: Any, *, of: str) -> Any:
    """``slopes``, the cotangents of ``values``; a GradientWarning if those of equal values differ.

    They may differ by the fourth root of the precision, as much as those of a function that turns quickly do.
    """
    equal = _equal(values)
    if equal is not None:
        size = np.abs(slopes)
        most = np.maximum(size[..., :, None], size[..., None, :]) * _EPS[slopes.dtype.char] ** 0.25
        equal &= np.abs(slopes[..., :, None] - slopes[..., None, :]) > most
    if equal is not None and equal.any():
        slots.warn(
            f"{_named(values, equal, of)}, and the loss weighs them differently: it has a kink here, as abs has at 0. "
            "The gradient is that of one basis of their vectors, one of many. It is determined for a loss that treats "
            "equal values alike, such as sum(f(values))."
        )
    return slopes


def independent(vectors: Any, values: Any, *, of: str) -> Any:
    """``vectors``, if they are independent; LinAlgError if, of equal values, there are too few."""
    equal = _equal(values)
    if equal is not None:
        sizes = np.linalg.svd(vectors, compute_uv=False)
        equal &= (sizes[..., -1:] <= 10 * values.shape[-1] * _EPS[values.dtype.char])[..., None]
    if equal is not None and equal.any():
        raise LinAlgError(
            f"{_named(values, equal, of)} and have one vector in common (the matrix is defective), where eigenvalues "
            "have no derivative. What treats equal ones alike can do without them: their sum is the trace, the sum of "
            "their n-th powers that of gradwright.linalg.matrix_power(x, n), their product the determinant."
        )
    return vectors


def turnable(vectors: Any, slopes: Any) -> Any:
    """The ``slopes`` of vectors that may be any basis of their space; LinAlgError if they differ between bases."""
    inner = np.conj(vectors.swapaxes(-1, -2)) @ slopes
    turn = np.abs(inner - np.conj(inner.swapaxes(-1, -2)))
    if np.max(turn, initial=0) > _EPS[slopes.dtype.char] ** 0.5 * np.max(np.abs(slopes), initial=0):
        raise LinAlgError(
            "linalg.svd: the loss depends on single vectors past the shorter side of the matrix (full_matrices=True), "
            "which may be any basis of their space and have no derivative. What they span has one, as w @ w.mH of "
            "them all. If they are not meant, say full_matrices=False."
        )
    return slopes


def unphased(slopes: Any, turn: Any, *, of: str) -> Any:
    """The ``slopes`` of complex vectors; LinAlgError if a loss changes as one turns, at a rate that is not 0."""
    least = _EPS[slopes.dtype.char] ** 0.5 * np.max(np.abs(slopes), initial=0)
    if np.max(np.abs(turn), initial=0) > least:
        (*_, k), matrix = _first(np.abs(turn) > least, 1)
        raise LinAlgError(
            f"{of}: the loss depends on the phase of complex vector {k}{matrix}, which may be any: times e**(i phi) it "
            "is a vector as good. So it has no derivative. What does not depend on it has one: abs(v), or the "
            "projector v[:, :k] @ v[:, :k].mH."
        )
    return slopes


def full_rank(triangle: Any) -> Any:
    """The ``triangle`` of a QR decomposition; LinAlgError if a number on its diagonal is 0 up to rounding."""
    sizes = np.abs(np.diagonal(triangle, axis1=-2, axis2=-1))
    least = 10 * sizes.shape[-1] * _EPS[triangle.dtype.char] * np.max(sizes, axis=-1, initial=0)
    lost = sizes <= least[..., None]
    if lost.any():
        (*_, k), matrix = _first(lost, 1)
        raise LinAlgError(
            f"linalg.qr: column {k}{matrix} is 0 or made of those before it, up to rounding, where q and r have no "
            "derivative. A basis of the columns that are independent has one: take the qr of those."
        )
    return triangle
