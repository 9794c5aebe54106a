"""Tensors of data: numbers, sequences, arrays, other tensors."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright import backends
from gradwright.backends import to_host
from gradwright.backends.devices import CPU, chosen, native, place
from gradwright.backends.quiet import quietly
from gradwright.base import dtypes, source_line
from gradwright.base.cpython.lent import is_held
from gradwright.base.dtypes import promote_types
from gradwright.base.errors import kind
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.mode import is_grad_enabled
from gradwright.engine.strict import warn
from gradwright.engine.version import adopt
from gradwright.face.reading.torch import result_type, to_dtype, unmasked
from gradwright.face.xp.creation import is_strange, moved
from gradwright.function.watched.in_backward import brought, is_guarded, made_of
from gradwright.ops.declare import table

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike, DType, Tensor, TensorLike


def finish(array: Any, dtype: Any, device: Any, requires_grad: bool) -> Any:
    """A leaf over ``array``, converted to ``dtype`` and moved to ``device`` unless that is None."""
    if dtype is not None:
        with np.errstate(all="ignore"):
            array = array.astype(dtypes.numpy_dtype(dtype), copy=False)
    t = wrap(array if device is None else place(device).hold(array))
    t._grad = None
    return t.requires_grad_(requires_grad) if requires_grad else t


def read(data: Any, dtype: Any = None) -> Any:
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


def _is_sequence(data: Any) -> bool:
    """Whether data, no list or tuple, are read by number as one, such as a deque; text and dicts are not."""
    cls = type(data)
    return hasattr(cls, "__len__") and hasattr(cls, "__getitem__") and not isinstance(data, (str, bytes, dict))


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
        if _is_sequence(data):
            return [_plain(d, found, recorded) for d in data]
        if is_strange(data):
            backends.library(data)  # which says how to make its library known
        cls = TypeError if isinstance(data, (str, bytes)) else RuntimeError
        raise cls(f"Could not infer dtype of {kind(data)}: tensor() takes numbers, and sequences and arrays of them, "
                  f"but got {data!r}")  # fmt: skip
    found[type(data)] = result_type(data)
    return data


def tensor(data: TensorLike, *, dtype: DType = None, device: DeviceLike = None, requires_grad: bool = False,
           pin_memory: bool = False) -> Tensor:  # fmt: skip
    """A new leaf tensor holding a copy of ``data`` (numbers, nested sequences, arrays, tensors).

    Floats become the default dtype, ints int64; arrays keep their dtype unless ``dtype`` is named, and, where their
    library is registered, the library and its device unless a ``device`` is named. All else becomes a NumPy array.

    Args:
        data: what it holds; nested sequences give a dim each.
        dtype: that of the result.
        device: where it lives: `gradwright.device`, a name, or None.
        requires_grad: whether operations on it are recorded.
        pin_memory: makes no difference: it is for copies to a CUDA device.

    Raises:
        TypeError: text, or complex numbers for a real dtype.
        ValueError: sequences of different lengths side by side.
        RuntimeError: other data that are no numbers; numbers that the dtype cannot hold; ``requires_grad`` of whole
            numbers or booleans.

    Warns of a tensor as data (`clone` is meant), and of tensors in lists that require grad: what it copies has no
    history.

    >>> gw.tensor([1.0, 2.0]) * 2
    tensor([2., 4.])
    >>> gw.tensor([[1, 2], [3, 4]]).dtype
    torch.int64
    """
    if isinstance(data, TensorBase):
        warn_of_copy(data, "torch.tensor")
    return new(data, dtype, device, requires_grad)


def new(data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """`tensor`, without its warning."""
    if device is None and not isinstance(data, TensorBase) and not _is_foreign(data):
        device = chosen(device)
    out = made_of(data, finish(read(data, dtype), None, device, False), "tensor()")
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
        source_line.warn(message)


def as_tensor(data: TensorLike, dtype: DType = None, device: DeviceLike = None) -> Tensor:
    """``data`` as a tensor: a tensor as it is, an array without a copy where dtype and device allow it.

    Anything else is copied, as `tensor` does.
    Shares its memory with a NumPy array: a write to one is seen in the other. A tensor keeps its history, and is
    converted (recorded) if a ``dtype`` or ``device`` is named that it has not. Errors and warnings are those of
    `tensor`.

    >>> x = gw.ones(2, requires_grad=True)
    >>> gw.as_tensor(x) is x
    True
    >>> gw.as_tensor(x, dtype=gw.float64)
    tensor([1., 1.], dtype=torch.float64, grad_fn=<ToCopyBackward0>)
    """
    if isinstance(data, TensorBase):
        return to(data, dtype, device)
    if _is_foreign(data):
        out = to(wrap(backends.library(data).taken(data)), dtype, device)
    else:
        given = isinstance(data, np.ndarray)
        shared = given and is_held(data)
        array = _regular("as_tensor", data) if given else read(data, dtype)
        out = finish(array, array.dtype if dtype is None else dtype, chosen(device), False)
        if shared and out.array is data:
            adopt(out)
    return brought(made_of(data, out, "as_tensor()"))


def to(x: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """``x`` as another dtype and on another device, recorded; itself where it is so already, or for None.

    It is converted on the CPU, if it is to be there, where all dtypes are known, or else before it is moved.
    """
    if device is not None and place(device) == CPU:
        x = moved(x, device)
    return moved(x if dtype is None else to_dtype(x, dtype), device)


def asarray(obj: TensorLike, *, dtype: DType = None, device: DeviceLike = None, copy: bool | None = None,
            requires_grad: bool | None = None) -> Tensor:  # fmt: skip
    """``obj`` as a tensor, as `as_tensor` makes one.

    Args:
        obj: a tensor, an array, numbers, nested sequences.
        dtype: that of the result.
        device: where it lives.
        copy: True for memory of its own, False for a ValueError where the memory of ``obj`` cannot be shared.
        requires_grad: None leaves that of a tensor and its history; False cuts the history off.

    >>> x = gw.ones(2)
    >>> gw.asarray(x) is x, gw.asarray(x, copy=True) is x
    (True, False)
    """
    out = as_tensor(obj, dtype, device)
    held = isinstance(obj, (TensorBase, np.ndarray))
    shared = out is obj if isinstance(obj, TensorBase) else held and _is_over(out, obj)
    if copy is False and not shared:
        what = "tensor with another dtype or device" if held else "arbitrary sequence into a tensor"
        raise ValueError(f"can't alias {what}: asarray() got copy=False")
    if copy and shared:
        out = out.clone()
    if requires_grad is None or requires_grad == out.requires_grad:
        return out
    return out.requires_grad_() if requires_grad else out.detach()


def _is_over(x: Tensor, array: Any) -> bool:
    """Whether a tensor is over the memory of an array; one without entries is if it could be."""
    if array.size:
        return bool(np.may_share_memory(to_host(x.array), array))
    return x.device == CPU and x.array.dtype == array.dtype


def _regular(function: str, array: Any) -> Any:
    """An array that a tensor can be over; ValueError for one that lies in steps of parts of its entries."""
    if any(step % array.itemsize for step in unmasked(function, array).strides if array.itemsize):
        raise ValueError(f"{function}(): the given array has strides {array.strides}, not a multiple of the element "
                         f"byte size {array.itemsize}, as a field of others has: give array.copy()")  # fmt: skip
    return array


def from_numpy(ndarray: np.ndarray[Any, Any]) -> Tensor:
    """A tensor over the same memory as a NumPy array.

    If you hold the array, backward notices what has been written into it since the tensor, or a part of it, was saved,
    and raises. Of more than 512 numbers it looks at every n-th, some 100 to 128, and at the 32 at both ends: a buffer
    that is filled anew is noticed, a few numbers of it may not be. (Of whole numbers and booleans, which are indices
    and masks, and of what `Tensor.numpy` gives, it looks at all.) To write into the array before backward, give
    ``tensor(array)``, a copy.

    Raises TypeError for anything else, and for arrays of a dtype that tensors do not have; ValueError for one whose
    strides are not multiples of the size of its entries.
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {kind(ndarray)}): tensor() takes numbers and lists of them")
    dtypes.of(_regular("from_numpy", ndarray).dtype)
    shared = is_held(ndarray)
    t = finish(ndarray, None, None, False)
    if shared:
        adopt(t)
    return brought(t)
