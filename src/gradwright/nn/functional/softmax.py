"""The softmax along a dim, its relatives, and draws of categories by it."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from gradwright.face.functions import reduce
from gradwright.face.functions.activation import floating_arg
from gradwright.face.random import rand_like
from gradwright.face.reading.torch import tensor_arg
from gradwright.nn.functional.sparse import one_hot

if TYPE_CHECKING:
    from gradwright.face.typing import DType, Tensor

__all__ = ["gumbel_softmax", "log_softmax", "softmax", "softmin"]


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType = None) -> Tensor:
    """y_i = exp(x_i) / sum_j exp(x_j) along ``dim``, shaped like ``input``; ``dtype`` converts it first.

    Raises IndexError if there is no such ``dim``. Leaving it out warns, as PyTorch does, and takes dim 0 of a tensor
    with 0, 1 or 3 dims, dim 1 of any other.

    >>> import gradwright as gw
    >>> softmax(gw.tensor([[0.0, 0.0], [2.0, 2.0]]), dim=1)
    tensor([[0.5000, 0.5000],
            [0.5000, 0.5000]])
    """
    return reduce.softmax(input, _chosen("softmax", input, dim, _stacklevel), dtype=dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType = None) -> Tensor:
    """`softmax` of -input: y_i = exp(-x_i) / sum_j exp(-x_j) along ``dim``; arguments and errors as there.

    >>> import gradwright as gw
    >>> gw.nn.functional.softmin(gw.tensor([0.0, 0.0]), dim=0)
    tensor([0.5000, 0.5000])
    """
    return reduce.softmax(-tensor_arg("softmin", input), _chosen("softmin", input, dim, _stacklevel), dtype=dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType = None) -> Tensor:
    """y_i = x_i - log sum_j exp(x_j) along ``dim``: the logarithm of `softmax`, without overflow; arguments as there.

    >>> import gradwright as gw
    >>> log_softmax(gw.tensor([0.0, 1000.0]), dim=0)
    tensor([-1000.,     0.])
    """
    return reduce.log_softmax(input, _chosen("log_softmax", input, dim, _stacklevel), dtype=dtype)


def _chosen(name: str, input: Any, dim: int | None, stacklevel: int) -> int:
    """``dim``, or the one that PyTorch takes where none is given."""
    if dim is not None:
        return dim
    warnings.warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
                  "argument.", stacklevel=stacklevel)  # fmt: skip
    return 0 if tensor_arg(name, input).ndim in (0, 1, 3) else 1


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """`softmax` of (logits + Gumbel noise)/tau: a relaxed draw from the categories along ``dim`` (arXiv:1611.01144).

    Shape: that of ``logits``. ``hard`` gives one-hot values, with the gradient of the relaxed ones. ``eps`` has no
    effect.

    Raises NotImplementedError unless of floating-point numbers, IndexError for a dim that is not there.

    >>> import gradwright as gw
    >>> gw.nn.functional.gumbel_softmax(gw.zeros(3, 4), hard=True).sum(-1)
    tensor([1., 1., 1.])
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    x = floating_arg("gumbel_softmax", logits, "logits")
    noise = -(-rand_like(x).log()).log()
    y = reduce.softmax((x + noise) / tau, dim)
    if not hard:
        return y
    hot = one_hot(y.detach().argmax(dim), y.size(dim)).to(y.dtype).movedim(-1, dim)
    return hot - y.detach() + y
