"""Linear layers."""

from __future__ import annotations

import math
from typing import Any

from gradwright import creation
from gradwright.autograd.grad_mode import no_grad
from gradwright.face.linalg import linear
from gradwright.nn.module import Module
from gradwright.nn.parameter import Parameter


class Linear(Module):
    """y = x weight^T + bias.

    Args:
        in_features: the last size of the input (..., in_features).
        out_features: the last size of the output (..., out_features).
        bias: whether there is one; without it the parameter is registered as None.
        device: where the parameters live.
        dtype: their dtype; the default one (float32) if None.

    Attributes: ``weight`` (out_features, in_features) and ``bias`` (out_features,), both drawn from
    U(-1/sqrt(in_features), 1/sqrt(in_features)): PyTorch's Kaiming uniform distribution with a = sqrt(5).

    Raises RuntimeError for a negative size or a dtype that is no floating-point one; called, RuntimeError if the
    input's last size or its dtype differs from the weight's.

    >>> import gradwright as gw
    >>> layer = Linear(3, 2)
    >>> layer
    Linear(in_features=3, out_features=2, bias=True)
    >>> layer(gw.ones(4, 3)).shape
    torch.Size([4, 2])
    """

    in_features: int
    out_features: int
    weight: Parameter
    bias: Parameter | None

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: Any = None,
                 dtype: Any = None) -> None:  # fmt: skip
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(creation.empty((out_features, in_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(creation.empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew; without input features the bias is 0."""
        bound = 1 / math.sqrt(self.in_features) if self.in_features else 0.0
        with no_grad():
            for parameter in (self.weight, self.bias):
                if parameter is not None:
                    parameter.uniform_(-bound, bound)

    def forward(self, input: Any) -> Any:
        """``input`` (..., in_features) to (..., out_features)."""
        return linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Identity(Module):
    """y = x; takes any arguments, so that it can stand in for any module.

    >>> import gradwright as gw
    >>> Identity(54, unused=True)(gw.ones(2))
    tensor([1., 1.])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        """``input`` itself."""
        return input
