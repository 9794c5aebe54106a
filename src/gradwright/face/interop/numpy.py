"""NumPy's functions on Tensors: each is the operation of the same meaning, recorded; the others are refused.

NumPy hands a call with a Tensor among its arguments to the Tensor: `numpy.ufunc`s to `ufunc`, other functions to
`function`. Nothing that has a derivative is ever detached on the way: what has no counterpart here is a TypeError that
says what to do. Functions without derivative, such as `numpy.argsort`, are NumPy's own on the values; so, as with
PyTorch's tensors, is any that has no counterpart where no Tensor requires grad, and its results are NumPy's.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gradwright.backends import to_host
from gradwright.backends.devices import device
from gradwright.base import dtypes
from gradwright.engine.base import TensorBase, wrap
from gradwright.face import fft, linalg, xp
from gradwright.face.interop.ufuncs import as_tensor, device_among, f, over, refused, tensors, ufunc

__all__ = ["FUNCTIONS", "function", "ufunc"]


def function(which: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What ``Tensor.__array_function__`` does: those of NumPy's other functions that are in the tables below."""
    module = which.__module__.removeprefix("numpy").lstrip(".")
    name = f"{module}.{which.__name__}" if module in ("linalg", "fft") else which.__name__
    if name in _PLAIN:
        return _results(which(*_values(args), **_values(kwargs)), device_among([*args, *kwargs.values()]))
    call = FUNCTIONS.get(name)
    if call is None:
        given, named = _values([args, kwargs], partial(_exported, name))
        return which(*given, **named)
    try:
        inspect.signature(call).bind(*args, **kwargs)
    except TypeError as e:
        raise refused(f"numpy.{name}", f"on Tensors, {e}") from None
    return call(*tensors(args), **{k: tensors(v) for k, v in kwargs.items()})


_PLAIN = frozenset([
    "allclose", "argmax", "argmin", "argpartition", "argsort", "argwhere", "array_equal", "array_equiv",
    "count_nonzero", "digitize", "empty_like", "flatnonzero", "isclose", "iscomplex", "iscomplexobj", "isin",
    "isneginf", "isposinf", "isreal", "isrealobj", "lexsort", "ndim", "nonzero", "ones_like", "searchsorted",
    "shape", "size", "zeros_like",
])  # fmt: skip
"""The functions whose results do not change with the values, or in steps: they carry no derivative."""


def _on_host(x: TensorBase) -> Any:
    return np.asarray(to_host(x.array))


def _exported(name: str, x: Any) -> Any:
    """The array of a Tensor; TypeError if it requires grad, which would be lost."""
    if x.requires_grad:
        raise refused(f"numpy.{name}", "not defined for Tensors")
    return np.asarray(x)


def _values(value: Any, array: Callable[[Any], Any] = _on_host) -> Any:
    """``value`` with the Tensors in it as arrays."""
    if isinstance(value, TensorBase):
        return array(value)
    if type(value) in (list, tuple):
        return type(value)(_values(v, array) for v in value)
    return {k: _values(v, array) for k, v in value.items()} if type(value) is dict else value


def _results(value: Any, at: device) -> Any:
    if type(value) is tuple:
        return tuple([_results(v, at) for v in value])
    return wrap(at.hold(np.asarray(value))) if isinstance(value, (np.ndarray, np.generic)) else value


# -- from NumPy's arguments to ours --


def _reduction(call: Callable[..., Any]) -> Callable[..., Any]:
    def reduced(a: Any, axis: Any = None, *, dtype: Any = None, keepdims: bool = False) -> Any:
        return over(call)(a if dtype is None else a.to(dtype), axis, keepdims)

    return reduced


def _spread(call: Callable[..., Any]) -> Callable[..., Any]:
    def spread(a: Any, axis: Any = None, *, ddof: int = 0, keepdims: bool = False, correction: Any = None) -> Any:
        by = ddof if correction is None else correction
        return over(lambda a, axis, keepdims: call(a, axis, keepdim=keepdims, correction=by))(a, axis, keepdims)

    return spread


def _flattened(call: Callable[..., Any], default: Any = None) -> Callable[..., Any]:
    """A function along one axis, of the flattened tensor if the axis is None."""
    return lambda a, axis=default: call(f.ravel(a), 0) if axis is None else call(a, axis)


def _transform(call: Callable[..., Any], several: bool) -> Callable[..., Any]:
    if several:
        return lambda a, s=None, axes=None, norm=None: call(a, s, axes, norm)
    return lambda a, n=None, axis=-1, norm=None: call(a, n, axis, norm)


def _swapped(a: Any, axes: Any = None) -> Any:
    return f.permute(a, tuple(reversed(range(a.ndim))) if axes is None else tuple(axes))


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    return linalg.norm(x, ord, axis, keepdims)


