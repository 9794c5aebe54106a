"""Window functions of `torch.signal.windows`; see `gradwright.face.functions.windows` for sample points k and m.

Each takes the number of points M, its own parameters by name, ``sym`` (symmetric, or else periodic), ``dtype``
(float32 or float64), ``device`` and ``requires_grad``. Each raises ValueError for a negative M or another dtype.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright.base import dtypes
from gradwright.base.lazy import lazy
from gradwright.engine.numbers import number
from gradwright.face.functions import windows as _w
from gradwright.face.functions.memory_format import strided

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor

__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming",
    "hann", "kaiser", "nuttall",
]  # fmt: skip

lazy(__name__)


def _made(name: str, M: int, formula: Any, sym: bool, dtype: Any = None, layout: Any = None, device: Any = None,
          requires_grad: bool = False) -> Any:  # fmt: skip
    M = number(name, "M", M)
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout not in (None, strided):
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    d = dtypes.default() if dtype is None else dtypes.of(dtype)
    if d not in (dtypes.float32, dtypes.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {d}")
    return _w.made(M, not sym, formula, d, device, requires_grad)


def bartlett(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """A triangle, 1 - |2 k / (m - 1) - 1|.

    >>> gw.signal.windows.bartlett(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return _made("bartlett", M, _w.bartlett, sym, **options)


def general_cosine(M: int, *, a: Sequence[float], sym: bool = True, **options: Any) -> Tensor:
    """sum_i (-1)**i a_i cos(2 pi i k / (m - 1)).

    >>> gw.signal.windows.general_cosine(3, a=[0.5, 0.5])
    tensor([0., 1., 0.])
    """
    if not isinstance(a, (tuple, list)):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    return _made("general_cosine", M, _w.cosines(*a), sym, **options)


def blackman(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """0.42 - 0.5 cos(2 pi k / (m - 1)) + 0.08 cos(4 pi k / (m - 1)).

    >>> gw.signal.windows.blackman(3).abs().round(decimals=4)
    tensor([0., 1., 0.])
    """
    return _made("blackman", M, _w.cosines(0.42, 0.5, 0.08), sym, **options)


def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, **options: Any) -> Tensor:
    """Alpha - (1 - alpha) cos(2 pi k / (m - 1)).

    >>> gw.signal.windows.general_hamming(3, alpha=0.5)
    tensor([0., 1., 0.])
    """
    return general_cosine(M, a=[alpha, 1 - alpha], sym=sym, **options)


def hamming(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """0.54 - 0.46 cos(2 pi k / (m - 1)).

    >>> gw.signal.windows.hamming(3).round(decimals=4)
    tensor([0.0800, 1.0000, 0.0800])
    """
    return general_hamming(M, sym=sym, **options)


def hann(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """0.5 - 0.5 cos(2 pi k / (m - 1)).

    >>> gw.signal.windows.hann(3)
    tensor([0., 1., 0.])
    """
    return general_hamming(M, alpha=0.5, sym=sym, **options)


def nuttall(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """The sum of four cosines with Nuttall's coefficients of least sidelobes.

    >>> gw.signal.windows.nuttall(3).round(decimals=3)
    tensor([0., 1., 0.])
    """
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, **options)


def cosine(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """sin(pi (k + 1/2) / m).

    >>> gw.signal.windows.cosine(3).round(decimals=4)
    tensor([0.5000, 1.0000, 0.5000])
    """
    return _made("cosine", M, lambda k, m: np.sin(np.pi * (k + 0.5) / m), sym, **options)


def gaussian(M: int, *, std: float = 1.0, sym: bool = True, **options: Any) -> Tensor:
    """e**(-((k - (m - 1) / 2) / std)**2 / 2). ValueError unless std > 0.

    >>> gw.signal.windows.gaussian(3)
    tensor([0.6065, 1.0000, 0.6065])
    """
    std = number("gaussian", "std", std)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return _made("gaussian", M, lambda k, m: np.exp(-0.5 * ((k - (m - 1) / 2) / std) ** 2), sym, **options)


def kaiser(M: int, *, beta: float = 12.0, sym: bool = True, **options: Any) -> Tensor:
    """I0(beta sqrt(1 - (2 k / (m - 1) - 1)**2)) / I0(beta). ValueError if beta < 0.

    >>> gw.signal.windows.kaiser(3, beta=2.0)
    tensor([0.4387, 1.0000, 0.4387])
    """
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    return _made("kaiser", M, _w.kaiser(beta), sym, **options)


def exponential(M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, **options: Any) -> Tensor:
    """e**(-|k - center| / tau), centred at (m - 1) / 2 unless another centre is given, which needs ``sym=False``.

    ValueError unless tau > 0.

    >>> gw.signal.windows.exponential(3)
    tensor([0.3679, 1.0000, 0.3679])
    """
    tau, center = number("exponential", "tau", tau), number("exponential", "center", center)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    if center is not None and M == 1:
        return _made("exponential", M, None, sym, **options) * float(np.exp(-abs(center) / tau))
    return _made("exponential", M, lambda k, m: np.exp(-np.abs(k - ((m - 1) / 2 if center is None else center)) / tau),
                 sym, **options)  # fmt: skip
