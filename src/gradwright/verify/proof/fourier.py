"""Fourier transforms of balls: the sums themselves, with roots of unity that are exact to the working precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradwright.verify.proof import series
from gradwright.verify.proof.balls import Balls, balls, product
from gradwright.verify.proof.shapes import moveaxis


def _scale(n: int, norm: str | None, inverse: bool) -> Any:
    """What a transform of n entries is divided by."""
    if norm == "ortho":
        return series.arb(n).sqrt()
    return series.arb(n if (norm == "forward") != inverse else 1)


def _roots(rows: int, columns: int, n: int, sign: int, scale: Any) -> Balls:
    """The matrix of e**(sign 2 pi i j k / n) over a scale."""
    held = np.empty((rows, columns), object)
    for j, k in np.ndindex(rows, columns):
        held[j, k] = series.acb_series([series.acb(series.arb(2 * sign * (j * k % n)) / n).exp_pi_i() / scale])
    return Balls(held, None, np.complex128)


def _along(x: Any, matrix: Balls, axis: int) -> Balls:
    out = product(moveaxis(balls(x), axis, -1), matrix, np.matmul)
    return moveaxis(out, -1, axis)


def fft(x: Any, *, axis: int = -1, norm: str | None = None) -> Balls:
    """The sums of x_j e**(-2 pi i j k / n)."""
    n = x.shape[axis]
    return _along(x, _roots(n, n, n, -1, _scale(n, norm, inverse=False)), axis)


def ifft(x: Any, *, axis: int = -1, norm: str | None = None) -> Balls:
    """The inverse of `fft`."""
    n = x.shape[axis]
    return _along(x, _roots(n, n, n, 1, _scale(n, norm, inverse=True)), axis)


def rfft(x: Any, *, axis: int = -1, norm: str | None = None) -> Balls:
    """The first n // 2 + 1 entries of `fft`."""
    n = x.shape[axis]
    return _along(x, _roots(n, n // 2 + 1, n, -1, _scale(n, norm, inverse=False)), axis)


def irfft(x: Any, *, n: int, axis: int = -1, norm: str | None = None) -> Balls:
    """The inverse of `rfft`, of n entries: those inside stand for two each."""
    weights = np.array([1.0 if k == 0 or 2 * k == n else 2.0 for k in range(n // 2 + 1)])
    matrix = balls(weights)[:, None] * _roots(n // 2 + 1, n, n, 1, _scale(n, norm, inverse=True))
    return _along(x, matrix, axis).real


def fftn(x: Any, *, axes: Sequence[int], norm: str | None = None) -> Balls:
    """`fft` over each of the axes."""
    for axis in axes:
        x = fft(x, axis=axis, norm=norm)
    return x


def ifftn(x: Any, *, axes: Sequence[int], norm: str | None = None) -> Balls:
    """The inverse of `fftn`."""
    for axis in axes:
        x = ifft(x, axis=axis, norm=norm)
    return x


def rfftn(x: Any, *, axes: Sequence[int], norm: str | None = None) -> Balls:
    """`rfft` over the last of the axes, then `fft` over the others."""
    return fftn(rfft(x, axis=axes[-1], norm=norm), axes=axes[:-1], norm=norm)


def irfftn(x: Any, *, s: Sequence[int], axes: Sequence[int], norm: str | None = None) -> Balls:
    """The inverse of `rfftn`."""
    return irfft(ifftn(x, axes=axes[:-1], norm=norm), n=s[-1], axis=axes[-1], norm=norm)
