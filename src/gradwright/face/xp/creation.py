"""Arrays from data and from nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright import backends
from gradwright.backends.devices import CPU, device_of, native, place
from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.engine.apply import apply_one
from gradwright.engine.backward import passes
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.general import general
from gradwright.engine.numbers import number
from gradwright.engine.version import adopt
from gradwright.face.reading import standard
from gradwright.ops.declare import table

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike, DType, Ints, Number, Tensor

__all__ = [
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "linspace", "meshgrid",
    "ones", "ones_like", "tril", "triu", "zeros", "zeros_like",
]  # fmt: skip


def _numpy(dtype: Any, otherwise: Any = None) -> Any:
    """The NumPy dtype of a new array; the default dtype unless one is named."""
    return dtypes.of(dtype if dtype is not None else otherwise or dtypes.default()).dtype


def fresh(function: str, shape: Any, *value: Any, dtype: Any, device: Any) -> Any:
    """An array of this NumPy dtype as the library of a device makes it: ``empty``, ``zeros``, ``ones`` or ``full``."""
    to = place(device)
    space = to.library.xp
    return getattr(space, function)(shape, *value, dtype=native(space, dtype), device=to.native)


def moved(x: Any, device: Any) -> Any:
    """``x`` on another device, recorded; ``x`` itself where it is there already, or for None.

    Raises TypeError where its library lacks the dtype.
    """
    if device is None:
        return x
    to, source = place(device), device_of(x.array)
    if to == source:
        return x
    native(to.library.xp, x.array.dtype)
    passes.mixed = passes.mixed or to.library is not source.library
    return general(table["to_device"], (x,), {"device": to, "source": source})  # once: processes may meet in it


def _of_numbers(array: Any) -> dtypes.dtype:
    """The dtype of an array of Python numbers: int64, or the default real or complex one."""
    return {"f": dtypes.default(), "c": dtypes.complex_partner(dtypes.default())}.get(
        dtypes.kind(array.dtype), dtypes.of(array.dtype)
    )


def asarray(obj: Any, /, *, dtype: DType = None, device: DeviceLike = None, copy: bool | None = None) -> Tensor:
    """``obj`` (a tensor, an array, Python numbers, nested sequences of them) as a Tensor.

    A copy of a tensor keeps its history. An array of a registered library stays in that, on its device, unless another
    ``device`` is named; all else becomes a NumPy array. Raises ValueError if ``copy`` is False and there has to be one.
    """
    if not isinstance(obj, (TensorBase, np.ndarray, np.generic)) and backends.is_array(obj):
        obj = wrap(backends.library(obj).taken(obj))
    if isinstance(obj, TensorBase):
        out = moved(obj, device)
        out = out if dtype is None else standard.as_dtype(out, dtype)
        if copy is False and out is not obj:
            raise ValueError("asarray(): another dtype or device needs a copy, but copy=False")
        return apply_one(table["copy"], obj, {}) if copy and out is obj else out
    if is_strange(obj):
        backends.library(obj)  # which says how to make its library known
    held = hasattr(obj, "dtype") or hasattr(obj, "__array__") or hasattr(obj, "__buffer__")
    if not held and copy is False:
        raise ValueError("asarray(): Python numbers have to be copied, but copy=False")
    array = np.asarray(obj) if dtype is None or held else np.array(obj, _numpy(dtype))
    d = dtypes.of(dtype if dtype is not None else array.dtype if held else _of_numbers(array)).dtype
    return wrap(place(device).hold(np.array(array, d, copy=copy)))


def is_strange(value: Any) -> bool:
    """Whether a value looks like an array, but offers nothing that NumPy could read."""
    readable = any(hasattr(value, name) for name in ("__array__", "__buffer__", "__array_interface__"))
    return hasattr(value, "dtype") and hasattr(value, "shape") and not readable


def _is_on_host(x: Any) -> bool:
    """Whether an array of another library lies in memory that NumPy can use."""
    kind = x.__dlpack_device__()[0] if hasattr(x, "__dlpack_device__") else None
    return kind is not None and int(kind) == _CPU


_CPU = 1  # in DLPack


def from_dlpack(x: Any, /, *, device: DeviceLike = None, copy: bool | None = None) -> Tensor:
    """A tensor over the memory of another library's array; over that array itself, if the library is registered.

    With ``device="cpu"`` it is over NumPy's array of that memory, if it is the host's.

    Raises BufferError if its dtype cannot be exchanged, or it requires grad; TypeError if it is no such array.
    """
    if isinstance(x, TensorBase) and device_of(x.array) != CPU:
        if x.requires_grad:
            raise BufferError("from_dlpack(): cannot take a tensor that requires gradient, use tensor.detach()")
        x = x.array
    here = device is not None and place(device) == CPU and not copy and _is_on_host(x)
    if not here and not isinstance(x, (TensorBase, np.ndarray)) and backends.is_array(x):
        return asarray(x, device=device, copy=copy)
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"from_dlpack(): expected an array with __dlpack__, but got {kind(x)}")
    try:
        array = np.from_dlpack(x)
        dtypes.of(array.dtype)
    except (BufferError, RuntimeError, TypeError) as e:
        d = getattr(x, "dtype", "its dtype")
        raise BufferError(
            f"from_dlpack(): cannot take an array of {d} ({e}); convert it there, to float32 for example, or detach it"
        ) from None
    t = wrap(place(device).hold(np.array(array, copy=True) if copy else array))
    if t.array is array and array.flags.writeable:
        adopt(t)
    return t


def arange(start: float, /, stop: float | None = None, step: float = 1, *, dtype: DType = None,
           device: DeviceLike = None) -> Tensor:  # fmt: skip
    """Numbers from ``start`` (0 if only one argument is given) to below ``stop`` by ``step``."""
    first, last = (0, start) if stop is None else (start, stop)
    ends: list[Any] = [number("arange", n, v) for n, v in (("start", first), ("stop", last), ("step", step))]
    whole = all(isinstance(n, (int, np.integer)) for n in ends)
    d = _numpy(dtype, dtypes.int64 if whole else None)
    array = np.arange(*ends, dtype=d if whole else None).astype(d, copy=False)
    return wrap(place(device).hold(array))


def linspace(start: Number, stop: Number, /, num: int, *, dtype: DType = None, device: DeviceLike = None,
             endpoint: bool = True) -> Tensor:  # fmt: skip
    """``num`` evenly spaced numbers from ``start`` to ``stop``, which is left out unless ``endpoint``."""
    start, stop = number("linspace", "start", start), number("linspace", "stop", stop)
    either = isinstance(start, complex) or isinstance(stop, complex)
    d = _numpy(dtype, dtypes.complex_partner(dtypes.default()) if either else None)
    return wrap(place(device).hold(np.linspace(start, stop, num, endpoint=endpoint).astype(d, copy=False)))


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: DType = None,
        device: DeviceLike = None) -> Tensor:  # fmt: skip
    """Ones on diagonal ``k``, zeros elsewhere."""
    return wrap(place(device).hold(np.eye(n_rows, n_cols, k, dtype=_numpy(dtype))))


def empty(shape: Ints, *, dtype: DType = None, device: DeviceLike = None) -> Tensor:
    """Whatever the memory holds."""
    d = _numpy(dtype)
    return wrap(np.empty(shape, d) if device is None else fresh("empty", shape, dtype=d, device=device))


def zeros(shape: Ints, *, dtype: DType = None, device: DeviceLike = None) -> Tensor:
    """Zeros of a shape."""
    d = _numpy(dtype)
    return wrap(np.zeros(shape, d) if device is None else fresh("zeros", shape, dtype=d, device=device))


def ones(shape: Ints, *, dtype: DType = None, device: DeviceLike = None) -> Tensor:
    """Ones of a shape."""
    d = _numpy(dtype)
    return wrap(np.ones(shape, d) if device is None else fresh("ones", shape, dtype=d, device=device))


def full(shape: Ints, fill_value: Number, *, dtype: DType = None, device: DeviceLike = None) -> Tensor:
    """``fill_value`` everywhere; of the dtype of that number unless one is named."""
    fill_value = number("full", "fill_value", fill_value)
    return wrap(fresh("full", shape, fill_value, dtype=_numpy(dtype, _of_numbers(np.asarray(fill_value))),
                      device=device))  # fmt: skip


def zeros_like(x: Tensor, /, *, dtype: DType = None, device: DeviceLike = None, shape: Ints | None = None) -> Tensor:
    """Zeros of the dtype and on the device of ``x``, of its shape unless another is named."""
    space = backends.namespace(x.array)
    out = wrap(space.zeros_like(x.array, shape=shape, dtype=None if dtype is None else native(space, dtype)))
    return out if device is None else moved(out, device)


def zero(x: Any) -> Any:
    """A 0 to set beside ``x``."""
    return zeros_like(x, shape=())


def ones_like(x: Tensor, /, *, dtype: DType = None, device: DeviceLike = None, shape: Ints | None = None) -> Tensor:
    """Ones of the dtype and on the device of ``x``, of its shape unless another is named."""
    space = backends.namespace(x.array)
    out = wrap(space.ones_like(x.array, shape=shape, dtype=None if dtype is None else native(space, dtype)))
    return out if device is None else moved(out, device)


def empty_like(x: Tensor, /, *, dtype: DType = None, device: DeviceLike = None) -> Tensor:
    """Whatever the memory holds, in the shape of ``x``."""
    return zeros_like(x, dtype=dtype, device=device)


def full_like(x: Tensor, /, fill_value: Number, *, dtype: DType = None, device: DeviceLike = None) -> Tensor:
    """``fill_value`` in the shape of ``x``, and of its dtype unless one is named."""
    fill_value = number("full_like", "fill_value", fill_value)
    d = dtypes.of(standard.tensor("full_like", x).array.dtype if dtype is None else dtype).dtype
    to = device_of(x.array) if device is None else device
    return wrap(fresh("full", x.array.shape, fill_value, dtype=d, device=to))


def meshgrid(*arrays: Tensor, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Coordinates of a grid from those along its axes; "xy" exchanges the first two axes of the results."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid(): indexing must be 'xy' or 'ij', but got {indexing!r}")
    order = list(range(len(arrays)))
    if indexing == "xy" and len(arrays) > 1:
        order[:2] = [1, 0]
    lengths = [standard.tensor("meshgrid", x).array.size for x in arrays]
    shape = tuple(lengths[i] for i in order)
    placed = [tuple(lengths[i] if i == k else 1 for i in order) for k in range(len(arrays))]
    lines = [apply_one(table["reshape"], x, {"shape": p}) for x, p in zip(arrays, placed, strict=True)]
    return tuple(apply_one(table["broadcast_to"], x, {"shape": shape}) for x in lines)


def _matrices(function: str, x: Any, k: int) -> Any:
    if standard.tensor(function, x).array.ndim < 2:
        raise ValueError(f"{function}(): expected a matrix or a stack of them, but got {x.array.ndim} dimensions")
    return apply_one(table[function], x, {"k": k})


def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """The lower triangle of each matrix; zeros above diagonal ``k``."""
    return _matrices("tril", x, k)


def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """The upper triangle of each matrix; zeros below diagonal ``k``."""
    return _matrices("triu", x, k)
