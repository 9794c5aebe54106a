"""Activations as modules: functions of single entries, rectifiers, softmax and its kin. Each holds only its settings.

The result has the shape of the input, which may be any, and its dtype, which must be a real floating-point one
(NotImplementedError otherwise). With ``inplace`` the input is overwritten: RuntimeError if it is a leaf that requires
grad.
"""

from __future__ import annotations

import warnings
from dataclasses import InitVar, field
from typing import TYPE_CHECKING

from gradwright.base.errors import size
from gradwright.nn import functional as F
from gradwright.nn.layer import layer
from gradwright.nn.module import Module
from gradwright.nn.modules.applied import Applied
from gradwright.nn.modules.parametric import Parametric, check_whole
from gradwright.nn.parameter import Parameter

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike, DType, Tensor

__all__ = [
    "Sigmoid", "LogSigmoid", "Hardsigmoid", "Tanh", "Tanhshrink", "SiLU", "Hardswish", "Mish", "GELU", "Softplus",
    "Softsign", "Softshrink", "Hardshrink", "GLU", "ReLU", "Hardtanh", "ReLU6", "Threshold", "LeakyReLU", "RReLU",
    "PReLU", "ELU", "CELU", "SELU", "Softmax", "Softmin", "Softmax2d", "LogSoftmax",
]  # fmt: skip


class Sigmoid(Applied, function=F.sigmoid):
    """y = 1/(1 + exp(-x)). Integers and complex numbers are welcome.

    >>> Sigmoid()(gw.zeros(2))
    tensor([0.5000, 0.5000])
    """


class LogSigmoid(Applied, function=F.logsigmoid):
    """y = log(1/(1 + exp(-x))), without overflow."""


@layer
class Hardsigmoid(Applied, function=F.hardsigmoid):
    """y = x/6 + 1/2 kept between 0 and 1; slope 0 at both kinks, x = -3 and 3."""

    inplace: bool = field(default=False, repr=False)


class Tanh(Applied, function=F.tanh):
    """y = tanh x. Integers and complex numbers are welcome.

    >>> Tanh()(gw.zeros(2))
    tensor([0., 0.])
    """


class Tanhshrink(Applied, function=F.tanhshrink):
    """y = x - tanh x, dy/dx = tanh(x)**2."""


@layer
class SiLU(Applied, function=F.silu):
    """y = x sigmoid(x), dy/dx = s (1 + x (1 - s)) with s = sigmoid(x). Complex numbers are welcome."""

    inplace: bool = False


@layer
class Hardswish(Applied, function=F.hardswish):
    """y = x hardsigmoid(x): 0 below x = -3, x above 3, x (x + 3) / 6 between."""

    inplace: bool = field(default=False, repr=False)


@layer
class Mish(Applied, function=F.mish):
    """y = x tanh(log(1 + e**x)), smooth."""

    inplace: bool = False


@layer
class GELU(Applied, function=F.gelu):
    """y = x Phi(x), with the normal distribution function Phi."""

    approximate: str = "none"


@layer
class Softplus(Applied, function=F.softplus):
    """y = log(1 + exp(beta x)) / beta; the line y = x where beta x > threshold."""

    beta: float = 1.0
    threshold: float = 20.0


class Softsign(Applied, function=F.softsign):
    """y = x / (1 + abs x), dy/dx = 1 / (1 + abs x)**2, 1 at 0."""


@layer
class Softshrink(Applied, function=F.softshrink):
    """x moved towards 0 by ``lambd``, and to 0 if it is nearer; slope 0 at the kinks."""

    lambd: float = 0.5

    def extra_repr(self) -> str:
        return str(self.lambd)


@layer
class Hardshrink(Applied, function=F.hardshrink):
    """y = x where abs x > lambd, else 0; slope 0 at the jumps."""

    lambd: float = 0.5

    def extra_repr(self) -> str:
        return str(self.lambd)


@layer
class GLU(Applied, function=F.glu):
    """a sigmoid(b), where a and b are the two halves of the input along ``dim``: half as long there."""

    dim: int = -1


@layer
class ReLU(Applied, function=F.relu):
    """y = max(x, 0); derivative 1 where x > 0, else 0. Integers are welcome."""

    inplace: bool = False


