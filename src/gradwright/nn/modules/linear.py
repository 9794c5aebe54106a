"""Linear layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwright.face.functions.algebra.linalg import linear
from gradwright.nn import functional as F
from gradwright.nn.module import Module
from gradwright.nn.modules.parametric import Parametric, check_whole
from gradwright.nn.parameter import Parameter

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike, DType, Tensor

__all__ = ["Linear", "Bilinear", "Identity"]


class Linear(Parametric):
    """y = x weight^T + bias.

    Args:
        in_features: the last size of the input (..., in_features).
        out_features: the last size of the output (..., out_features).
        bias: whether there is one; without it the parameter is registered as None.
        device: where the parameters live.
        dtype: their dtype; the default one (float32) if None.

    Attributes: ``weight`` (out_features, in_features) and ``bias`` (out_features,), both drawn from
    U(-1/sqrt(in_features), 1/sqrt(in_features)): PyTorch's Kaiming uniform distribution with a = sqrt(5).

    Raises TypeError for a size that is no whole number, RuntimeError for a negative one or a dtype that is no
    floating-point one; called, RuntimeError if the input's last size or its dtype differs from the weight's.

    >>> layer = Linear(3, 2)
    >>> layer
    Linear(in_features=3, out_features=2, bias=True)
    >>> layer(gw.ones(4, 3)).shape
    torch.Size([4, 2])
    """

    in_features: int
    out_features: int
    weight: Parameter
    bias: Parameter | Any

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: DeviceLike = None,
                 dtype: DType = None) -> None:  # fmt: skip
        super().__init__()
        check_whole(self, in_features=in_features, out_features=out_features)
        self.in_features = in_features
        self.out_features = out_features
        self._allocate(device, dtype, () if bias else ("bias",))

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"weight": (self.out_features, self.in_features), "bias": (self.out_features,)}

    def reset_parameters(self) -> None:
        """Draw weight and bias anew; without input features the bias is 0."""
        self._draw_within(self.in_features)

    def forward(self, input: Tensor) -> Tensor:
        """``input`` (..., in_features) to (..., out_features)."""
        return linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Bilinear(Parametric):
    """y_k = x1^T weight_k x2 + bias_k, for x1 (..., in1_features) and x2 (..., in2_features): (..., out_features).

    Args:
        in1_features: the last size of the first input.
        in2_features: the last size of the second input, whose other sizes are those of the first.
        out_features: the last size of the output.
        bias: whether there is one; without it the parameter is registered as None.
        device: where the parameters live.
        dtype: their dtype; the default one (float32) if None.

    Attributes: ``weight`` (out_features, in1_features, in2_features) and ``bias`` (out_features,), both drawn from
    U(-1/sqrt(in1_features), 1/sqrt(in1_features)).

    Raises TypeError for a size that is no whole number, ValueError unless ``in1_features`` is positive; called,
    RuntimeError for sizes or dtypes that do not fit.

    >>> layer = Bilinear(2, 3, 4)
    >>> layer(gw.ones(5, 2), gw.ones(5, 3)).shape
    torch.Size([5, 4])
    """

    in1_features: int
    in2_features: int
    out_features: int
    weight: Parameter
    bias: Parameter | Any

    def __init__(self, in1_features: int, in2_features: int, out_features: int, bias: bool = True,
                 device: DeviceLike = None, dtype: DType = None) -> None:  # fmt: skip
        super().__init__()
        check_whole(self, in1_features=in1_features, in2_features=in2_features, out_features=out_features)
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self._allocate(device, dtype, () if bias else ("bias",))

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"weight": (self.out_features, self.in1_features, self.in2_features), "bias": (self.out_features,)}

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        self._draw_within(self.in1_features)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """(..., in1_features) and (..., in2_features) to (..., out_features)."""
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )

    def _takes(self) -> str:
        return f"(..., {self.in1_features}) and (..., {self.in2_features})"


class Identity(Module):
    """y = x; takes any arguments, so that it can stand in for any module.

    >>> Identity(54, unused=True)(gw.ones(2))
    tensor([1., 1.])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """``input`` itself."""
        return input
