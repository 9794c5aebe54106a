"""The kinds of functions that are made from declarations, by what a call of one looks like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, Protocol, TypeVar, Unpack, overload

from gradwright.face.memory_options import Memory
from gradwright.face.tensor import Tensor
from gradwright.face.typing.names import DeviceLike, Dims, DType, Ints, Number, Operand

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


class Unary(Protocol):
    """A function of one tensor, and a method without arguments."""

    __name__: str

    def __call__(self, input: Tensor) -> Tensor: ...
    @overload
    def __get__(self, instance: None, owner: Any) -> Unary: ...
    @overload
    def __get__(self, instance: Any, owner: Any) -> Callable[[], Tensor]: ...


class Question(Protocol):
    """A function of one tensor that is answered by yes or no."""

    __name__: str

    def __call__(self, input: Tensor) -> bool: ...


class Binary(Protocol):
    """A function of two tensors, of which one may be a number, and a method with one argument."""

    __name__: str

    def __call__(self, input: Operand, other: Operand) -> Tensor: ...
    @overload
    def __get__(self, instance: None, owner: Any) -> Binary: ...
    @overload
    def __get__(self, instance: Any, owner: Any) -> Callable[[Operand], Tensor]: ...


class Polynomial(Protocol):
    """A function of a tensor and a degree, of which one may be a number."""

    __name__: str

    def __call__(self, input: Tensor | Number, n: Tensor | int) -> Tensor: ...


class Transform(Protocol):
    """A Fourier transform along one dim."""

    __name__: str

    def __call__(self, input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor: ...


class Transforms(Protocol):
    """A Fourier transform along several dims."""

    __name__: str

    def __call__(self, input: Tensor, s: Sequence[int] | None = None, dim: Dims = None,
                 norm: str | None = None) -> Tensor: ...  # fmt: skip


class Frequencies(Protocol):
    """The frequencies of a Fourier transform."""

    __name__: str

    def __call__(self, n: int, d: float = 1.0, *, dtype: DType = None, device: DeviceLike = None,
                 requires_grad: bool = False, **memory: Unpack[Memory]) -> Tensor: ...  # fmt: skip


class Shift(Protocol):
    """A function that moves the zero frequency."""

    __name__: str

    def __call__(self, input: Tensor, dim: Dims = None) -> Tensor: ...


class Forwards(Protocol[P, R_co]):
    """What has a method forward."""

    @property
    def forward(self) -> Callable[P, R_co]: ...


class Property(Protocol):
    """A tensor as an attribute of a tensor."""

    def __get__(self, instance: Any, owner: Any) -> Tensor: ...


class Sized(Protocol):
    """A method with sizes, one by one or in a list."""

    def __call__(self, *sizes: Ints) -> Tensor: ...


class Listed(Protocol):
    """A function of a tensor and sizes, one by one or in a list."""

    __name__: str

    def __call__(self, input: Tensor, *sizes: Ints, **named: Ints) -> Tensor: ...
    @overload
    def __get__(self, instance: None, owner: Any) -> Listed: ...
    @overload
    def __get__(self, instance: Any, owner: Any) -> Sized: ...


class TriangleIndices(Protocol):
    """`tril_indices` and `triu_indices`."""

    __name__: str

    def __call__(self, row: int, col: int, offset: int = 0, *, dtype: DType = None, device: DeviceLike = None,
                 **memory: Unpack[Memory]) -> Tensor: ...  # fmt: skip


class Stacking(Protocol):
    """A function that joins tensors."""

    __name__: str

    def __call__(self, tensors: Sequence[Tensor]) -> Tensor: ...


class Window(Protocol):
    """A window by its length."""

    __name__: str

    def __call__(self, window_length: int, periodic: bool = True, *parameters: float, dtype: DType = None,
                 layout: Any = None, device: DeviceLike = None, pin_memory: bool = False, requires_grad: bool = False,
                 **named: float) -> Tensor: ...  # fmt: skip


class Cell(Protocol):
    """A recurrent cell whose state is one tensor."""

    __name__: str

    def __call__(self, input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
                 b_hh: Tensor | None = None) -> Tensor: ...  # fmt: skip


class LSTMCell(Protocol):
    """A recurrent cell whose state is two tensors."""

    __name__: str

    def __call__(self, input: Tensor, hx: Sequence[Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
                 b_hh: Tensor | None = None) -> tuple[Tensor, Tensor]: ...  # fmt: skip


class ByInput(Protocol):
    """The gradient of a convolution by its input."""

    __name__: str

    def __call__(self, input_size: Sequence[int], weight: Tensor, grad_output: Tensor, stride: Ints = 1,
                 padding: Ints = 0, dilation: Ints = 1, groups: int = 1) -> Tensor: ...  # fmt: skip


class ByWeight(Protocol):
    """The gradient of a convolution by its weight."""

    __name__: str

    def __call__(self, input: Tensor, weight_size: Sequence[int], grad_output: Tensor, stride: Ints = 1,
                 padding: Ints = 0, dilation: Ints = 1, groups: int = 1) -> Tensor: ...  # fmt: skip


class MaskedReduction(Protocol):
    """A reduction of the entries where a mask holds."""

    __name__: str

    def __call__(self, input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: DType = None,
                 mask: Tensor | None = None) -> Tensor: ...  # fmt: skip


class MaskedScan(Protocol):
    """A function along a dim of the entries where a mask holds."""

    __name__: str

    def __call__(self, input: Tensor, dim: int, *, dtype: DType = None, mask: Tensor | None = None) -> Tensor: ...


class OfOne(Protocol):
    """A function of one tensor."""

    __name__: str

    def __call__(self, x: Tensor, /) -> Tensor: ...


class OfTwo(Protocol):
    """A function of two tensors, of which one may be a number."""

    __name__: str

    def __call__(self, x1: Tensor | Number, x2: Tensor | Number, /) -> Tensor: ...


class AlongAxis(Protocol):
    """A Fourier transform along one axis."""

    __name__: str

    def __call__(self, x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor: ...


class OverAxes(Protocol):
    """A Fourier transform over several axes."""

    __name__: str

    def __call__(self, x: Tensor, /, *, s: Ints | None = None, axes: Ints | None = None,
                 norm: str = "backward") -> Tensor: ...  # fmt: skip


class AxisFrequencies(Protocol):
    """The frequencies of a Fourier transform."""

    __name__: str

    def __call__(self, n: int, /, *, d: float = 1.0, dtype: DType = None, device: DeviceLike = None) -> Tensor: ...


class AxisShift(Protocol):
    """A function that moves the zero frequency."""

    __name__: str

    def __call__(self, x: Tensor, /, *, axes: Dims = None) -> Tensor: ...
