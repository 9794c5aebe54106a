"""The functions behind the modules: the same formulas, with their parameters handed in."""

from __future__ import annotations

import warnings
from typing import Any

from gradwright.face import elementwise, reduce
from gradwright.face.arguments import tensor_arg
from gradwright.face.elementwise import sigmoid, softplus, tanh
from gradwright.face.linalg import linear

__all__ = ["linear", "log_softmax", "mse_loss", "relu", "sigmoid", "softmax", "softplus", "tanh"]


def relu(input: Any, inplace: bool = False) -> Any:
    """max(x, 0), entry by entry; derivative 1 where x > 0, else 0, at the kink too.

    ``inplace`` overwrites ``input``: a RuntimeError if that is a leaf that requires grad.

    >>> import gradwright as gw
    >>> relu(gw.tensor([-1.0, 0.0, 2.0]))
    tensor([0., 0., 2.])
    """
    x = tensor_arg("relu", input)
    return x.relu_() if inplace else elementwise.relu(x)


def softmax(input: Any, dim: int | None = None, *, dtype: Any = None) -> Any:
    """y_i = exp(x_i) / sum_j exp(x_j) along ``dim``, shaped like ``input``; ``dtype`` converts it first.

    Raises IndexError if there is no such ``dim``. Leaving it out warns, as PyTorch does, and takes dim 0 of a tensor
    with 0, 1 or 3 dims, dim 1 of any other.

    >>> import gradwright as gw
    >>> softmax(gw.tensor([[0.0, 0.0], [2.0, 2.0]]), dim=1)
    tensor([[0.5000, 0.5000],
            [0.5000, 0.5000]])
    """
    return reduce.softmax(input, _chosen("softmax", input, dim), dtype=dtype)


def log_softmax(input: Any, dim: int | None = None, *, dtype: Any = None) -> Any:
    """y_i = x_i - log sum_j exp(x_j) along ``dim``: the logarithm of `softmax`, without overflow; arguments as there.

    >>> import gradwright as gw
    >>> log_softmax(gw.tensor([0.0, 1000.0]), dim=0)
    tensor([-1000.,     0.])
    """
    return reduce.log_softmax(input, _chosen("log_softmax", input, dim), dtype=dtype)


def _chosen(name: str, input: Any, dim: int | None) -> int:
    """``dim``, or the one that PyTorch takes where none is given."""
    if dim is not None:
        return dim
    warnings.warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
                  "argument.", stacklevel=3)  # fmt: skip
    return 0 if tensor_arg(name, input).ndim in (0, 1, 3) else 1


def mse_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """The squared error (x - y)**2: its mean over all entries, their ``"sum"``, or ``"none"``: each entry's.

    Sizes that differ broadcast, with a warning, since that is seldom what was meant.

    Raises TypeError if either is no tensor, ValueError for any other ``reduction``, RuntimeError if the sizes do not
    broadcast.

    >>> import gradwright as gw
    >>> mse_loss(gw.tensor([1.0, 2.0]), gw.tensor([1.0, 4.0]))
    tensor(2.)
    """
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction: expected 'mean', 'sum' or 'none'")
    x, y = tensor_arg("mse_loss", input), tensor_arg("mse_loss", target, "target", 2)
    if x.shape != y.shape:
        warnings.warn(
            f"Using a target size ({y.shape}) that is different to the input size ({x.shape}). This will likely lead "
            "to incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=2,
        )
    error = elementwise.square(x - y)
    return error if reduction == "none" else reduce.mean(error) if reduction == "mean" else reduce.sum(error)