@layer
class Hardtanh(Applied, function=F.hardtanh):
    """x kept between ``min_val`` and ``max_val``; slope 0 at both. Integers are welcome.

    ``min_value`` and ``max_value`` are old names of the two (FutureWarning). Raises AssertionError unless
    min_val < max_val.

    >>> Hardtanh(-2.0, 2.0)(gw.tensor([-3.0, 0.5, 3.0]))
    tensor([-2.0000,  0.5000,  2.0000])
    """

    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False
    min_value: InitVar[float | None] = None
    max_value: InitVar[float | None] = None

    def __post_init__(self, min_value: float | None, max_value: float | None) -> None:
        for new, old, value in (("min_val", "min_value", min_value), ("max_val", "max_value", max_value)):
            if value is not None:
                warnings.warn(f"keyword argument `{old}` is deprecated and renamed to `{new}`", FutureWarning,
                              stacklevel=5)  # fmt: skip
                setattr(self, new, value)
        if not self.min_val < self.max_val:
            raise AssertionError(f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})")


class ReLU6(Hardtanh):
    """x kept between 0 and 6; slope 0 at both. Integers are welcome.

    >>> ReLU6(inplace=True)
    ReLU6(inplace=True)
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


@layer
class Threshold(Applied, function=F.threshold):
    """y = x where x > threshold, else ``value``, with slope 0. Integers are welcome."""

    threshold: float
    value: float
    inplace: bool = False


@layer
class LeakyReLU(Applied, function=F.leaky_relu):
    """y = x where x > 0, else negative_slope x; the slope at 0 is ``negative_slope``."""

    negative_slope: float = 0.01
    inplace: bool = False


@layer
class RReLU(Applied, function=F.rrelu):
    """`LeakyReLU` with slopes drawn for each entry from U(lower, upper) in training, and their mean in evaluation.

    >>> RReLU(0.25, 0.75).eval()(gw.tensor([-1.0, 2.0]))
    tensor([-0.5000,  2.0000])
    """

    lower: float = 1 / 8
    upper: float = 1 / 3
    inplace: bool = False


class PReLU(Parametric):
    """y = x where x > 0, else weight x, with a weight that is learnt.

    Args:
        num_parameters: 1 for all entries, or the number of channels (dim 1 of the input), for a weight each.
        init: what the weights are at first.
        device: where they live.
        dtype: their dtype; the default one (float32) if None.

    Attributes: ``weight`` (num_parameters,).

    Called, raises RuntimeError if the channels or the dtype of the input do not fit.

    >>> PReLU()(gw.tensor([-2.0, 3.0])).tolist()
    [-0.5, 3.0]
    """

    weight: Parameter

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: DeviceLike = None,
                 dtype: DType = None) -> None:  # fmt: skip
        super().__init__()
        check_whole(self, num_parameters=num_parameters)
        self.num_parameters = num_parameters
        self.init = init
        self._allocate(device, dtype)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"weight": (self.num_parameters,)}

    def reset_parameters(self) -> None:
        """Set the weights to ``init``."""
        self.weight.detach().fill_(self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


@layer
class ELU(Applied, function=F.elu):
    """y = x above 0, alpha (e**x - 1) below, whose slope is taken at 0."""

    alpha: float = 1.0
    inplace: bool = False


@layer
class CELU(Applied, function=F.celu):
    """y = x above 0, alpha (e**(x/alpha) - 1) below: `ELU` without its kink."""

    alpha: float = 1.0
    inplace: bool = False


@layer
class SELU(Applied, function=F.selu):
    """`ELU` scaled so that mean 0 and variance 1 persist from layer to layer: s x above 0, s a (e**x - 1) below.

    s = 1.0507009873554805 and a = 1.6732632423543772.
    """

    inplace: bool = False


@layer
class Softmax(Applied, function=F.softmax):
    """y_i = exp(x_i) / sum_j exp(x_j) along ``dim``, shaped like the input."""

    dim: int | None = None

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim, _stacklevel=5)


@layer
class Softmin(Applied, function=F.softmin):
    """`Softmax` of -x."""

    dim: int | None = None

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """`Softmax` over the channels, (n, channels, height, width), or without n. ValueError for other numbers of dims.

    >>> Softmax2d()(gw.zeros(2, 1, 2))
    tensor([[[0.5000, 0.5000]],
            [[0.5000, 0.5000]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead: shape "
                             f"{size(input.shape)}")  # fmt: skip
        return F.softmax(input, -3)


@layer
class LogSoftmax(Applied, function=F.log_softmax):
    """y_i = x_i - log sum_j exp(x_j) along ``dim``: the logarithm of `Softmax`, without overflow."""

    dim: int | None = None

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim, _stacklevel=5)
