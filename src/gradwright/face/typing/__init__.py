"""Names for annotations. Nothing imports this when a program runs: modules do so under ``TYPE_CHECKING`` alone.

First the names of what annotations say again and again, then the results with names of their own, then the kinds of
functions that are made from declarations, by what a call of one looks like.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, ParamSpec, Protocol, TypeAlias, TypeVar, Unpack, overload

import numpy as np

from gradwright.backends.devices import device
from gradwright.base.dtypes import Size, dtype
from gradwright.engine.base import TensorBase
from gradwright.engine.edges import GradientEdge
from gradwright.face.functions.memory_format import memory_format
from gradwright.face.functions.memory_options import Memory
from gradwright.face.random import Generator
from gradwright.face.tensor import Tensor

Number: TypeAlias = int | float | complex
"""A number, or a bool."""
Value: TypeAlias = Tensor | int | float | complex
"""A parameter: a tensor, or a number."""
Ints: TypeAlias = int | Sequence[int]
"""One, for all dims that are meant, or one for each."""
Dims: TypeAlias = int | Sequence[int] | None
"""One dim, several, or None: all."""
DType: TypeAlias = dtype | type | np.dtype[Any] | str | None
"""What is taken for a dtype: ours, Python's, NumPy's, or a name; None for the usual one."""
DeviceLike: TypeAlias = device | str | int | None
MemoryFormat: TypeAlias = memory_format
Operand: TypeAlias = "Tensor | Number | np.ndarray[Any, Any] | np.generic"
"""What stands beside a tensor in arithmetic."""
Roots: TypeAlias = TensorBase | GradientEdge | Iterable[TensorBase | GradientEdge]
"""What a backward pass begins at, or ends at: tensors, or edges of the graph (`autograd.graph.get_gradient_edge`)."""
Index: TypeAlias = Any
"""What may stand in square brackets: ints, slices, None, ..., tensors, arrays and lists, or a tuple of them."""
TensorLike: TypeAlias = Any
"""What a tensor is made of: a tensor, an array of any library, a number, or lists of these."""


# What functions return that return several tensors with names.


class ValuesIndices(NamedTuple):
    """Of max, min, sort, topk and the like."""

    values: Tensor
    indices: Tensor


class MinMax(NamedTuple):
    """Of aminmax."""

    min: Tensor
    max: Tensor


class MantissaExponent(NamedTuple):
    """Of frexp."""

    mantissa: Tensor
    exponent: Tensor


class Histogram(NamedTuple):
    """Of histogram."""

    hist: Tensor
    bin_edges: Tensor


class HistogramDD(NamedTuple):
    """Of histogramdd."""

    hist: Tensor
    bin_edges: tuple[Tensor, ...]


class InverseInfo(NamedTuple):
    """Of linalg.inv_ex."""

    inverse: Tensor
    info: Tensor


class ResultInfo(NamedTuple):
    """Of linalg.solve_ex."""

    result: Tensor
    info: Tensor


class SignLogDet(NamedTuple):
    """Of slogdet."""

    sign: Tensor
    logabsdet: Tensor


class LeastSquares(NamedTuple):
    """Of linalg.lstsq."""

    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


class CholeskyInfo(NamedTuple):
    """Of linalg.cholesky_ex."""

    L: Tensor
    info: Tensor


class Eigen(NamedTuple):
    """Of linalg.eig and linalg.eigh."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class LDLFactor(NamedTuple):
    """Of linalg.ldl_factor."""

    LD: Tensor
    pivots: Tensor


class LDLFactorInfo(NamedTuple):
    """Of linalg.ldl_factor_ex."""

    LD: Tensor
    pivots: Tensor
    info: Tensor


class PLU(NamedTuple):
    """Of linalg.lu and lu_unpack."""

    P: Tensor
    L: Tensor
    U: Tensor


class LUFactor(NamedTuple):
    """Of linalg.lu_factor."""

    LU: Tensor
    pivots: Tensor


class LUFactorInfo(NamedTuple):
    """Of linalg.lu_factor_ex."""

    LU: Tensor
    pivots: Tensor
    info: Tensor


class QR(NamedTuple):
    """Of qr."""

    Q: Tensor
    R: Tensor


class USVh(NamedTuple):
    """Of linalg.svd."""

    U: Tensor
    S: Tensor
    Vh: Tensor


class USV(NamedTuple):
    """Of svd."""

    U: Tensor
    S: Tensor
    V: Tensor


class ATau(NamedTuple):
    """Of geqrf."""

    a: Tensor
    tau: Tensor


class Triangular(NamedTuple):
    """Of triangular_solve."""

    solution: Tensor
    cloned_coefficient: Tensor


# Functions and methods, by what a call of one looks like.

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


class _Named(Protocol):
    __name__: str


class Unary(_Named, Protocol):
    """A function of one tensor, and a method without arguments."""

    def __call__(self, input: Tensor) -> Tensor: ...
    @overload
    def __get__(self, instance: None, owner: Any) -> Unary: ...
    @overload
    def __get__(self, instance: Any, owner: Any) -> Callable[[], Tensor]: ...


