"""Tensors of a size: filled with a number, evenly spaced, or as the memory is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright import backends
from gradwright.backends import to_host
from gradwright.backends.devices import CPU, beside, chosen, place
from gradwright.base import dtypes
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.levels import followed
from gradwright.engine.numbers import number, whole
from gradwright.face.creation.data import finish, read, to
from gradwright.face.functions import elementwise
from gradwright.face.functions.join import cat
from gradwright.face.functions.memory_format import order_like, order_of, sparse_coo
from gradwright.face.functions.memory_options import is_sparse, no_entries, strided_only
from gradwright.face.functions.shape import clone, expand, reshape
from gradwright.face.functions.views import row_major
from gradwright.face.reading.torch import result_type, sizes, tensor_arg
from gradwright.face.xp.creation import fresh
from gradwright.function.watched.in_backward import is_repeatable
from gradwright.ops import shape as _shape

if TYPE_CHECKING:
    from typing import Unpack

    from gradwright.face.typing import DeviceLike, DType, Ints, Memory, MemoryFormat, Number, Tensor


def _dtype(dtype: Any) -> Any:
    return (dtypes.default() if dtype is None else dtypes.of(dtype)).dtype


def size_of(function: str, given: Any) -> tuple[int, ...]:
    """The size that a function was given, as ints or one sequence; RuntimeError if one is negative."""
    size = sizes(function, given)
    if size and min(size) < 0:
        raise RuntimeError(f"{function}(): Trying to create tensor with negative dimension {min(size)}: {list(size)}")
    return size


def zeros(*size: Ints, dtype: DType = None, device: DeviceLike = None, requires_grad: bool = False,
          **memory: Unpack[Memory]) -> Tensor:  # fmt: skip
    """Zeros of the given size: ints, or one sequence of them.

    Args:
        size: ``zeros(2, 3)``, ``zeros((2, 3))``; none is a 0-d tensor, ``zeros(())``.
        dtype: the default one (float32) if None.
        device: where it lives; the default one if None.
        requires_grad: whether operations on it are recorded.
        memory: ``layout=torch.sparse_coo`` for a sparse tensor; ``pin_memory``, which makes no difference.

    Raises RuntimeError for a negative size, TypeError for one that is no whole number, NotImplementedError for another
    layout.

    >>> gw.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """
    shape, d, device = size_of("zeros", size), _dtype(dtype), chosen(device)
    if memory and is_sparse(zeros, memory):
        return no_entries(shape, dtype=d, device=device, requires_grad=requires_grad)
    array = np.zeros(shape, d) if device is None else fresh("zeros", shape, dtype=d, device=device)
    return finish(array, None, None, requires_grad)


def ones(*size: Ints, dtype: DType = None, device: DeviceLike = None, requires_grad: bool = False,
         **memory: Unpack[Memory]) -> Tensor:  # fmt: skip
    """Ones of the given size: ints, or one sequence of them. Arguments and errors are those of `zeros`.

    >>> gw.ones(2, 3, dtype=gw.int64)
    tensor([[1, 1, 1],
            [1, 1, 1]])
    """
    if memory:
        strided_only(ones, memory)
    shape, d, device = size_of("ones", size), _dtype(dtype), chosen(device)
    array = np.ones(shape, d) if device is None else fresh("ones", shape, dtype=d, device=device)
    return finish(array, None, None, requires_grad)


def _empty() -> str:
    """The function for memory to be filled; in a forward that may be run again and compared, for zeros."""
    return "zeros" if is_repeatable() else "empty"


def empty(*size: Ints, dtype: DType = None, device: DeviceLike = None, requires_grad: bool = False,
          memory_format: MemoryFormat | None = None, **memory: Unpack[Memory]) -> Tensor:  # fmt: skip
    """Whatever the memory holds, of the given size; zeros in a Function's forward. To be written before it is read.

    ``memory_format`` gives the order of the dims in memory: channels last, of 4 or 5 dims. Other arguments and errors
    are those of `zeros`.

    >>> gw.empty(2, 3).shape
    torch.Size([2, 3])
    """
    shape, d, make = size_of("empty", size), _dtype(dtype), _empty()
    if memory and is_sparse(empty, memory):
        return no_entries(shape, dtype=d, device=device, requires_grad=requires_grad)
    if memory_format is not None and (order := order_of("empty", memory_format, len(shape))):
        return empty_permuted(shape, order, dtype=dtype, device=device, requires_grad=requires_grad)
    device = chosen(device)
    array = getattr(np, make)(shape, d) if device is None else fresh(make, shape, dtype=d, device=device)
    return finish(array, None, None, requires_grad)


def full(size: Sequence[int], fill_value: Number, *, dtype: DType = None, device: DeviceLike = None,
         requires_grad: bool = False, **memory: Unpack[Memory]) -> Tensor:  # fmt: skip
    """``fill_value``, a number or a tensor of one element, everywhere; unless named, the dtype is that of a number.

    It is recorded if that tensor requires grad: the gradient is the sum of those of all entries.

    Raises RuntimeError for a negative size, a value that the dtype cannot hold;
    TypeError for a tensor of several elements.

    >>> gw.full((2, 2), 0.5)
    tensor([[0.5000, 0.5000],
            [0.5000, 0.5000]])
    >>> gw.full((2,), 3).dtype
    torch.int64
    """
    if memory:
        strided_only(full, memory)
    shape, device = size_of("full", (size,)), chosen(device)
    if isinstance(fill_value, TensorBase) and followed(fill_value) and fill_value.array.size == 1:
        d = result_type(1j if dtypes.of(fill_value.array.dtype).is_complex else 1.0) if dtype is None else dtype
        value = reshape(to(fill_value, d, CPU if device is None else device), ())
        out = clone(expand(value, shape))
        return out.requires_grad_(requires_grad) if requires_grad else out
    if isinstance(fill_value, np.generic) and isinstance(fill_value, (float, complex)):
        fill_value = fill_value.item()  # NumPy's double numbers are Python's, of which the dtype is the default one
    one = to_host(read(number("full", "fill_value", fill_value), dtype))
    array = np.full(shape, one) if device is None else fresh("full", shape, one.item(), dtype=one.dtype, device=device)
    return finish(array, None, None, requires_grad)


def eye(n: int, m: int | None = None, *, dtype: DType = None, device: DeviceLike = None, requires_grad: bool = False,
        **memory: Unpack[Memory]) -> Tensor:  # fmt: skip
    """Ones on the diagonal, zeros elsewhere: (n, n), or (n, m). Raises RuntimeError for a negative size.

    >>> gw.eye(2, 3)
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    if memory:
        strided_only(eye, memory)
    rows, columns = size_of("eye", (n, n if m is None else m))
    return finish(np.eye(rows, columns, dtype=_dtype(dtype)), None, chosen(device), requires_grad)


