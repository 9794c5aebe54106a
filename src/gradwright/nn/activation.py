"""Activations as modules. Each has no parameters, keeps the shape of its input, and holds only its settings."""

from __future__ import annotations

from typing import Any

from gradwright.nn import functional as F
from gradwright.nn.layer import layer
from gradwright.nn.module import Module


@layer
class ReLU(Module):
    """y = max(x, 0); derivative 1 where x > 0, else 0.

    Args:
        inplace: overwrite the input (RuntimeError if it is a leaf that requires grad).

    >>> ReLU(), ReLU(inplace=True)
    (ReLU(), ReLU(inplace=True))
    """

    inplace: bool = False

    def forward(self, input: Any) -> Any:
        """`functional.relu` of ``input``."""
        return F.relu(input, self.inplace)


class Sigmoid(Module):
    """y = 1/(1 + exp(-x)).

    >>> import gradwright as gw
    >>> Sigmoid()(gw.zeros(2))
    tensor([0.5000, 0.5000])
    """

    def forward(self, input: Any) -> Any:
        """`functional.sigmoid` of ``input``."""
        return F.sigmoid(input)


class Tanh(Module):
    """y = tanh x.

    >>> import gradwright as gw
    >>> Tanh()(gw.zeros(2))
    tensor([0., 0.])
    """

    def forward(self, input: Any) -> Any:
        """`functional.tanh` of ``input``."""
        return F.tanh(input)


@layer
class Softplus(Module):
    """y = log(1 + exp(beta x)) / beta; the line y = x where beta x > threshold.

    >>> Softplus()
    Softplus(beta=1.0, threshold=20.0)
    """

    beta: float = 1.0
    threshold: float = 20.0

    def forward(self, input: Any) -> Any:
        """`functional.softplus` of ``input``."""
        return F.softplus(input, self.beta, self.threshold)


@layer
class Softmax(Module):
    """y_i = exp(x_i) / sum_j exp(x_j) along ``dim``; without a ``dim``, see `functional.softmax`.

    >>> Softmax(dim=1)
    Softmax(dim=1)
    """

    dim: int | None = None

    def forward(self, input: Any) -> Any:
        """`functional.softmax` of ``input``."""
        return F.softmax(input, self.dim)


@layer
class LogSoftmax(Module):
    """y_i = x_i - log sum_j exp(x_j) along ``dim``: the logarithm of `Softmax`, without overflow.

    >>> import gradwright as gw
    >>> LogSoftmax(dim=0)(gw.tensor([0.0, 1000.0]))
    tensor([-1000.,     0.])
    """

    dim: int | None = None

    def forward(self, input: Any) -> Any:
        """`functional.log_softmax` of ``input``."""
        return F.log_softmax(input, self.dim)