def _dot(a: Any, b: Any) -> Any:
    """NumPy's dot: a sum over the last axis of ``a`` and the last but one of ``b``."""
    n, m = np.ndim(a), np.ndim(b)
    return f.tensordot(a, b, ([n - 1], [max(m - 2, 0)])) if n and m else a * b


def _expanded(a: Any, axis: Any) -> Any:
    many = axis if isinstance(axis, tuple) else (axis,)
    for place in sorted(np.lib.array_utils.normalize_axis_tuple(many, a.ndim + len(many))):
        a = f.unsqueeze(a, place)
    return a


def _rolled(a: Any, shift: Any, axis: Any = None) -> Any:
    if axis is None:
        return f.reshape(_rolled(f.ravel(a), shift, 0), a.shape)
    by, along = (tuple(n.ravel().tolist()) for n in np.broadcast_arrays(shift, axis))
    return f.roll(a, by, along)


def _where(condition: Any, *choices: Any) -> Any:
    condition = as_tensor(condition)
    if not choices:
        return xp.nonzero(condition)
    return f.where(condition if condition.dtype is dtypes.boolean else condition != 0, *choices)


def _taken(a: Any, indices: Any, axis: int | None = None) -> Any:
    a, axis = (f.ravel(a), 0) if axis is None else (a, range(a.ndim)[axis])
    indices = as_tensor(indices)
    if indices.dtype.category is not dtypes.INT:
        raise refused("numpy.take", f"indices must be whole numbers, but their dtype is {indices.dtype}")
    return a[(*(slice(None),) * axis, indices)]


def _repeated(a: Any, repeats: Any, axis: int | None = None) -> Any:
    return xp.repeat(a, repeats if isinstance(repeats, int) else as_tensor(repeats), axis=axis)