def arange(start: Number | None = None, end: Number | None = None, step: Number = 1, *, dtype: DType = None,
           device: DeviceLike = None, requires_grad: bool = False, **memory: Unpack[Memory]) -> Tensor:  # fmt: skip
    """Numbers from ``start`` (0 if only one argument is given) to below ``end`` by ``step``: start + i step.

    There are ceil((end - start) / step) of them; with a step that is no binary fraction, rounding decides whether the
    last is there: `linspace` names the number instead. int64 if all three are whole, else the default dtype.

    Raises RuntimeError for a step of 0, or one that leads away from ``end``.

    >>> gw.arange(5)
    tensor([0, 1, 2, 3, 4])
    >>> gw.arange(1.0, 2.0, 0.25)
    tensor([1.0000, 1.2500, 1.5000, 1.7500])
    """
    if memory:
        strided_only(arange, memory)
    if end is None:
        start, end = 0, start
    given = {"start": 0 if start is None else start, "end": end, "step": step}
    bounds = [number("arange", name, b) for name, b in given.items()]
    if bounds[2] == 0:
        raise RuntimeError("arange(): step must be nonzero")
    if not all(map(math.isfinite, bounds)):
        raise RuntimeError(f"arange(): unsupported range: {bounds[0]} -> {bounds[1]}")
    if (bounds[1] - bounds[0]) * bounds[2] < 0:
        raise RuntimeError(f"arange(): upper bound and lower bound inconsistent with step sign: {bounds}")
    whole = all(isinstance(b, (int, np.integer)) for b in bounds)
    d = dtypes.of(dtype) if dtype is not None else dtypes.int64 if whole else dtypes.default()
    return finish(np.arange(*bounds).astype(d.dtype), None, chosen(device), requires_grad)


