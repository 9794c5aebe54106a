"""Making tensors: from data, filled, evenly spaced."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright import backends, dtypes
from gradwright.backends import to_host
from gradwright.backends.devices import CPU, beside, chosen, native, place
from gradwright.backends.quiet import quietly
from gradwright.dtypes import promote_types
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.levels import followed
from gradwright.engine.mode import is_grad_enabled
from gradwright.engine.numbers import number
from gradwright.engine.strict import tell, warn
from gradwright.engine.version import borrow, is_held
from gradwright.errors import kind
from gradwright.face import elementwise
from gradwright.face.join import cat
from gradwright.face.memory_format import order_like, order_of
from gradwright.face.shape import clone, expand, reshape
from gradwright.face.views import row_major
from gradwright.guards.in_backward import brought, is_guarded, is_repeatable, made_of
from gradwright.op import table
from gradwright.ops import shape as _shape
from gradwright.reading.torch import result_type, sizes, tensor_arg, to_dtype, unmasked
from gradwright.xp.creation import fresh, is_strange, moved

if TYPE_CHECKING:
    from gradwright._typing import DeviceLike, DType, FullLike, Ints, Like, MemoryFormat, Number, Tensor, TensorLike

__all__ = [
    "arange", "as_tensor", "asarray", "empty", "empty_like", "empty_permuted", "empty_strided", "eye", "from_numpy",
    "full", "full_like", "linspace", "logspace", "ones", "ones_like", "scalar_tensor", "tensor", "zeros",
    "zeros_like",
]  # fmt: skip


def finish(array: Any, dtype: Any, device: Any, requires_grad: bool) -> Any:
    """A leaf over ``array``, converted to ``dtype`` and moved to ``device`` unless that is None."""
    if dtype is not None:
        with np.errstate(all="ignore"):
            array = array.astype(dtypes.numpy_dtype(dtype), copy=False)
    t = wrap(array if device is None else place(device).hold(array))
    t._grad = None
    return t.requires_grad_(requires_grad) if requires_grad else t


def _array(data: Any, dtype: Any = None) -> Any:
    """Data as a new array of this dtype, or of the one PyTorch infers: floats the default dtype, ints int64.

    It is NumPy's, unless the data are an array of another library that is registered. Warns of tensors in lists that
    require grad.
    """
    return quietly(_read, data, dtype)


def _read(data: Any, dtype: Any) -> Any:
    if isinstance(data, TensorBase):
        data = data.array
    if not isinstance(data, _PYTHONS):
        if _is_foreign(data):
            return _converted(data, data.dtype if dtype is None else dtype)
        data = _unwrapped(data)
    if isinstance(data, (np.ndarray, np.generic)):
        unmasked("tensor", data)
        return np.array(data, (dtypes.of(data.dtype) if dtype is None else dtypes.of(dtype)).dtype)
    found: dict[Any, dtypes.dtype] = {}
    recorded: list[Any] = []
    values = _plain(data, found, recorded)
    d = functools.reduce(promote_types, found.values()) if found else dtypes.default()
    if dtype is not None:
        d = dtypes.of(dtype)
    if recorded and d.category >= dtypes.FLOAT and is_grad_enabled() and not is_guarded():
        warn(f"{len(recorded)} of the tensors in this list require grad, but the new tensor has only their values, "
             "and no gradient flows back. stack() keeps the history; detach() says that none is wanted.")  # fmt: skip
    try:
        return np.array(values, d.dtype)
    except OverflowError:
        raise RuntimeError(f"tensor(): value cannot be converted to type {d.name} without overflow") from None
    except (TypeError, ValueError) as e:
        raise type(e)(f"tensor(): data must be numbers in nested sequences of equal lengths: {e}") from None


_NUMBERS = (bool, int, float, complex)
_PYTHONS = (list, tuple, *_NUMBERS)


def _is_foreign(data: Any) -> bool:
    """Whether data are an array of a registered library that is not NumPy."""
    return not isinstance(data, (np.ndarray, np.generic, TensorBase, *_PYTHONS)) and backends.is_array(data)


def _converted(array: Any, dtype: Any) -> Any:
    """A copy of another library's array, of this dtype."""
    d, source = dtypes.of(dtype), dtypes.of(array.dtype)
    native(backends.namespace(array), d)
    return table["astype"](array, dtype=d.name, source=source.name)


