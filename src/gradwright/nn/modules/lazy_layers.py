"""Layers that take the number of features or channels from their first input.

Each takes the arguments of the layer it becomes, but for the first one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from gradwright.nn.functional.geometry import batched
from gradwright.nn.lazy import LazyModuleMixin
from gradwright.nn.modules.applied import Dimensional
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

__all__ = [
    "LazyLinear", "LazyConv1d", "LazyConv2d", "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d",
    "LazyConvTranspose3d", "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyInstanceNorm1d",
    "LazyInstanceNorm2d", "LazyInstanceNorm3d",
]  # fmt: skip


class _Lazy(LazyModuleMixin, Dimensional, Parametric):
    """Parameters get their shapes in the first call, from a size of the input, kept as ``_size``.

    Classes made with ``axes`` become the second of their bases.
    """

    _size: ClassVar[str]

    def __init_subclass__(cls, axes: int = 0, **kwargs: Any) -> None:
        super().__init_subclass__(axes, **kwargs)
        if axes:
            cls.cls_to_become = cls.__bases__[1]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(0, *args, **kwargs)

    def _allocate(self, device: DeviceLike, dtype: DType, without: Any = ()) -> None:
        for name in self._shapes():
            made = None if name in without else UninitializedParameter(device=device, dtype=dtype)
            self.register_parameter(name, made)
        for name, buffer in self._buffers.items():
            if buffer is not None and buffer.ndim:
                self._buffers[name] = UninitializedBuffer(dtype=buffer.dtype)

    def _found(self, input: Any) -> int:
        """The size, of an input that this layer takes."""
        raise NotImplementedError

    def initialize_parameters(self, input: Any, *args: Any, **kwargs: Any) -> None:
        """Give parameters and buffers their shapes, and fill them, unless a state_dict has done so."""
        size = self._found(input)
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

    >>> layer = LazyLinear(2)
    >>> layer(gw.ones(1, 3)).shape, layer
    (torch.Size([1, 2]), Linear(in_features=3, out_features=2, bias=True))
    """

    cls_to_become = Linear
    _size = "in_features"

    def _found(self, input: Any) -> int:
        return int(input.shape[-1])


class _LazyConv(_Lazy):
    _size = "in_channels"
    _about = """
    ``{name}(out_channels, kernel_size, ...)`` takes the other arguments of the layer it becomes.

    >>> layer = gw.nn.{name}(2, 1)
    >>> layer(gw.ones(1, 3, {fives})).shape, layer.in_channels
    (torch.Size([1, 2, {fives}]), 3)
    """

    def _found(self, input: Any) -> int:
        batched(self._get_name(), input, self._axes)
        return int(input.shape[-self._axes - 1])


class LazyConv1d(_LazyConv, Conv1d, axes=1):
    """`Conv1d` with ``in_channels`` taken from the first input."""


class LazyConv2d(_LazyConv, Conv2d, axes=2):
    """`Conv2d` with ``in_channels`` taken from the first input."""


class LazyConv3d(_LazyConv, Conv3d, axes=3):
    """`Conv3d` with ``in_channels`` taken from the first input."""


class LazyConvTranspose1d(_LazyConv, ConvTranspose1d, axes=1):
    """`ConvTranspose1d` with ``in_channels`` taken from the first input."""


class LazyConvTranspose2d(_LazyConv, ConvTranspose2d, axes=2):
    """`ConvTranspose2d` with ``in_channels`` taken from the first input."""


class LazyConvTranspose3d(_LazyConv, ConvTranspose3d, axes=3):
    """`ConvTranspose3d` with ``in_channels`` taken from the first input."""


class _LazyNorm(_Lazy):
    _size = "num_features"
    _about = """
    ``{name}(eps=1e-5, momentum=0.1, ...)`` takes the other arguments of the layer it becomes. Unless told
    otherwise it has parameters and running statistics.

    >>> layer = gw.nn.{name}()
    >>> layer(gw.ones(2, 3, {fives})).shape, layer.num_features
    (torch.Size([2, 3, {fives}]), 3)
    """
    _check_input_dim: Callable[[Any], None]

    def __init__(self, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
                 track_running_stats: bool = True, device: DeviceLike = None, dtype: DType = None, *, bias: bool = True
                 ) -> None:  # fmt: skip
        super().__init__(eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _found(self, input: Any) -> int:
        self._check_input_dim(input)
        return int(input.shape[1])


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d, axes=1):
    """`BatchNorm1d` with ``num_features`` taken from the first input."""


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d, axes=2):
    """`BatchNorm2d` with ``num_features`` taken from the first input."""


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d, axes=3):
    """`BatchNorm3d` with ``num_features`` taken from the first input."""


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d, axes=1):
    """`InstanceNorm1d` with ``num_features`` taken from the first input."""


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d, axes=2):
    """`InstanceNorm2d` with ``num_features`` taken from the first input."""


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d, axes=3):
    """`InstanceNorm3d` with ``num_features`` taken from the first input."""