def linspace(start: Tensor | Number, end: Tensor | Number, steps: int, *, dtype: DType = None,
             device: DeviceLike = None, requires_grad: bool = False, **memory: Unpack[Memory]) -> Tensor:  # fmt: skip
    """``steps`` numbers from ``start`` to ``end``, both included: start + i (end - start) / (steps - 1).

    The second half is counted from the end, so that both ends are exact. Recorded if ``start`` or ``end``, tensors of
    one element, require grad. Of the default dtype unless one is named; of whole numbers each is cut towards 0.

    Raises RuntimeError for negative ``steps``.

    >>> gw.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    if memory:
        strided_only(linspace, memory)
    steps = whole("linspace", "steps", steps)
    if steps < 0:
        raise RuntimeError(f"linspace(): number of steps must be non-negative, but got {steps}")
    d = np.dtype(_dtype(dtype))
    if dtypes.of(d).category < dtypes.FLOAT:
        a, b = (to_host(v.array).item() if isinstance(v, TensorBase) else v for v in (start, end))
        return finish(np.linspace(a, b, steps).astype(d), None, chosen(device), requires_grad)
    a, b = (reshape(to(v, d, CPU), (1,)) if isinstance(v, TensorBase) else finish(np.array([v]), d, None, False)
            for v in (start, end))  # fmt: skip
    half = max(steps // 2, min(steps, 1))
    up, down = wrap(np.arange(half, dtype=d)), wrap(np.arange(steps - half - 1, -1, -1, dtype=d))
    step = (b - a) / max(steps - 1, 1)  # from both ends, in the dtype itself, as PyTorch does
    out = to(cat([a + step * up, b - step * down]), device=chosen(device))
    return out.requires_grad_(requires_grad) if requires_grad else out


def alike(function: str, make: Any, input: Any, values: Sequence[Any], dtype: Any, device: Any, requires_grad: bool,
          memory_format: Any, **options: Any) -> Any:  # fmt: skip
    """What ``make`` makes of the size of ``input``, and of its dtype, device and order in memory unless named."""
    x = tensor_arg(function, input)
    order = None if options.get("layout") is sparse_coo else order_like(function, memory_format, x)
    d = dtypes.of(x.array.dtype if dtype is None else dtype)
    device = beside(x.array) if device is None else device
    now = requires_grad and order is None
    out = make(x.array.shape, *values, dtype=d, device=device, requires_grad=now, **options)
    if order is None:
        return out
    out = _shape.lay(out, order=order)
    return out.requires_grad_() if requires_grad else out


def logspace(start: Tensor | Number, end: Tensor | Number, steps: int, base: float = 10.0, *, dtype: DType = None,
             device: DeviceLike = None, requires_grad: bool = False, **memory: Unpack[Memory]) -> Tensor:  # fmt: skip
    """``steps`` powers of ``base``, whose exponents run evenly from ``start`` to ``end``, both included.

    Recorded if these require grad. Dtype and errors are those of `linspace`.

    >>> gw.logspace(0, 3, 4, base=2)
    tensor([1., 2., 4., 8.])
    """
    if memory:
        strided_only(logspace, memory)
    d = dtypes.default() if dtype is None else dtypes.of(dtype)
    exponents = linspace(start, end, steps, dtype=d if d.category >= dtypes.FLOAT else dtypes.float64, device=CPU)
    out = to(elementwise.pow(float(number("logspace", "base", base)), exponents), d, chosen(device))
    return out.requires_grad_(requires_grad) if requires_grad else out


def scalar_tensor(s: Number, *, dtype: DType = None, device: DeviceLike = None, requires_grad: bool = False,
                  **memory: Unpack[Memory]) -> Tensor:  # fmt: skip
    """A 0-d tensor holding the number ``s``, of the default dtype unless one is named; recorded as `full` is.

    >>> gw.scalar_tensor(3)
    tensor(3.)
    """
    return full((), s, dtype=_dtype(dtype), device=device, requires_grad=requires_grad, **memory)


def empty_strided(size: Sequence[int], stride: Sequence[int], *, dtype: DType = None, device: DeviceLike = None,
                  requires_grad: bool = False, **memory: Unpack[Memory]) -> Tensor:  # fmt: skip
    """Whatever the memory holds, of the given size, with neighbours ``stride`` elements apart in each dim.

    Raises RuntimeError if the two differ in length, a stride is negative, or the device has no strides of one's own.

    >>> gw.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    if memory:
        strided_only(empty_strided, memory)
    shape, steps, device = size_of("empty_strided", (size,)), tuple(stride), chosen(device)
    if len(shape) != len(steps) or any(n < 0 for n in steps):
        raise RuntimeError(f"empty_strided(): mismatch in length of strides and shape, or a negative stride: {steps} "
                           f"for size {shape}")  # fmt: skip
    d = np.dtype(_dtype(dtype))
    length = 1 + sum((n - 1) * step for n, step in zip(shape, steps, strict=True)) if 0 not in shape else 0
    if place(device) != CPU:
        if steps != row_major(shape):
            raise RuntimeError(f"empty_strided(): arrays of {place(device).type} lie in row-major order, with strides "
                               f"{row_major(shape)} for size {shape}, but got {steps}: use empty()")  # fmt: skip
        return empty(*shape, dtype=d, device=device, requires_grad=requires_grad)
    held = getattr(np, _empty())(max(length, 0), d)
    array = np.ndarray(shape, d, held, 0, tuple(n * d.itemsize for n in steps))
    return finish(array, None, None, requires_grad)


