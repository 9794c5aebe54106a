"""NumPy's functions on Tensors: each is the operation of the same meaning, recorded; the others are refused.

NumPy hands a call with a Tensor among its arguments to the Tensor: `numpy.ufunc`s to `ufunc`, other functions to
`function`. Nothing is ever detached on the way: what has no counterpart here is a TypeError that says what to do.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from gradwright import fft, linalg, special
from gradwright.autograd.base import TensorBase, wrap
from gradwright.face import (
    arithmetic,
    compare,
    diagonal,
    differences,
    einsum,
    elementwise,
    indexing,
    join,
    order,
    products,
    rearrange,
    reduce,
    scan,
    scatter,
    shape,
    statistics,
    views,
)
from gradwright.face import complex as numbers
from gradwright.face import linalg as matrices
from gradwright.face import special as functions
from gradwright.face.arguments import unmasked
from gradwright.face.forms import store

# NumPy's ufuncs whose names are not those of the functions here.
_OTHER_NAMES = {
    "conjugate": "conj", "equal": "eq", "fabs": "abs", "invert": "bitwise_not", "left_shift": "bitwise_left_shift",
    "power": "pow", "right_shift": "bitwise_right_shift", "rint": "round", "degrees": "rad2deg", "radians": "deg2rad",
    "fmod": "fmod", "gammaln": "lgamma", "psi": "digamma", "expit": "sigmoid",
}  # fmt: skip
_HOMES = (
    arithmetic, compare, diagonal, differences, einsum, elementwise, functions, indexing, join, matrices, numbers,
    order, products, rearrange, reduce, scan, scatter, shape, statistics, views, special,
)  # fmt: skip


class _Face:
    """Every function of the torch-style face as an attribute, wherever it lives."""

    def __getattr__(self, name: str) -> Any:
        for home in _HOMES:
            if name in home.__all__:
                return getattr(home, name)
        raise AttributeError(f"no function of the face is called {name!r}")


f = _Face()
_OPERATORS = ("add", "subtract", "multiply", "divide", "power", "remainder", "floor_divide",
              "equal", "not_equal", "less")  # fmt: skip
_REDUCTIONS = {"add": f.sum, "multiply": f.prod, "maximum": f.amax, "minimum": f.amin,
               "logical_and": f.all, "logical_or": f.any}  # fmt: skip
_SCANS = {"add": f.cumsum, "multiply": f.cumprod}


def _refused(name: str, why: str) -> TypeError:
    return TypeError(
        f"{name}: {why}. Use gradwright's own functions, or, where no gradient is needed, give NumPy the values: "
        "tensor.detach().numpy()"
    )


def tensors(value: Any) -> Any:
    """``value`` with the arrays in it, inside lists and tuples too, as Tensors, and NumPy's scalars as numbers."""
    if isinstance(value, np.ndarray):
        return wrap(unmasked("numpy", value))
    if isinstance(value, np.generic):
        return value.item()
    if type(value) in (list, tuple):
        return type(value)(map(tensors, value))
    return value


