"""The kinds of functions that pool, by what a call of one looks like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, overload

from gradwright.face.tensor import Tensor
from gradwright.face.typing.names import Ints


class Conv(Protocol):
    """A convolution."""

    __name__: str

    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1,
                 padding: Ints | str = 0, dilation: Ints = 1, groups: int = 1) -> Tensor: ...  # fmt: skip


class ConvTranspose(Protocol):
    """The adjoint of a convolution."""

    __name__: str

    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1,
                 padding: Ints = 0, output_padding: Ints = 0, groups: int = 1,
                 dilation: Ints = 1) -> Tensor: ...  # fmt: skip


class MaxPool(Protocol):
    """Pooling by the largest entry; with ``return_indices`` a pair."""

    __name__: str

    @overload
    def __call__(self, input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0,
                 dilation: Ints = 1, ceil_mode: bool = False,
                 return_indices: Literal[False] = False) -> Tensor: ...  # fmt: skip
    @overload
    def __call__(self, input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0,
                 dilation: Ints = 1, ceil_mode: bool = False, *,
                 return_indices: Literal[True]) -> tuple[Tensor, Tensor]: ...  # fmt: skip


class AvgPool(Protocol):
    """Pooling by the mean."""

    __name__: str

    def __call__(self, input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0,
                 ceil_mode: bool = False, count_include_pad: bool = True,
                 divisor_override: int | None = None) -> Tensor: ...  # fmt: skip


class LPPool(Protocol):
    """Pooling by a norm."""

    __name__: str

    def __call__(self, input: Tensor, norm_type: float, kernel_size: Ints, stride: Ints | None = None,
                 ceil_mode: bool = False) -> Tensor: ...  # fmt: skip


class AdaptiveAvgPool(Protocol):
    """Pooling by the mean to a size."""

    __name__: str

    def __call__(self, input: Tensor, output_size: int | Sequence[int | None] | None) -> Tensor: ...


class AdaptiveMaxPool(Protocol):
    """Pooling by the largest entry to a size; with ``return_indices`` a pair."""

    __name__: str

    @overload
    def __call__(self, input: Tensor, output_size: int | Sequence[int | None] | None,
                 return_indices: Literal[False] = False) -> Tensor: ...  # fmt: skip
    @overload
    def __call__(self, input: Tensor, output_size: int | Sequence[int | None] | None,
                 *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]: ...  # fmt: skip


class FractionalMaxPool(Protocol):
    """Pooling by the largest entry over random windows; with ``return_indices`` a pair."""

    __name__: str

    @overload
    def __call__(self, input: Tensor, kernel_size: Ints, output_size: Ints | None = None,
                 output_ratio: float | Sequence[float] | None = None, return_indices: Literal[False] = False,
                 _random_samples: Tensor | None = None) -> Tensor: ...  # fmt: skip
    @overload
    def __call__(self, input: Tensor, kernel_size: Ints, output_size: Ints | None = None,
                 output_ratio: float | Sequence[float] | None = None, *, return_indices: Literal[True],
                 _random_samples: Tensor | None = None) -> tuple[Tensor, Tensor]: ...  # fmt: skip


class MaxUnpool(Protocol):
    """What puts the entries back that pooling found."""

    __name__: str

    def __call__(self, input: Tensor, indices: Tensor, kernel_size: Ints, stride: Ints | None = None,
                 padding: Ints = 0, output_size: Sequence[int] | None = None) -> Tensor: ...  # fmt: skip


class MaxPoolWithIndices(Protocol):
    """Pooling by the largest entry: values, and where they are."""

    __name__: str

    def __call__(self, input: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]: ...
