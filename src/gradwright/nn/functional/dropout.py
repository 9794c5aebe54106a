"""Dropout: in training some entries, or whole channels, are dropped at random, and the rest made larger to match.

``p`` is the probability to be dropped: ValueError outside [0, 1]. ``inplace`` overwrites the input.
"""

from __future__ import annotations

import warnings
from typing import Any

from gradwright.base import dtypes
from gradwright.engine.numbers import number
from gradwright.face.functions.elementwise import mul
from gradwright.face.functions.forms import store
from gradwright.face.random.laws import tried
from gradwright.face.reading.torch import tensor_arg
from gradwright.face.tensor import Tensor

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]

_ALPHA = -1.7580993408473766  # where selu ends, far below 0


def dropped(name: str, input: Any, p: float, training: bool, inplace: bool, *, channels: bool, alpha: bool) -> Any:
    """All of them: of single entries or whole channels, to 0 or to the lower end of `selu` (``alpha``)."""
    x, p = tensor_arg(name, input), number(name, "p", p)
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    shape = x.array.shape
    if not training or p == 0 or not x.array.size:
        return x
    if channels and len(shape) < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    d = x.dtype if dtypes.kind(x.array.dtype) == "f" else None
    kept = tried(1 - p, (*shape[:2], *(1,) * (len(shape) - 2)) if channels else shape, d or dtypes.float32, x.device)
    if not alpha:
        out = mul(x, kept.to(x.dtype) * (1 / (1 - p)) if p < 1 else kept.to(x.dtype))
    elif p == 1:
        out = mul(x, 0)
    else:
        a = ((_ALPHA * _ALPHA * p + 1) * (1 - p)) ** -0.5
        out = x * (kept.to(d) * a) + ((~kept).to(d) * (_ALPHA * a) - _ALPHA * a * p)
    return store(x, out) if inplace else out


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Entries set to 0 with probability p, the others divided by 1 - p; the input itself unless ``training``.

    Shape: any. Raises ValueError unless 0 <= p <= 1.

    >>> x = gw.nn.functional.dropout(gw.ones(100), 0.5)
    >>> sorted(set(x.tolist()))
    [0.0, 2.0]
    """
    return dropped("dropout", input, p, training, inplace, channels=False, alpha=False)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """`dropout` of whole channels of an input (n, channels, length), or without n.

    Raises RuntimeError for other dims, ValueError unless 0 <= p <= 1.

    >>> x = gw.nn.functional.dropout1d(gw.ones(1, 8, 3))
    >>> bool((x == x[..., :1]).all())
    True
    """
    if input.ndim not in (2, 3):
        raise RuntimeError(f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input.")
    return _channelwise("dropout1d", input, p, training, inplace, 3)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """`dropout` of whole channels, (n, channels, height, width). Three dims count as (n, channels, length).

    Warns of other than 4 dims. Raises RuntimeError for fewer than 2, ValueError unless 0 <= p <= 1.

    >>> x = gw.nn.functional.dropout2d(gw.ones(1, 8, 3, 3))
    >>> bool((x == x[..., :1, :1]).all())
    True
    """
    if input.ndim != 4:
        more = "assuming that channel-wise 1D dropout behavior is desired" if input.ndim == 3 else "use dropout instead"
        warnings.warn(f"dropout2d: Received a {input.ndim}-D input, which is deprecated: {more}", stacklevel=2)
    return dropped("dropout2d", input, p, training, inplace, channels=True, alpha=False)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """`dropout` of whole channels, (n, channels, depth, height, width), or without n.

    Warns of other than 4 or 5 dims. Raises ValueError unless 0 <= p <= 1.

    >>> x = gw.nn.functional.dropout3d(gw.ones(1, 8, 2, 2, 2))
    >>> bool((x == x[..., :1, :1, :1]).all())
    True
    """
    if input.ndim not in (4, 5):
        warnings.warn(f"dropout3d: Received a {input.ndim}-D input, which is deprecated: use dropout", stacklevel=2)
    return _channelwise("dropout3d", input, p, training, inplace, 5)


def _channelwise(name: str, input: Any, p: float, training: bool, inplace: bool, ndim: int) -> Any:
    """Dropout of channels, where an input of fewer dims than ``ndim`` is one of a batch."""
    if input.ndim == ndim:
        return dropped(name, input, p, training, inplace, channels=True, alpha=False)
    out = dropped(name, input.unsqueeze(0), p, training, False, channels=True, alpha=False).squeeze(0)
    return store(input, out) if inplace else out


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout for `selu`: entries set to its lower limit, and all scaled so that mean 0 and variance 1 persist.

    With a' = -1.7581 entries become a' with probability p, then a x + b, a = ((a'**2 p + 1) (1 - p))**-1/2, b = -a a' p
    (arXiv:1706.02515). Shape: any. Raises ValueError unless 0 <= p <= 1.

    >>> gw.nn.functional.alpha_dropout(gw.zeros(100), 0.5, training=True).unique().shape
    torch.Size([2])
    """
    return dropped("alpha_dropout", input, p, training, inplace, channels=False, alpha=True)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """`alpha_dropout` of whole channels (dim 1): (n, channels, ...).

    Raises RuntimeError for fewer than 2 dims, ValueError unless 0 <= p <= 1.

    >>> x = gw.nn.functional.feature_alpha_dropout(gw.ones(1, 8, 3), 0.5, training=True)
    >>> bool((x == x[..., :1]).all())
    True
    """
    return dropped("feature_alpha_dropout", input, p, training, inplace, channels=True, alpha=True)