def ufunc(which: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What ``Tensor.__array_ufunc__`` does: NumPy's elementwise functions, their reductions and running forms."""
    name = f"numpy.{which.__name__}" + ("" if method == "__call__" else f".{method}")
    out = options.pop("out", (None,))[0]
    args = [tensors(x) for x in inputs]
    if method == "__call__":
        wanted = _OTHER_NAMES.get(which.__name__, which.__name__)
        call = getattr(f, wanted, None)
        if which.nout == 1 and call is not None and not options:
            if which.__name__ not in _OPERATORS:  # the others take Tensors alone
                args = [x if isinstance(x, TensorBase) else wrap(np.asarray(x)) for x in args]
            return _given(name, out, call(*args))
    elif method == "reduce" and which.__name__ in _REDUCTIONS:
        axis, keepdims = options.pop("axis", 0), options.pop("keepdims", False)
        if not options:
            return _given(name, out, _REDUCTIONS[which.__name__](args[0], axis, keepdims))
    elif method == "accumulate" and which.__name__ in _SCANS:
        axis = options.pop("axis", 0)
        if not options:
            return _given(name, out, _SCANS[which.__name__](args[0], axis))
    raise _refused(name, f"not defined for Tensors{' with ' + ', '.join(options) if options else ''}")


def _given(name: str, out: Any, result: Any) -> Any:
    """A result, or the Tensor ``out`` with the result written into it."""
    if out is None:
        return result
    if not isinstance(out, TensorBase):
        raise _refused(name, "out= is a NumPy array, which cannot record the result of Tensors")
    return store(out, result)


def function(which: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What ``Tensor.__array_function__`` does: those of NumPy's other functions that are in the tables below."""
    module = which.__module__.removeprefix("numpy").lstrip(".")
    name = f"{module}.{which.__name__}" if module in ("linalg", "fft") else which.__name__
    call = FUNCTIONS.get(name)
    if call is None:
        raise _refused(f"numpy.{name}", "not defined for Tensors")
    try:
        inspect.signature(call).bind(*args, **kwargs)
    except TypeError as e:
        raise _refused(f"numpy.{name}", f"on Tensors, {e}") from None
    return call(*tensors(args), **{k: tensors(v) for k, v in kwargs.items()})


def _reduction(call: Callable[..., Any]) -> Callable[..., Any]:
    def reduced(a: Any, axis: Any = None, *, dtype: Any = None, keepdims: bool = False) -> Any:
        return call(a, axis, keepdims) if dtype is None else call(a.to(dtype), axis, keepdims)

    return reduced


def _spread(call: Callable[..., Any]) -> Callable[..., Any]:
    def spread(a: Any, axis: Any = None, *, ddof: int = 0, keepdims: bool = False, correction: Any = None) -> Any:
        return call(a, axis, keepdim=keepdims, correction=ddof if correction is None else correction)

    return spread


def _extreme(call: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, axis=None, *, keepdims=False: call(a, axis, keepdims)


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
    return f.tensordot(a, b, ([a.ndim - 1], [max(b.ndim - 2, 0)])) if a.ndim and b.ndim else a * b


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{n: _reduction(getattr(f, n)) for n in ("sum", "prod", "mean", "nansum", "nanmean", "all", "any")},
    **{n: _reduction(getattr(f, m)) for n, m in
       (("max", "amax"), ("min", "amin"), ("amax", "amax"), ("amin", "amin"))},
    **{n: _spread(getattr(f, n)) for n in ("var", "std")},
    **{n: _extreme(getattr(f, n)) for n in ("argmax", "argmin")},
    "cumsum": _flattened(f.cumsum), "cumprod": _flattened(f.cumprod),
    "concatenate": lambda arrays, axis=0: f.cat([f.ravel(a) for a in arrays] if axis is None else arrays,
                                                     axis or 0),
    "stack": lambda arrays, axis=0: f.stack(arrays, axis),
    "transpose": _swapped, "matrix_transpose": lambda x: f.transpose(x, -2, -1),
    "permute_dims": _swapped, "swapaxes": lambda a, axis1, axis2: f.transpose(a, axis1, axis2),
    "moveaxis": lambda a, source, destination: f.movedim(a, source, destination),
    "reshape": lambda a, shape_: f.reshape(a, shape_), "ravel": lambda a: f.ravel(a),
    "squeeze": lambda a, axis=None: f.squeeze(a) if axis is None else f.squeeze(a, axis),
    "expand_dims": lambda a, axis: f.unsqueeze(a, axis),
    "broadcast_to": lambda array, shape_: f.broadcast_to(array, shape_),
    "flip": lambda m, axis=None: f.flip(m, tuple(range(m.ndim)) if axis is None else axis),
    "roll": lambda a, shift, axis=None: f.roll(a, shift, axis),
    "tril": lambda m, k=0: f.tril(m, k), "triu": lambda m, k=0: f.triu(m, k),
    "diagonal": lambda a, offset=0, axis1=0, axis2=1: f.diagonal(a, offset, axis1, axis2),
    "diag": lambda v, k=0: f.diag(v, k),
    "where": lambda condition, x, y: f.where(condition, x, y),
    "clip": lambda a, a_min=None, a_max=None, *, min=None, max=None: f.clamp(
        a, a_min if min is None else min, a_max if max is None else max),
    "round": lambda a, decimals=0: f.round(a, decimals=decimals),
    "around": lambda a, decimals=0: f.round(a, decimals=decimals),
    "real": f.real, "imag": f.imag, "angle": f.angle,
    "nan_to_num": lambda x, copy=True, nan=0.0, posinf=None, neginf=None: f.nan_to_num(
        x, nan, posinf, neginf),
    "sinc": f.sinc, "i0": f.i0,
    "sort": lambda a, axis=-1: f.sort(a, axis).values, "argsort": lambda a, axis=-1: f.argsort(a, axis),
    "take_along_axis": lambda arr, indices, axis: f.gather(arr, axis, indices),
    "dot": _dot, "inner": lambda a, b: f.inner(a, b), "outer": lambda a, b: f.outer(
        f.ravel(a), f.ravel(b)),
    "vdot": lambda a, b: f.vdot(f.ravel(a), f.ravel(b)),
    "tensordot": lambda a, b, axes=2: f.tensordot(a, b, axes), "kron": lambda a, b: f.kron(a, b),
    "einsum": lambda subscripts, *operands, optimize=False: f.einsum(subscripts, *operands),
    "allclose": lambda a, b, rtol=1e-5, atol=1e-8, equal_nan=False: f.allclose(a, b, rtol, atol, equal_nan),
    "isclose": lambda a, b, rtol=1e-5, atol=1e-8, equal_nan=False: f.isclose(a, b, rtol, atol, equal_nan),
    "array_equal": lambda a1, a2: f.equal(a1, a2),
    "shape": lambda a: tuple(a.shape), "ndim": lambda a: a.ndim, "size": lambda a: a.numel(),
    "zeros_like": lambda a: a.detach() * 0, "copy": lambda a: f.clone(a),
    "linalg.norm": _norm, "linalg.inv": lambda a: linalg.inv(a), "linalg.det": lambda a: linalg.det(a),
    "linalg.solve": lambda a, b: linalg.solve(a, b), "linalg.cholesky": lambda a: linalg.cholesky(a),
    "linalg.eigh": lambda a, UPLO="L": linalg.eigh(a, UPLO), "linalg.slogdet": lambda a: linalg.slogdet(a),
    "linalg.svd": lambda a, full_matrices=True: linalg.svd(a, full_matrices), "linalg.qr": lambda a: linalg.qr(a),
    "linalg.pinv": lambda a: linalg.pinv(a), "linalg.matrix_power": lambda a, n: linalg.matrix_power(a, n),
    **{f"fft.{n}": _transform(getattr(fft, n), False)
       for n in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{f"fft.{n}": _transform(getattr(fft, n), True) for n in ("fftn", "ifftn", "rfftn", "irfftn")},
    "fft.fftshift": lambda x, axes=None: fft.fftshift(x, axes),
    "fft.ifftshift": lambda x, axes=None: fft.ifftshift(x, axes),
}  # fmt: skip