def _unwrapped(data: Any) -> Any:
    """A NumPy array of a tensor, or of what another library's object offers; anything else as it is."""
    if isinstance(data, TensorBase):
        return to_host(data.array)
    if _is_foreign(data):
        return to_host(data)
    return np.asarray(data) if hasattr(data, "__array__") and not isinstance(data, np.generic) else data


def _plain(data: Any, found: dict[Any, dtypes.dtype], recorded: list[Any]) -> Any:
    """Nested sequences with the tensors in them turned into numbers.

    ``found`` gets the dtype of each sort of them, ``recorded`` the tensors that require grad.
    """
    if isinstance(data, (list, tuple, range)):
        return [_plain(d, found, recorded) for d in data]
    if type(data) in found:
        return data
    if not isinstance(data, _NUMBERS):
        if isinstance(data, TensorBase) and data.requires_grad:
            recorded.append(data)
        data = _unwrapped(data)
    if isinstance(data, (np.ndarray, np.generic)):
        found[data.dtype] = dtypes.of(data.dtype)
        return data.tolist()
    if not isinstance(data, _NUMBERS):
        if is_strange(data):
            backends.library(data)  # which says how to make its library known
        raise TypeError(f"tensor(): could not infer the dtype of {kind(data)}: data must be numbers, got {data!r}")
    found[type(data)] = result_type(data)
    return data


def tensor(data: TensorLike, *, dtype: DType = None, device: DeviceLike = None, requires_grad: bool = False) -> Tensor:
    """A new leaf tensor holding a copy of ``data`` (numbers, nested sequences, arrays, tensors).

    Floats become the default dtype, ints int64; arrays keep their dtype unless ``dtype`` is named, and, where their
    library is registered, the library and its device unless a ``device`` is named. All else becomes a NumPy array.

    >>> tensor([1.0, 2.0]) * 2
    tensor([2., 4.])
    """
    if isinstance(data, TensorBase):
        warn_of_copy(data, "torch.tensor")
    return new(data, dtype, device, requires_grad)


