"""Making tensors: from data, filled, evenly spaced, random."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from gradwright import dtypes
from gradwright.autograd.base import TensorBase, wrap
from gradwright.dtypes import promote_types
from gradwright.errors import kind
from gradwright.face.arguments import result_type, sizes, tensor_arg, to_dtype


class _Random:
    generator: Any = None


def _generator() -> Any:
    """The source of random numbers, made when first asked for: loading NumPy's takes a while."""
    if _Random.generator is None:
        _Random.generator = np.random.default_rng()
    return _Random.generator


def manual_seed(seed: int) -> None:
    """Start the random numbers anew from ``seed``. The stream is NumPy's PCG64, not PyTorch's."""
    _Random.generator = np.random.default_rng(seed)


def _finish(array: Any, dtype: Any, device: Any, requires_grad: bool) -> Any:
    if device is not None:
        dtypes.device(device)
    if dtype is not None:
        array = array.astype(dtypes.numpy_dtype(dtype), copy=False)
    t = wrap(array)
    t._grad = None
    if requires_grad:
        t.requires_grad_()
    return t


def _array(data: Any, dtype: Any = None) -> Any:
    """Data as a new NumPy array of this dtype, or of the one PyTorch infers: floats the default dtype, ints int64."""
    data = _unwrapped(data)
    if isinstance(data, (np.ndarray, np.generic)):
        return np.array(data, (dtypes.of(data.dtype) if dtype is None else dtypes.of(dtype)).dtype)
    found: dict[Any, dtypes.dtype] = {}
    values = _plain(data, found)
    d = functools.reduce(promote_types, found.values()) if found else dtypes.default()
    if dtype is not None:
        d = dtypes.of(dtype)
    try:
        return np.array(values, d.dtype)
    except OverflowError:
        raise RuntimeError(f"tensor(): value cannot be converted to type {d.name} without overflow") from None
    except (TypeError, ValueError) as e:
        raise type(e)(f"tensor(): data must be numbers in nested sequences of equal lengths: {e}") from None


def _unwrapped(data: Any) -> Any:
    """The array in a tensor, or that another library's object offers; anything else as it is."""
    if isinstance(data, TensorBase):
        return data.array
    return np.asarray(data) if hasattr(data, "__array__") and not isinstance(data, np.generic) else data


def _plain(data: Any, found: dict[Any, dtypes.dtype]) -> Any:
    """Nested sequences with the tensors in them turned into numbers; ``found`` gets the dtype of each sort of them."""
    if isinstance(data, (list, tuple, range)):
        return [_plain(d, found) for d in data]
    if type(data) in found:
        return data
    data = _unwrapped(data)
    if isinstance(data, (np.ndarray, np.generic)):
        found[data.dtype] = dtypes.of(data.dtype)
        return data.tolist()
    if not isinstance(data, (bool, int, float, complex)):
        raise TypeError(f"tensor(): could not infer the dtype of {kind(data)}: data must be numbers, got {data!r}")
    found[type(data)] = result_type(data)
    return data


def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
    """A new leaf tensor holding a copy of ``data`` (numbers, nested sequences, arrays, tensors).

    Floats become the default dtype, ints int64; NumPy arrays keep their dtype unless ``dtype`` is named.

    >>> tensor([1.0, 2.0]) * 2
    tensor([2., 4.])
    """
    return _finish(_array(data, dtype), None, device, requires_grad)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Any:
    """``data`` as a tensor: a tensor as it is, a NumPy array without a copy where the dtype allows it."""
    if isinstance(data, TensorBase):
        return data if dtype is None else to_dtype(data, dtype)
    array = data if isinstance(data, np.ndarray) else _array(data, dtype)
    return _finish(array, array.dtype if dtype is None else dtype, device, False)


asarray = as_tensor


