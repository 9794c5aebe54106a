"""Rectifiers as modules: straight above 0, something else below. Each holds only its settings, PReLU its weight too.

Shapes, dtypes and ``inplace`` are as in `activation`.
"""

from __future__ import annotations

import warnings
from dataclasses import InitVar
from typing import TYPE_CHECKING

from gradwright.nn import functional as F
from gradwright.nn.layer import layer
from gradwright.nn.module import Module
from gradwright.nn.modules.parametric import Parametric, check_whole
from gradwright.nn.parameter import Parameter

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike, DType, Tensor


@layer
class ReLU(Module):
    """y = max(x, 0); derivative 1 where x > 0, else 0. Integers are welcome.

    >>> ReLU(), ReLU(inplace=True)
    (ReLU(), ReLU(inplace=True))
    """

    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, self.inplace)


@layer
class Hardtanh(Module):
    """x kept between ``min_val`` and ``max_val``; slope 0 at both. Integers are welcome.

    ``min_value`` and ``max_value`` are old names of the two (FutureWarning). Raises AssertionError unless
    min_val < max_val.

    >>> import gradwright as gw
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

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


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
class Threshold(Module):
    """y = x where x > threshold, else ``value``, with slope 0. Integers are welcome.

    >>> import gradwright as gw
    >>> Threshold(0.5, -1.0)(gw.tensor([0.5, 2.0]))
    tensor([-1.,  2.])
    """

    threshold: float
    value: float
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)


@layer
class LeakyReLU(Module):
    """y = x where x > 0, else negative_slope x.

    >>> import gradwright as gw
    >>> LeakyReLU(0.5)(gw.tensor([-1.0, 2.0]))
    tensor([-0.5000,  2.0000])
    """

    negative_slope: float = 0.01
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)


@layer
class RReLU(Module):
    """`LeakyReLU` with slopes drawn for each entry from U(lower, upper) in training, and their mean in evaluation.

    >>> import gradwright as gw
    >>> RReLU(0.25, 0.75).eval()(gw.tensor([-1.0, 2.0]))
    tensor([-0.5000,  2.0000])
    """

    lower: float = 1 / 8
    upper: float = 1 / 3
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class PReLU(Parametric):
    """y = x where x > 0, else weight x, with a weight that is learnt.

    Args:
        num_parameters: 1 for all entries, or the number of channels (dim 1 of the input), for a weight each.
        init: what the weights are at first.
        device: where they live.
        dtype: their dtype; the default one (float32) if None.

    Attributes: ``weight`` (num_parameters,).

    Called, raises RuntimeError if the channels or the dtype of the input do not fit.

    >>> import gradwright as gw
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
class ELU(Module):
    """y = x above 0, alpha (e**x - 1) below, whose slope is taken at 0.

    >>> import gradwright as gw
    >>> ELU()(gw.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """

    alpha: float = 1.0
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)


@layer
class CELU(Module):
    """y = x above 0, alpha (e**(x/alpha) - 1) below: `ELU` without its kink. Called, RuntimeError if alpha is 0.

    >>> CELU(2.0)
    CELU(alpha=2.0)
    """

    alpha: float = 1.0
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)


@layer
class SELU(Module):
    """`ELU` scaled so that mean 0 and variance 1 persist from layer to layer: s x above 0, s a (e**x - 1) below.

    s = 1.0507009873554805 and a = 1.6732632423543772.

    >>> SELU(), SELU(inplace=True)
    (SELU(), SELU(inplace=True))
    """

    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.selu(input, self.inplace)