def new(data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """`tensor`, without its warning."""
    if device is None and not isinstance(data, TensorBase) and not _is_foreign(data):
        device = chosen(device)
    out = made_of(data, finish(_array(data, dtype), None, device, False), "tensor()")
    out = out if isinstance(data, TensorBase) else brought(out)
    return out.requires_grad_(requires_grad) if requires_grad else out


def warn_of_copy(t: Any, how: str) -> None:
    """Warn, as PyTorch does, of a tensor that is copied as though it were data, which loses its history."""
    message = (
        "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
        f"sourceTensor.detach().clone().requires_grad_(True), rather than {how}(sourceTensor)."
    )
    if is_guarded():
        return
    if t.requires_grad and is_grad_enabled():
        warn(f"{message} This source requires grad, and the copy has no history: clone() keeps it.")
    else:
        tell(message, UserWarning)


def as_tensor(data: TensorLike, dtype: DType = None, device: DeviceLike = None) -> Tensor:
    """``data`` as a tensor: a tensor as it is, an array without a copy where dtype and device allow it."""
    if isinstance(data, TensorBase):
        return to(data, dtype, device)
    if _is_foreign(data):
        out = to(wrap(backends.library(data).taken(data)), dtype, device)
    else:
        given = isinstance(data, np.ndarray)
        lent = given and data.dtype.kind in _PLACES and is_held(data)
        array = unmasked("as_tensor", data) if given else _array(data, dtype)
        out = finish(array, array.dtype if dtype is None else dtype, chosen(device), False)
        if lent and out.array is data:
            borrow(out)
    return brought(made_of(data, out, "as_tensor()"))


def to(x: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """``x`` as another dtype and on another device, recorded; itself where it is so already, or for None.

    It is converted on the CPU, if it is to be there, where all dtypes are known, or else before it is moved.
    """
    if device is not None and place(device) == CPU:
        x = moved(x, device)
    return moved(x if dtype is None else to_dtype(x, dtype), device)


asarray = as_tensor
_PLACES = "biu"
"""What graphs save as indices and masks, which are small beside what they are used on."""


def from_numpy(ndarray: np.ndarray[Any, Any]) -> Tensor:
    """A tensor over the same memory as a NumPy array.

    What you write into that array afterwards is not noticed by graphs that have saved the tensor: do it before, or give
    a copy. (Writes through arrays that `Tensor.numpy` gives are noticed.) It is noticed of whole numbers and booleans,
    which are indices and masks: while you hold the array, each operation that saves the tensor looks at all of it.

    Raises TypeError for anything else, and for arrays of a dtype that tensors do not have.
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {kind(ndarray)})")
    dtypes.of(unmasked("from_numpy", ndarray).dtype)
    lent = ndarray.dtype.kind in _PLACES and is_held(ndarray)
    t = finish(ndarray, None, None, False)
    if lent:
        borrow(t)
    return brought(t)


def _dtype(dtype: Any) -> Any:
    return (dtypes.default() if dtype is None else dtypes.of(dtype)).dtype


def size_of(function: str, given: Any) -> tuple[int, ...]:
    """The size that a function was given, as ints or one sequence; RuntimeError if one is negative."""
    size = sizes(function, given)
    if size and min(size) < 0:
        raise RuntimeError(f"{function}(): Trying to create tensor with negative dimension {min(size)}: {list(size)}")
    return size


def zeros(*size: Ints, dtype: DType = None, device: DeviceLike = None, requires_grad: bool = False) -> Tensor:
    """Zeros of the given size."""
    shape, d, device = size_of("zeros", size), _dtype(dtype), chosen(device)
    array = np.zeros(shape, d) if device is None else fresh("zeros", shape, dtype=d, device=device)
    return finish(array, None, None, requires_grad)


def ones(*size: Ints, dtype: DType = None, device: DeviceLike = None, requires_grad: bool = False) -> Tensor:
    """Ones of the given size."""
    shape, d, device = size_of("ones", size), _dtype(dtype), chosen(device)
    array = np.ones(shape, d) if device is None else fresh("ones", shape, dtype=d, device=device)
    return finish(array, None, None, requires_grad)


def _empty() -> str:
    """The function for memory to be filled; in a forward that may be run again and compared, for zeros."""
    return "zeros" if is_repeatable() else "empty"


def empty(*size: Ints, dtype: DType = None, device: DeviceLike = None, requires_grad: bool = False,
          memory_format: MemoryFormat | None = None) -> Tensor:  # fmt: skip
    """Whatever the memory holds, of the given size; zeros in a Function's forward."""
    shape, d, make = size_of("empty", size), _dtype(dtype), _empty()
    if memory_format is not None and (order := order_of("empty", memory_format, len(shape))):
        return empty_permuted(shape, order, dtype=dtype, device=device, requires_grad=requires_grad)
    device = chosen(device)
    array = getattr(np, make)(shape, d) if device is None else fresh(make, shape, dtype=d, device=device)
    return finish(array, None, None, requires_grad)


def full(size: Sequence[int], fill_value: Number, *, dtype: DType = None, device: DeviceLike = None,
         requires_grad: bool = False) -> Tensor:  # fmt: skip
    """``fill_value``, a number or a tensor of one element, everywhere; unless named, the dtype is that of a number.

    It is recorded if that tensor requires grad: the gradient is the sum of those of all entries.
    """
    shape, device = size_of("full", (size,)), chosen(device)
    if isinstance(fill_value, TensorBase) and followed(fill_value) and fill_value.array.size == 1:
        d = result_type(1j if dtypes.of(fill_value.array.dtype).is_complex else 1.0) if dtype is None else dtype
        value = reshape(to(fill_value, d, CPU if device is None else device), ())
        out = clone(expand(value, shape))
        return out.requires_grad_(requires_grad) if requires_grad else out
    one = to_host(_array(number("full", "fill_value", fill_value), dtype))
    array = np.full(shape, one) if device is None else fresh("full", shape, one.item(), dtype=one.dtype, device=device)
    return finish(array, None, None, requires_grad)


def eye(n: int, m: int | None = None, *, dtype: DType = None, device: DeviceLike = None,
        requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Ones on the diagonal, zeros elsewhere."""
    rows, columns = size_of("eye", (n, n if m is None else m))
    return finish(np.eye(rows, columns, dtype=_dtype(dtype)), None, chosen(device), requires_grad)


def arange(start: Number, end: Number | None = None, step: Number = 1, *, dtype: DType = None,
           device: DeviceLike = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Numbers from ``start`` (0 if only one argument is given) to below ``end`` by ``step``."""
    if end is None:
        start, end = 0, start
    bounds = [number("arange", name, b) for name, b in (("start", start), ("end", end), ("step", step))]
    if bounds[2] == 0:
        raise RuntimeError("arange(): step must be nonzero")
    if (bounds[1] - bounds[0]) * bounds[2] < 0:
        raise RuntimeError(f"arange(): upper bound and lower bound inconsistent with step sign: {bounds}")
    whole = all(isinstance(b, (int, np.integer)) for b in bounds)
    d = dtypes.of(dtype) if dtype is not None else dtypes.int64 if whole else dtypes.default()
    return finish(np.arange(*bounds).astype(d.dtype), None, chosen(device), requires_grad)


def linspace(start: Tensor | Number, end: Tensor | Number, steps: int, *, dtype: DType = None,
             device: DeviceLike = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """``steps`` numbers from ``start`` to ``end``, both included, evenly spaced; recorded if these require grad."""
    steps = number("linspace", "steps", steps)
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


def like(make: Any, name: str) -> Like:
    """The function of a tensor that ``make`` is of a size."""

    def made_like(input: Any, *values: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False,
                  memory_format: Any = None, **options: Any) -> Any:  # fmt: skip
        x = tensor_arg(name, input)
        order = order_like(name, memory_format, x)
        d = dtypes.of(x.array.dtype if dtype is None else dtype)
        device = beside(x.array) if device is None else device
        now = requires_grad and order is None
        out = make(x.array.shape, *values, dtype=d, device=device, requires_grad=now, **options)
        if order is None:
            return out
        out = _shape.lay(out, order=order)
        return out.requires_grad_() if requires_grad else out

    made_like.__name__ = made_like.__qualname__ = name
    made_like.__doc__ = f"`{make.__name__}` of the size, dtype and device of ``input``, which lies in memory as that."
    return made_like


def logspace(start: Tensor | Number, end: Tensor | Number, steps: int, base: float = 10.0, *,
             dtype: DType = None, device: DeviceLike = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """``steps`` powers of ``base``, whose exponents run evenly from ``start`` to ``end``, both included.

    Recorded if these require grad.
    """
    d = dtypes.default() if dtype is None else dtypes.of(dtype)
    exponents = linspace(start, end, steps, dtype=d if d.category >= dtypes.FLOAT else dtypes.float64, device=CPU)
    out = to(elementwise.pow(float(number("logspace", "base", base)), exponents), d, chosen(device))
    return out.requires_grad_(requires_grad) if requires_grad else out


def scalar_tensor(s: Number, *, dtype: DType = None, device: DeviceLike = None, requires_grad: bool = False) -> Tensor:
    """A 0-d tensor holding the number ``s``, of the default dtype unless one is named; recorded as `full` is."""
    return full((), s, dtype=_dtype(dtype), device=device, requires_grad=requires_grad)


def empty_strided(size: Sequence[int], stride: Sequence[int], *, dtype: DType = None, device: DeviceLike = None,
                  requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Whatever the memory holds, of the given size, with neighbours ``stride`` elements apart in each dim.

    Raises RuntimeError if the two differ in length, or a stride is negative.
    """
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
    memory = getattr(np, _empty())(max(length, 0), d)
    array = np.ndarray(shape, d, memory, 0, tuple(n * d.itemsize for n in steps))
    return finish(array, None, None, requires_grad)


def empty_permuted(size: Sequence[int], physical_layout: Sequence[int], *, dtype: DType = None,
                   device: DeviceLike = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Whatever the memory holds, of the given size, its dims laid out in memory in the order ``physical_layout``."""
    shape, order = size_of("empty_permuted", (size,)), tuple(physical_layout)
    if sorted(order) != list(range(len(shape))):
        raise RuntimeError(f"empty_permuted(): physical_layout must be a permutation of the {len(shape)} dims of size, "
                           f"but got {order}")  # fmt: skip
    array = fresh(_empty(), [shape[i] for i in order], dtype=_dtype(dtype), device=chosen(device))
    array = backends.namespace(array).permute_dims(array, tuple([order.index(i) for i in range(len(order))]))
    return finish(array, None, None, requires_grad)


zeros_like, ones_like, empty_like = like(zeros, "zeros_like"), like(ones, "ones_like"), like(empty, "empty_like")
full_like: FullLike = like(full, "full_like")  # type: ignore[assignment]