def from_numpy(ndarray: Any) -> Any:
    """A tensor over the same memory as a NumPy array.

    Raises TypeError for anything else, and for arrays of a dtype that tensors do not have.
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {kind(ndarray)})")
    dtypes.of(ndarray.dtype)
    return _finish(ndarray, None, None, False)


def _dtype(dtype: Any) -> Any:
    return (dtypes.default() if dtype is None else dtypes.of(dtype)).dtype


def _size(function: str, given: Any) -> tuple[int, ...]:
    size = sizes(function, given)
    if size and min(size) < 0:
        raise RuntimeError(f"{function}(): Trying to create tensor with negative dimension {min(size)}: {list(size)}")
    return size


def _random(function: str, draw: Any, given: Any, dtype: Any) -> Any:
    d = dtypes.default() if dtype is None else dtypes.of(dtype)
    if not d.is_floating_point:
        raise NotImplementedError(f"{function}(): not implemented for {d}; expected a floating-point dtype")
    array = draw(_size(function, given), np.float32 if d is dtypes.float32 else np.float64)
    return np.asarray(array).astype(d.dtype, copy=False)


def zeros(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
    """Zeros of the given size."""
    return _finish(np.zeros(_size("zeros", size), _dtype(dtype)), None, device, requires_grad)


def ones(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
    """Ones of the given size."""
    return _finish(np.ones(_size("ones", size), _dtype(dtype)), None, device, requires_grad)


def empty(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
    """Whatever the memory holds, of the given size."""
    return _finish(np.empty(_size("empty", size), _dtype(dtype)), None, device, requires_grad)


def full(size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
    """``fill_value`` everywhere; the dtype is that of the number unless named."""
    array = np.full(_size("full", (size,)), _array(fill_value, dtype))
    return _finish(array, None, device, requires_grad)


def eye(n: int, m: int | None = None, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
    """Ones on the diagonal, zeros elsewhere."""
    rows, columns = _size("eye", (n, n if m is None else m))
    return _finish(np.eye(rows, columns, dtype=_dtype(dtype)), None, device, requires_grad)


def arange(start: Any, end: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None,
           requires_grad: bool = False) -> Any:  # fmt: skip
    """Numbers from ``start`` (0 if only one argument is given) to below ``end`` by ``step``."""
    if end is None:
        start, end = 0, start
    bounds = [b.array.item() if isinstance(b, TensorBase) else b for b in (start, end, step)]
    if bounds[2] == 0:
        raise RuntimeError("arange(): step must be nonzero")
    if (bounds[1] - bounds[0]) * bounds[2] < 0:
        raise RuntimeError(f"arange(): upper bound and lower bound inconsistent with step sign: {bounds}")
    whole = all(isinstance(b, (int, np.integer)) for b in bounds)
    d = dtypes.of(dtype) if dtype is not None else dtypes.int64 if whole else dtypes.default()
    return _finish(np.arange(*bounds).astype(d.dtype), None, device, requires_grad)


def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None, device: Any = None,
             requires_grad: bool = False) -> Any:  # fmt: skip
    """``steps`` numbers from ``start`` to ``end``, both included, evenly spaced."""
    if steps < 0:
        raise RuntimeError(f"linspace(): number of steps must be non-negative, but got {steps}")
    d = np.dtype(_dtype(dtype))
    a, b = (v.array.item() if isinstance(v, TensorBase) else v for v in (start, end))
    if steps < 2 or d.kind != "f":
        return _finish(np.linspace(a, b, steps).astype(d), None, device, requires_grad)
    step = (d.type(b) - d.type(a)) / d.type(steps - 1)  # from both ends, in the dtype itself, as PyTorch does
    up, down = np.arange(steps // 2, dtype=d), np.arange(steps - steps // 2 - 1, -1, -1, dtype=d)
    array = np.concatenate([d.type(a) + step * up, d.type(b) - step * down])
    return _finish(array, None, device, requires_grad)


def rand(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
    """Uniform random numbers from [0, 1)."""
    array = _random("rand", _generator().random, size, dtype)
    return _finish(array, None, device, requires_grad)


def randn(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
    """Normal random numbers of mean 0 and variance 1."""
    array = _random("randn", _generator().standard_normal, size, dtype)
    return _finish(array, None, device, requires_grad)


def randint(low: int, high: Any, size: Any = None, *, dtype: Any = None, device: Any = None,
            requires_grad: bool = False) -> Any:  # fmt: skip
    """Whole random numbers from ``low`` (0 if left out) to below ``high``."""
    if size is None:
        low, high, size = 0, low, high
    if low >= high:
        raise RuntimeError(f"randint(): expects 'low' to be less than 'high', but got low={low} >= high={high}")
    array = np.asarray(_generator().integers(low, high, _size("randint", (size,))))
    return _finish(array, dtypes.int64 if dtype is None else dtype, device, requires_grad)


def randperm(n: int, *, dtype: Any = None, device: Any = None) -> Any:
    """The numbers 0 to n - 1 in random order."""
    array = _generator().permutation(*_size("randperm", (n,)))
    return _finish(array, dtypes.int64 if dtype is None else dtype, device, False)


def _like(make: Any, name: str) -> Any:
    def like(input: Any, *values: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
        x = tensor_arg(name, input)
        d = dtypes.of(x.array.dtype if dtype is None else dtype)
        return make(x.array.shape, *values, dtype=d, device=device, requires_grad=requires_grad)

    like.__name__ = like.__qualname__ = name
    like.__doc__ = f"`{make.__name__}` of the size and dtype of ``input``."
    return like


zeros_like, ones_like, empty_like = _like(zeros, "zeros_like"), _like(ones, "ones_like"), _like(empty, "empty_like")
full_like, rand_like, randn_like = _like(full, "full_like"), _like(rand, "rand_like"), _like(randn, "randn_like")


def uniform_(self: Any, a: float = 0.0, b: float = 1.0) -> Any:
    """Fill in place with uniform random numbers from [a, b)."""
    if a > b:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={a} > to={b}")
    return self.copy_(a + (b - a) * rand(self.array.shape, dtype=self.array.dtype))


def normal_(self: Any, mean: float = 0.0, std: float = 1.0) -> Any:
    """Fill in place with normal random numbers."""
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    return self.copy_(mean + std * randn(self.array.shape, dtype=self.array.dtype))