def empty_permuted(size: Sequence[int], physical_layout: Sequence[int], *, dtype: DType = None,
                   device: DeviceLike = None, requires_grad: bool = False,
                   **memory: Unpack[Memory]) -> Tensor:  # fmt: skip
    """Whatever the memory holds, of the given size, its dims laid out in memory in the order ``physical_layout``.

    Raises RuntimeError if that is no permutation of the dims.

    >>> gw.empty_permuted((2, 3), (1, 0)).stride()
    (1, 2)
    """
    if memory:
        strided_only(empty_permuted, memory)
    shape, order = size_of("empty_permuted", (size,)), tuple(physical_layout)
    if sorted(order) != list(range(len(shape))):
        raise RuntimeError(f"empty_permuted(): physical_layout must be a permutation of the {len(shape)} dims of size, "
                           f"but got {order}")  # fmt: skip
    array = fresh(_empty(), [shape[i] for i in order], dtype=_dtype(dtype), device=chosen(device))
    array = backends.namespace(array).permute_dims(array, tuple([order.index(i) for i in range(len(order))]))
    return finish(array, None, None, requires_grad)


def zeros_like(input: Tensor, *, dtype: DType = None, device: DeviceLike = None, requires_grad: bool = False,
               memory_format: MemoryFormat | None = None, **memory: Unpack[Memory]) -> Tensor:  # fmt: skip
    """`zeros` of the size of ``input``, and of its dtype, device and order in memory unless others are named.

    Raises TypeError if ``input`` is no tensor.

    >>> gw.zeros_like(gw.ones(2, dtype=gw.int64))
    tensor([0, 0])
    """
    return alike("zeros_like", zeros, input, (), dtype, device, requires_grad, memory_format, **memory)


def ones_like(input: Tensor, *, dtype: DType = None, device: DeviceLike = None, requires_grad: bool = False,
              memory_format: MemoryFormat | None = None, **memory: Unpack[Memory]) -> Tensor:  # fmt: skip
    """`ones` of the size of ``input``, and of its dtype, device and order in memory unless others are named.

    Raises TypeError if ``input`` is no tensor.

    >>> gw.ones_like(gw.zeros(2), dtype=gw.float64)
    tensor([1., 1.], dtype=torch.float64)
    """
    return alike("ones_like", ones, input, (), dtype, device, requires_grad, memory_format, **memory)


def empty_like(input: Tensor, *, dtype: DType = None, device: DeviceLike = None, requires_grad: bool = False,
               memory_format: MemoryFormat | None = None, **memory: Unpack[Memory]) -> Tensor:  # fmt: skip
    """`empty` of the size of ``input``, and of its dtype, device and order in memory unless others are named.

    Raises TypeError if ``input`` is no tensor.

    >>> gw.empty_like(gw.ones(2, 3)).shape
    torch.Size([2, 3])
    """
    return alike("empty_like", empty, input, (), dtype, device, requires_grad, memory_format, **memory)


def full_like(input: Tensor, fill_value: Number, *, dtype: DType = None, device: DeviceLike = None,
              requires_grad: bool = False, memory_format: MemoryFormat | None = None,
              **memory: Unpack[Memory]) -> Tensor:  # fmt: skip
    """`full` of the size of ``input``, and of its dtype, device and order in memory unless others are named.

    A value is cut to the dtype of ``input``. Raises TypeError if ``input`` is no tensor; and as `full` does.

    >>> gw.full_like(gw.zeros(2, dtype=gw.int64), 3.7)
    tensor([3, 3])
    """
    return alike("full_like", full, input, (fill_value,), dtype, device, requires_grad, memory_format, **memory)