def _pieces(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    return list(f.tensor_split(ary, indices_or_sections, axis))


def _split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    if isinstance(indices_or_sections, int) and ary.shape[axis] % indices_or_sections:
        raise ValueError("numpy.split: array split does not result in an equal division")
    return _pieces(ary, indices_or_sections, axis)


def _joining(call: Callable[..., Any]) -> Callable[..., Any]:
    return lambda tup: call([as_tensor(x) for x in tup])


def _cutting(call: Callable[..., Any]) -> Callable[..., Any]:
    return lambda ary, indices_or_sections: list(call(ary, indices_or_sections))


def _grid(*xi: Any, copy: bool = True, indexing: str = "xy") -> tuple[Any, ...]:
    grid = xp.meshgrid(*(f.ravel(as_tensor(x)) for x in xi), indexing=indexing)
    return tuple(map(f.clone, grid)) if copy else grid


def _at_least(call: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arys: call(*map(as_tensor, arys))


def _median(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """The mean of the two middle entries, or the one; NaN if any entry is."""
    whole = axis is None
    x = f.sort(f.ravel(a) if whole else a, 0 if whole else axis).values
    x = f.movedim(x, 0 if whole else axis, 0)
    n = x.shape[0]
    if not n:
        raise ValueError("numpy.median: no entries along the axis")
    middle = (x[(n - 1) // 2] + x[n // 2]) / 2 if n % 2 == 0 else x[n // 2] / 1
    out = f.where(x[-1] != x[-1], x[-1], middle)
    if not keepdims:
        return out
    return f.reshape(out, (1,) * a.ndim) if whole else f.unsqueeze(out, axis)


def _unique(ar: Any) -> Any:
    """The distinct entries in order; NaNs, which come last, as one."""
    values = xp.unique_values(ar)
    return values[: max(values.shape[0] - max(int((values != values).sum()) - 1, 0), 0)]


def _filled(a: Any, fill_value: Any, dtype: Any = None) -> Any:
    if isinstance(fill_value, TensorBase):
        raise refused("numpy.full_like", "the fill value is a Tensor; numpy.broadcast_to records it")
    return xp.full_like(a, fill_value, dtype=dtype)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{n: _reduction(getattr(f, n)) for n in ("sum", "prod", "mean", "nansum", "nanmean", "all", "any")},
    **{n: _reduction(getattr(f, m)) for n, m in
       (("max", "amax"), ("min", "amin"), ("amax", "amax"), ("amin", "amin"))},
    "ptp": _reduction(lambda a, axis, keepdims: f.amax(a, axis, keepdims) - f.amin(a, axis, keepdims)),
    **{n: _spread(getattr(f, n)) for n in ("var", "std")},
    "median": _median,
    "cumsum": _flattened(f.cumsum), "cumprod": _flattened(f.cumprod),
    "diff": lambda a, n=1, axis=-1, prepend=None, append=None: f.diff(a, n, axis, prepend, append),
    "concatenate": lambda arrays, axis=0: f.cat([f.ravel(a) for a in arrays] if axis is None else arrays,
                                                     axis or 0),
    "stack": lambda arrays, axis=0: f.stack(arrays, axis),
    **{n: _joining(getattr(f, n))
       for n in ("vstack", "hstack", "dstack", "column_stack")},
    "split": _split, "array_split": _pieces,
    **{n: _cutting(getattr(f, n))
       for n in ("vsplit", "hsplit", "dsplit")},
    "meshgrid": _grid, "broadcast_arrays": lambda *args: f.broadcast_tensors(*map(as_tensor, args)),
    **{n: _at_least(getattr(f, n)) for n in ("atleast_1d", "atleast_2d", "atleast_3d")},
    "transpose": _swapped, "matrix_transpose": lambda x: f.transpose(x, -2, -1),
    "permute_dims": _swapped, "swapaxes": lambda a, axis1, axis2: f.transpose(a, axis1, axis2),
    "moveaxis": lambda a, source, destination: f.movedim(a, source, destination),
    "reshape": lambda a, shape_: f.reshape(a, shape_), "ravel": lambda a: f.ravel(a),
    "squeeze": lambda a, axis=None: f.squeeze(a) if axis is None else f.squeeze(a, axis),
    "expand_dims": _expanded,
    "broadcast_to": lambda array, shape_: f.broadcast_to(array, shape_),
    "flip": lambda m, axis=None: f.flip(m, tuple(range(m.ndim)) if axis is None else axis),
    "roll": _rolled, "repeat": _repeated,
    "tile": lambda A, reps: xp.tile(A, (reps,) if isinstance(reps, int) else tuple(reps)),
    "tril": lambda m, k=0: f.tril(m, k), "triu": lambda m, k=0: f.triu(m, k),
    "diagonal": lambda a, offset=0, axis1=0, axis2=1: f.diagonal(a, offset, axis1, axis2),
    "diag": lambda v, k=0: f.diag(v, k),
    "trace": lambda a, offset=0, axis1=0, axis2=1: f.sum(f.diagonal(a, offset, axis1, axis2), -1),
    "where": _where,
    "clip": lambda a, a_min=None, a_max=None, *, min=None, max=None: f.clamp(
        a, a_min if min is None else min, a_max if max is None else max),
    "round": lambda a, decimals=0: f.round(a, decimals=decimals),
    "around": lambda a, decimals=0: f.round(a, decimals=decimals),
    "real": f.real, "imag": f.imag, "angle": f.angle,
    "nan_to_num": lambda x, copy=True, nan=0.0, posinf=None, neginf=None: f.nan_to_num(
        x, nan, posinf, neginf),
    "sinc": f.sinc, "i0": f.i0,
    "sort": _flattened(lambda a, axis: f.sort(a, axis).values, -1), "unique": _unique,
    "take": _taken,
    "take_along_axis": lambda arr, indices, axis=-1: xp.take_along_axis(arr, as_tensor(indices), axis=axis)
    if axis is not None else xp.take_along_axis(f.ravel(arr), as_tensor(indices), axis=0),
    "dot": _dot, "inner": lambda a, b: f.inner(a, b), "outer": lambda a, b: f.outer(
        f.ravel(a), f.ravel(b)),
    "vdot": lambda a, b: f.vdot(f.ravel(a), f.ravel(b)),
    "cross": lambda a, b, *, axis=-1: xp.linalg.cross(a, b, axis=axis),
    "tensordot": lambda a, b, axes=2: f.tensordot(a, b, axes), "kron": lambda a, b: f.kron(a, b),
    "einsum": lambda subscripts, *operands, optimize=False: f.einsum(subscripts, *operands),
    "copy": lambda a: f.clone(a), "full_like": _filled,
    "linalg.norm": _norm, "linalg.inv": lambda a: linalg.inv(a), "linalg.det": lambda a: linalg.det(a),
    "linalg.solve": lambda a, b: linalg.solve(a, b), "linalg.cholesky": lambda a: linalg.cholesky(a),
    "linalg.eigh": lambda a, UPLO="L": linalg.eigh(a, UPLO), "linalg.slogdet": lambda a: linalg.slogdet(a),
    "linalg.eigvalsh": lambda a, UPLO="L": linalg.eigvalsh(a, UPLO), "linalg.svdvals": lambda x: linalg.svdvals(x),
    "linalg.svd": lambda a, full_matrices=True: linalg.svd(a, full_matrices), "linalg.qr": lambda a: linalg.qr(a),
    "linalg.pinv": lambda a: linalg.pinv(a), "linalg.matrix_power": lambda a, n: linalg.matrix_power(a, n),
    **{f"fft.{n}": _transform(getattr(fft, n), False)
       for n in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{f"fft.{n}": _transform(getattr(fft, n), True) for n in ("fftn", "ifftn", "rfftn", "irfftn")},
    "fft.fftshift": lambda x, axes=None: fft.fftshift(x, axes),
    "fft.ifftshift": lambda x, axes=None: fft.ifftshift(x, axes),
}  # fmt: skip
