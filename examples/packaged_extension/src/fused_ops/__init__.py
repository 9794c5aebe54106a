"""Operations in C++ for gradwright: `mish` and `banded_matvec`, with derivatives."""

from __future__ import annotations

import gradwright as gw
from fused_ops import _core

__all__ = ["banded_matvec", "mish"]
__version__ = "0.1.0"


def mish(x: gw.Tensor) -> gw.Tensor:
    """The activation x tanh(log(1 + exp(x))) of each entry, in one loop and without overflow; smooth everywhere.

    Args:
        x: float32 or float64, of any shape.

    Returns:
        A tensor of the shape and dtype of x. It has a first and a second derivative.

    Example:
        >>> mish(gw.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.3034,  0.0000,  0.8651])
    """
    return _core.mish(x)


def banded_matvec(band: gw.Tensor, x: gw.Tensor, lower: int) -> gw.Tensor:
    """The product A x of a square matrix that is zero but for some diagonals next to its own.

    Row k of the band is the diagonal k - lower of A, in the columns where A has its rows: A[i, i + k - lower] is
    band[k, i]. Entries of the band for which A has no column are not used, and their gradients are zero. It takes the
    time to read the band once. There are derivatives of every order, by the band and by x.

    Args:
        band: the diagonals, (k, n), float32 or float64.
        x: (n,), of the same dtype.
        lower: how many of the diagonals are below the main one, 0 ... k - 1.

    Returns:
        (n,)

    Raises:
        RuntimeError: if the sizes do not fit each other.
        ValueError: if there is no diagonal ``lower``.

    Example:
        The second differences of 1, 4, 9, 16, with zeros at both ends:

        >>> band = gw.tensor([[1.0], [-2.0], [1.0]]).expand(3, 4)
        >>> banded_matvec(band, gw.tensor([1.0, 4.0, 9.0, 16.0]), lower=1)
        tensor([  2.,   2.,   2., -23.])
    """
    return _core.Product.apply(band, x, lower)
