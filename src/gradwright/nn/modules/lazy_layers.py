"""Layers that take the number of features or channels from their first input.

Each takes the arguments of the layer it becomes, but for the first one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from gradwright.nn.functional.geometry import batched
from gradwright.nn.lazy import LazyModuleMixin
from gradwright.nn.modules.conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from gradwright.nn.modules.linear import Linear
from gradwright.nn.modules.norm import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
)
from gradwright.nn.modules.parametric import Parametric
from gradwright.nn.parameter import UninitializedBuffer, UninitializedParameter, is_lazy

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike, DType


class _Lazy(LazyModuleMixin, Parametric):
    """Parameters get their shapes in the first call, from the size of the input at ``_dim``, kept as ``_size``."""

    _size: ClassVar[str]
    _dim: ClassVar[int]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(0, *args, **kwargs)

    def _allocate(self, device: DeviceLike, dtype: DType, without: Any = ()) -> None:
        for name in self._shapes():
            made = None if name in without else UninitializedParameter(device=device, dtype=dtype)
            self.register_parameter(name, made)
        for name, buffer in self._buffers.items():
            if buffer is not None and buffer.ndim:
                self._buffers[name] = UninitializedBuffer(dtype=buffer.dtype)

    def initialize_parameters(self, input: Any, *args: Any, **kwargs: Any) -> None:
        """Give the parameters their shapes, and fill them, unless a state_dict has done so."""
        size = input.shape[self._dim]
        setattr(self, self._size, size)
        shapes: dict[str, Any] = dict.fromkeys(self._buffers, size) | self._shapes()
        loaded = not self.has_uninitialized_params()
        for name, held in (*self._parameters.items(), *self._buffers.items()):
            if is_lazy(held):
                held.materialize(shapes[name])  # type: ignore[union-attr]
            elif name in self._parameters and held is not None and held.shape != shapes[name]:
                setattr(self, self._size, 0)
                raise RuntimeError(f"The {self._size} inferred from input: {size} is not equal to {self._size} from "
                                   f"self.{name}, whose shape is {tuple(held.shape)}")  # fmt: skip
        if not loaded:
            self.reset_parameters()

    def _takes(self) -> str:
        return super()._takes() if getattr(self, self._size) else ""

    def reset_parameters(self) -> None:
        """Fill the parameters anew; nothing before they have a shape."""
        if not self.has_uninitialized_params():
            super().reset_parameters()


class LazyLinear(_Lazy, Linear):
    """`Linear` with ``in_features`` taken from the first input: ``LazyLinear(out_features, bias=True, ...)``.

    >>> import gradwright as gw
    >>> layer = LazyLinear(2)
    >>> layer(gw.ones(1, 3)).shape, layer
    (torch.Size([1, 2]), Linear(in_features=3, out_features=2, bias=True))
    """

    cls_to_become = Linear
    _size, _dim = "in_features", -1


class _LazyConv(_Lazy):
    _size = "in_channels"
    _axes: ClassVar[int]

    def initialize_parameters(self, input: Any, *args: Any, **kwargs: Any) -> None:
        """Give the parameters their shapes, and fill them."""
        batched(self._get_name(), input, self._axes)
        super().initialize_parameters(input)


class LazyConv1d(_LazyConv, Conv1d):
    """`Conv1d` with ``in_channels`` taken from the first input: ``LazyConv1d(out_channels, kernel_size, ...)``.

    >>> import gradwright as gw
    >>> layer = LazyConv1d(2, 3)
    >>> layer(gw.ones(1, 3, 5)).shape, layer.in_channels
    (torch.Size([1, 2, 3]), 3)
    """

    cls_to_become = Conv1d
    _dim = -2


class LazyConv2d(_LazyConv, Conv2d):
    """`Conv2d` with ``in_channels`` taken from the first input: ``LazyConv2d(out_channels, kernel_size, ...)``.

    >>> import gradwright as gw
    >>> layer = LazyConv2d(2, 3)
    >>> layer(gw.ones(1, 3, 5, 5)).shape, layer.in_channels
    (torch.Size([1, 2, 3, 3]), 3)
    """

    cls_to_become = Conv2d
    _dim = -3


class LazyConv3d(_LazyConv, Conv3d):
    """`Conv3d` with ``in_channels`` taken from the first input: ``LazyConv3d(out_channels, kernel_size, ...)``.

    >>> import gradwright as gw
    >>> layer = LazyConv3d(2, 3)
    >>> layer(gw.ones(1, 3, 5, 5, 5)).shape, layer.in_channels
    (torch.Size([1, 2, 3, 3, 3]), 3)
    """

    cls_to_become = Conv3d
    _dim = -4


class LazyConvTranspose1d(_LazyConv, ConvTranspose1d):
    """`ConvTranspose1d` with ``in_channels`` taken from the first input: ``LazyConvTranspose1d(out, kernel, ...)``.

    >>> import gradwright as gw
    >>> layer = LazyConvTranspose1d(2, 3)
    >>> layer(gw.ones(1, 3, 5)).shape, layer.in_channels
    (torch.Size([1, 2, 7]), 3)
    """

    cls_to_become = ConvTranspose1d
    _dim = -2


class LazyConvTranspose2d(_LazyConv, ConvTranspose2d):
    """`ConvTranspose2d` with ``in_channels`` taken from the first input: ``LazyConvTranspose2d(out, kernel, ...)``.

    >>> import gradwright as gw
    >>> layer = LazyConvTranspose2d(2, 3)
    >>> layer(gw.ones(1, 3, 5, 5)).shape, layer.in_channels
    (torch.Size([1, 2, 7, 7]), 3)
    """

    cls_to_become = ConvTranspose2d
    _dim = -3


class LazyConvTranspose3d(_LazyConv, ConvTranspose3d):
    """`ConvTranspose3d` with ``in_channels`` taken from the first input: ``LazyConvTranspose3d(out, kernel, ...)``.

    >>> import gradwright as gw
    >>> layer = LazyConvTranspose3d(2, 3)
    >>> layer(gw.ones(1, 3, 5, 5, 5)).shape, layer.in_channels
    (torch.Size([1, 2, 7, 7, 7]), 3)
    """

    cls_to_become = ConvTranspose3d
    _dim = -4


class _LazyNorm(_Lazy):
    _size, _dim = "num_features", 1
    _check_input_dim: Callable[[Any], None]

    def __init__(self, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
                 track_running_stats: bool = True, device: DeviceLike = None, dtype: DType = None, *, bias: bool = True
                 ) -> None:  # fmt: skip
        super().__init__(eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def initialize_parameters(self, input: Any, *args: Any, **kwargs: Any) -> None:
        """Give the parameters and buffers their shapes, and fill them."""
        self._check_input_dim(input)
        super().initialize_parameters(input)


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    """`BatchNorm1d` with ``num_features`` taken from the first input: ``LazyBatchNorm1d(eps=1e-5, momentum=0.1, ...)``.

    >>> import gradwright as gw
    >>> layer = LazyBatchNorm1d()
    >>> layer(gw.ones(2, 3, 5)).shape, layer.num_features
    (torch.Size([2, 3, 5]), 3)
    """

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    """`BatchNorm2d` with ``num_features`` taken from the first input: ``LazyBatchNorm2d(eps=1e-5, momentum=0.1, ...)``.

    >>> import gradwright as gw
    >>> layer = LazyBatchNorm2d()
    >>> layer(gw.ones(2, 3, 5, 5)).shape, layer.num_features
    (torch.Size([2, 3, 5, 5]), 3)
    """

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    """`BatchNorm3d` with ``num_features`` taken from the first input: ``LazyBatchNorm3d(eps=1e-5, momentum=0.1, ...)``.

    >>> import gradwright as gw
    >>> layer = LazyBatchNorm3d()
    >>> layer(gw.ones(2, 3, 5, 5, 5)).shape, layer.num_features
    (torch.Size([2, 3, 5, 5, 5]), 3)
    """

    cls_to_become = BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    """`InstanceNorm1d` with ``num_features`` taken from the first input: ``LazyInstanceNorm1d(eps=1e-5, ...)``.

    Unless told otherwise it has parameters and running statistics.

    >>> import gradwright as gw
    >>> layer = LazyInstanceNorm1d()
    >>> layer(gw.ones(2, 3, 5)).shape, layer.num_features
    (torch.Size([2, 3, 5]), 3)
    """

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    """`InstanceNorm2d` with ``num_features`` taken from the first input: ``LazyInstanceNorm2d(eps=1e-5, ...)``.

    Unless told otherwise it has parameters and running statistics.

    >>> import gradwright as gw
    >>> layer = LazyInstanceNorm2d()
    >>> layer(gw.ones(2, 3, 5, 5)).shape, layer.num_features
    (torch.Size([2, 3, 5, 5]), 3)
    """

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    """`InstanceNorm3d` with ``num_features`` taken from the first input: ``LazyInstanceNorm3d(eps=1e-5, ...)``.

    Unless told otherwise it has parameters and running statistics.

    >>> import gradwright as gw
    >>> layer = LazyInstanceNorm3d()
    >>> layer(gw.ones(2, 3, 5, 5, 5)).shape, layer.num_features
    (torch.Size([2, 3, 5, 5, 5]), 3)
    """

    cls_to_become = InstanceNorm3d