class Question(_Named, Protocol):
    """A function of one tensor that is answered by yes or no."""

    def __call__(self, input: Tensor) -> bool: ...


class Binary(_Named, Protocol):
    """A function of two tensors, of which one may be a number, and a method with one argument."""

    def __call__(self, input: Operand, other: Operand) -> Tensor: ...
    @overload
    def __get__(self, instance: None, owner: Any) -> Binary: ...
    @overload
    def __get__(self, instance: Any, owner: Any) -> Callable[[Operand], Tensor]: ...


class Polynomial(_Named, Protocol):
    """A function of a tensor and a degree, of which one may be a number."""

    def __call__(self, input: Tensor | Number, n: Tensor | int) -> Tensor: ...


class Transform(_Named, Protocol):
    """A Fourier transform along one dim."""

    def __call__(self, input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor: ...


class Transforms(_Named, Protocol):
    """A Fourier transform along several dims."""

    def __call__(self, input: Tensor, s: Sequence[int] | None = None, dim: Dims = None,
                 norm: str | None = None) -> Tensor: ...  # fmt: skip


class Frequencies(_Named, Protocol):
    """The frequencies of a Fourier transform."""

    def __call__(self, n: int, d: float = 1.0, *, dtype: DType = None, device: DeviceLike = None,
                 requires_grad: bool = False, **memory: Unpack[Memory]) -> Tensor: ...  # fmt: skip


class Shift(_Named, Protocol):
    """A function that moves the zero frequency."""

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


class Listed(_Named, Protocol):
    """A function of a tensor and sizes, one by one or in a list."""

    def __call__(self, input: Tensor, *sizes: Ints, **named: Ints) -> Tensor: ...
    @overload
    def __get__(self, instance: None, owner: Any) -> Listed: ...
    @overload
    def __get__(self, instance: Any, owner: Any) -> Sized: ...


class TriangleIndices(_Named, Protocol):
    """`tril_indices` and `triu_indices`."""

    def __call__(self, row: int, col: int, offset: int = 0, *, dtype: DType = None, device: DeviceLike = None,
                 **memory: Unpack[Memory]) -> Tensor: ...  # fmt: skip


class Stacking(_Named, Protocol):
    """A function that joins tensors."""

    def __call__(self, tensors: Sequence[Tensor]) -> Tensor: ...


class Window(_Named, Protocol):
    """A window by its length."""

    def __call__(self, window_length: int, periodic: bool = True, *parameters: float, dtype: DType = None,
                 layout: Any = None, device: DeviceLike = None, pin_memory: bool = False, requires_grad: bool = False,
                 **named: float) -> Tensor: ...  # fmt: skip


class Cell(_Named, Protocol):
    """A recurrent cell whose state is one tensor."""

    def __call__(self, input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
                 b_hh: Tensor | None = None) -> Tensor: ...  # fmt: skip


class LSTMCell(_Named, Protocol):
    """A recurrent cell whose state is two tensors."""

    def __call__(self, input: Tensor, hx: Sequence[Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None,
                 b_hh: Tensor | None = None) -> tuple[Tensor, Tensor]: ...  # fmt: skip


class ByInput(_Named, Protocol):
    """The gradient of a convolution by its input."""

    def __call__(self, input_size: Sequence[int], weight: Tensor, grad_output: Tensor, stride: Ints = 1,
                 padding: Ints = 0, dilation: Ints = 1, groups: int = 1) -> Tensor: ...  # fmt: skip


class ByWeight(_Named, Protocol):
    """The gradient of a convolution by its weight."""

    def __call__(self, input: Tensor, weight_size: Sequence[int], grad_output: Tensor, stride: Ints = 1,
                 padding: Ints = 0, dilation: Ints = 1, groups: int = 1) -> Tensor: ...  # fmt: skip


class MaskedReduction(_Named, Protocol):
    """A reduction of the entries where a mask holds."""

    def __call__(self, input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: DType = None,
                 mask: Tensor | None = None) -> Tensor: ...  # fmt: skip


class MaskedScan(_Named, Protocol):
    """A function along a dim of the entries where a mask holds."""

    def __call__(self, input: Tensor, dim: int, *, dtype: DType = None, mask: Tensor | None = None) -> Tensor: ...


class OfOne(_Named, Protocol):
    """A function of one tensor."""

    def __call__(self, x: Tensor, /) -> Tensor: ...


class OfTwo(_Named, Protocol):
    """A function of two tensors, of which one may be a number."""

    def __call__(self, x1: Tensor | Number, x2: Tensor | Number, /) -> Tensor: ...


class AlongAxis(_Named, Protocol):
    """A Fourier transform along one axis."""

    def __call__(self, x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor: ...


class OverAxes(_Named, Protocol):
    """A Fourier transform over several axes."""

    def __call__(self, x: Tensor, /, *, s: Ints | None = None, axes: Ints | None = None,
                 norm: str = "backward") -> Tensor: ...  # fmt: skip


class AxisFrequencies(_Named, Protocol):
    """The frequencies of a Fourier transform."""

    def __call__(self, n: int, /, *, d: float = 1.0, dtype: DType = None, device: DeviceLike = None) -> Tensor: ...


class AxisShift(_Named, Protocol):
    """A function that moves the zero frequency."""

    def __call__(self, x: Tensor, /, *, axes: Dims = None) -> Tensor: ...


class Conv(_Named, Protocol):
    """A convolution."""

    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1,
                 padding: Ints | str = 0, dilation: Ints = 1, groups: int = 1) -> Tensor: ...  # fmt: skip


class ConvTranspose(_Named, Protocol):
    """The adjoint of a convolution."""

    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1,
                 padding: Ints = 0, output_padding: Ints = 0, groups: int = 1,
                 dilation: Ints = 1) -> Tensor: ...  # fmt: skip


class MaxPool(_Named, Protocol):
    """Pooling by the largest entry; with ``return_indices`` a pair."""

    @overload
    def __call__(self, input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0,
                 dilation: Ints = 1, ceil_mode: bool = False,
                 return_indices: Literal[False] = False) -> Tensor: ...  # fmt: skip
    @overload
    def __call__(self, input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0,
                 dilation: Ints = 1, ceil_mode: bool = False, *,
                 return_indices: Literal[True]) -> tuple[Tensor, Tensor]: ...  # fmt: skip


class AvgPool(_Named, Protocol):
    """Pooling by the mean."""

    def __call__(self, input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0,
                 ceil_mode: bool = False, count_include_pad: bool = True,
                 divisor_override: int | None = None) -> Tensor: ...  # fmt: skip


class LPPool(_Named, Protocol):
    """Pooling by a norm."""

    def __call__(self, input: Tensor, norm_type: float, kernel_size: Ints, stride: Ints | None = None,
                 ceil_mode: bool = False) -> Tensor: ...  # fmt: skip


class AdaptiveAvgPool(_Named, Protocol):
    """Pooling by the mean to a size."""

    def __call__(self, input: Tensor, output_size: int | Sequence[int | None] | None) -> Tensor: ...


class AdaptiveMaxPool(_Named, Protocol):
    """Pooling by the largest entry to a size; with ``return_indices`` a pair."""

    @overload
    def __call__(self, input: Tensor, output_size: int | Sequence[int | None] | None,
                 return_indices: Literal[False] = False) -> Tensor: ...  # fmt: skip
    @overload
    def __call__(self, input: Tensor, output_size: int | Sequence[int | None] | None,
                 *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]: ...  # fmt: skip


class FractionalMaxPool(_Named, Protocol):
    """Pooling by the largest entry over random windows; with ``return_indices`` a pair."""

    @overload
    def __call__(self, input: Tensor, kernel_size: Ints, output_size: Ints | None = None,
                 output_ratio: float | Sequence[float] | None = None, return_indices: Literal[False] = False,
                 _random_samples: Tensor | None = None) -> Tensor: ...  # fmt: skip
    @overload
    def __call__(self, input: Tensor, kernel_size: Ints, output_size: Ints | None = None,
                 output_ratio: float | Sequence[float] | None = None, *, return_indices: Literal[True],
                 _random_samples: Tensor | None = None) -> tuple[Tensor, Tensor]: ...  # fmt: skip


class MaxUnpool(_Named, Protocol):
    """What puts the entries back that pooling found."""

    def __call__(self, input: Tensor, indices: Tensor, kernel_size: Ints, stride: Ints | None = None,
                 padding: Ints = 0, output_size: Sequence[int] | None = None) -> Tensor: ...  # fmt: skip


class MaxPoolWithIndices(_Named, Protocol):
    """Pooling by the largest entry: values, and where they are."""

    def __call__(self, input: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]: ...


__all__ = [
    "ATau", "AdaptiveAvgPool", "AdaptiveMaxPool", "AlongAxis", "AvgPool", "AxisFrequencies", "AxisShift", "Binary",
    "ByInput", "ByWeight", "Cell", "CholeskyInfo", "Conv", "ConvTranspose", "DType", "DeviceLike", "Dims", "Eigen",
    "Forwards", "FractionalMaxPool", "Frequencies", "Generator", "Histogram", "HistogramDD", "Index", "Ints",
    "InverseInfo", "LDLFactor", "LDLFactorInfo", "LPPool", "LSTMCell", "LUFactor", "LUFactorInfo", "LeastSquares",
    "Listed", "MantissaExponent", "MaskedReduction", "MaskedScan", "MaxPool", "MaxPoolWithIndices", "MaxUnpool",
    "Memory", "MemoryFormat", "MinMax", "Number", "OfOne", "OfTwo", "Operand", "OverAxes", "PLU", "Polynomial",
    "Property", "QR", "Question", "ResultInfo", "Roots", "Shift", "SignLogDet", "Size", "Sized", "Stacking", "Tensor",
    "TensorLike", "Transform", "Transforms", "TriangleIndices", "Triangular", "USV", "USVh", "Unary", "Value",
    "ValuesIndices", "Window",
]  # fmt: skip
