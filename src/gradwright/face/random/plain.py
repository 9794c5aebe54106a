"""Random numbers of a size: uniform, normal, whole, and orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from gradwright.backends.devices import chosen
from gradwright.base import dtypes
from gradwright.engine.numbers import whole
from gradwright.face.creation import alike, finish, size_of
from gradwright.face.functions.memory_options import strided_only
from gradwright.face.random.streams import Generator, drawn_array, source_of

if TYPE_CHECKING:
    from typing import Unpack

    from gradwright.face.typing import DeviceLike, DType, Ints, Memory, MemoryFormat, Tensor


def real(function: str, draw: Any, given: Any, dtype: Any) -> Any:
    """What ``draw`` draws of a size for a floating-point or complex dtype, not yet cast to it."""
    d = dtypes.default() if dtype is None else dtypes.of(dtype)
    if d.category < dtypes.FLOAT:
        raise NotImplementedError(f"{function}(): not implemented for {d}; expected a floating-point dtype")
    size = size_of(function, given)
    if d.is_complex:  # parts of half the variance each
        parts = drawn_array(draw((*size, 2), np.float32 if d is dtypes.complex64 else np.float64))
        return (parts[..., 0] + 1j * parts[..., 1]) * (0.5**0.5 if function == "randn" else 1)
    return drawn_array(draw(size, d.dtype))


def rand(*size: Ints, generator: Generator | None = None, dtype: DType = None, device: DeviceLike = None,
         requires_grad: bool = False, **memory: Unpack[Memory]) -> Tensor:  # fmt: skip
    """Uniform random numbers from [0, 1); complex ones have both parts from it.

    Args:
        size: ints, or one sequence of them.
        generator: what they are drawn from; the default one (`manual_seed`) if None.
        dtype: a floating-point or complex one; the default one (float32) if None.
        device: where they live; they are drawn on the CPU.
        requires_grad: whether operations on them are recorded.

    A seed gives other numbers than in PyTorch. Raises NotImplementedError for another dtype, RuntimeError for a
    negative size, TypeError for what is no generator.

    >>> _ = gw.manual_seed(0)
    >>> x = gw.rand(1000)
    >>> x.shape, bool((0 <= x).all()), bool((x < 1).all())
    (torch.Size([1000]), True, True)
    """
    if memory:
        strided_only(rand, memory)
    array = real("rand", source_of(generator).random, size, dtype)
    return finish(array, dtypes.default() if dtype is None else dtype, chosen(device), requires_grad)


def randn(*size: Ints, generator: Generator | None = None, dtype: DType = None, device: DeviceLike = None,
          requires_grad: bool = False, **memory: Unpack[Memory]) -> Tensor:  # fmt: skip
    """Normal random numbers of mean 0 and variance 1; for complex ones the variance of both parts together.

    Arguments and errors are those of `rand`.

    >>> _ = gw.manual_seed(0)
    >>> x = gw.randn(10000, dtype=gw.float64)
    >>> bool(x.mean().abs() < 0.05), bool((x.var() - 1).abs() < 0.05)
    (True, True)
    """
    if memory:
        strided_only(randn, memory)
    array = real("randn", source_of(generator).standard_normal, size, dtype)
    return finish(array, dtypes.default() if dtype is None else dtype, chosen(device), requires_grad)


@overload
def randint(high: int, size: Sequence[int], /, *, generator: Generator | None = None, dtype: DType = None,
            device: DeviceLike = None, requires_grad: bool = False,
            **memory: Unpack[Memory]) -> Tensor: ...  # fmt: skip
@overload
def randint(low: int, high: int, size: Sequence[int], *, generator: Generator | None = None, dtype: DType = None,
            device: DeviceLike = None, requires_grad: bool = False,
            **memory: Unpack[Memory]) -> Tensor: ...  # fmt: skip
@overload
def randint(*, high: int, size: Sequence[int], generator: Generator | None = None, dtype: DType = None,
            device: DeviceLike = None, requires_grad: bool = False,
            **memory: Unpack[Memory]) -> Tensor: ...  # fmt: skip
def randint(low: int = 0, high: Any = None, size: Any = None, *, generator: Generator | None = None,
            dtype: DType = None, device: DeviceLike = None, requires_grad: bool = False,
            **memory: Unpack[Memory]) -> Tensor:  # fmt: skip
    """Whole random numbers from ``low`` (0 if left out) to below ``high``, each as likely; int64 if no dtype is named.

    Other arguments are those of `rand`. Raises RuntimeError unless low < high, or for a negative size.

    >>> x = gw.randint(1, 7, (100,))
    >>> x.dtype, 1 <= x.min().item(), x.max().item() <= 6
    (torch.int64, True, True)
    """
    if memory:
        strided_only(randint, memory)
    if size is None:
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    low, high = whole("randint", "low", low), whole("randint", "high", high)
    if low >= high:
        raise RuntimeError(f"randint(): expects 'low' to be less than 'high', but got low={low} >= high={high}")
    array = drawn_array(source_of(generator).integers(low, high, size_of("randint", (size,))))
    return finish(array, dtypes.int64 if dtype is None else dtype, chosen(device), requires_grad)


def randint_like(input: Tensor, low: int = 0, high: int | None = None, *, generator: Generator | None = None,
                 dtype: DType = None, device: DeviceLike = None, requires_grad: bool = False,
                 memory_format: MemoryFormat | None = None, **memory: Unpack[Memory]) -> Tensor:  # fmt: skip
    """`randint` of the size of ``input``, and of its dtype, device and order in memory unless others are named.

    Raises RuntimeError unless low < high.

    >>> gw.randint_like(gw.zeros(2, 3), 10).shape
    torch.Size([2, 3])
    """
    bounds = (0, low) if high is None else (low, high)
    return alike("randint_like", _integers, input, bounds, dtype, device, requires_grad, memory_format,
                 generator=generator, **memory)  # fmt: skip


def _integers(size: Any, low: Any, high: Any, **options: Any) -> Tensor:
    return randint(low, high, size, **options)


def randperm(n: int, *, generator: Generator | None = None, dtype: DType = None, device: DeviceLike = None,
             **memory: Unpack[Memory]) -> Tensor:  # fmt: skip
    """The numbers 0 to n - 1 in random order, each order as likely: int64 unless a dtype is named.

    Raises RuntimeError for a negative n.

    >>> gw.randperm(4).sort().values
    tensor([0, 1, 2, 3])
    """
    if memory:
        strided_only(randperm, memory)
    array = source_of(generator).permutation(*size_of("randperm", (n,)))
    return finish(array, dtypes.int64 if dtype is None else dtype, chosen(device), False)


def rand_like(input: Tensor, *, generator: Generator | None = None, dtype: DType = None, device: DeviceLike = None,
              requires_grad: bool = False, memory_format: MemoryFormat | None = None,
              **memory: Unpack[Memory]) -> Tensor:  # fmt: skip
    """`rand` of the size of ``input``, and of its dtype, device and order in memory unless others are named.

    Raises NotImplementedError unless that is a floating-point or complex dtype, TypeError if ``input`` is no tensor.

    >>> gw.rand_like(gw.zeros(2, 3, dtype=gw.float64)).dtype
    torch.float64
    """
    return alike("rand_like", rand, input, (), dtype, device, requires_grad, memory_format, generator=generator,
                 **memory)  # fmt: skip


def randn_like(input: Tensor, *, generator: Generator | None = None, dtype: DType = None, device: DeviceLike = None,
               requires_grad: bool = False, memory_format: MemoryFormat | None = None,
               **memory: Unpack[Memory]) -> Tensor:  # fmt: skip
    """`randn` of the size of ``input``, and of its dtype, device and order in memory unless others are named.

    Raises NotImplementedError unless that is a floating-point or complex dtype, TypeError if ``input`` is no tensor.

    >>> gw.randn_like(gw.zeros(2, 3)).shape
    torch.Size([2, 3])
    """
    return alike("randn_like", randn, input, (), dtype, device, requires_grad, memory_format, generator=generator,
                 **memory)  # fmt: skip
