"""NumPy's and SciPy's ufuncs on Tensors: each is the operation of the same meaning, recorded, or is refused.

One that has no such operation is computed as NumPy computes it where no Tensor requires grad.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from gradwright.backends import to_host
from gradwright.backends.devices import CPU, device, device_of
from gradwright.base import dtypes
from gradwright.engine.base import TensorBase, wrap
from gradwright.face import special_names as special
from gradwright.face.functions import (
    arithmetic,
    compare,
    diagonal,
    differences,
    elementwise,
    indexing,
    join,
    order,
    rearrange,
    reduce,
    scan,
    scatter,
    shape,
    statistics,
    views,
)
from gradwright.face.functions import complex as numbers
from gradwright.face.functions import special as functions
from gradwright.face.functions.algebra import einsum, products
from gradwright.face.functions.algebra import linalg as matrices
from gradwright.face.functions.forms import aside, store
from gradwright.face.reading.common import taken

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


def refused(name: str, why: str) -> TypeError:
    """The error of a function that Tensors do not have."""
    return TypeError(
        f"{name}: {why}. Use gradwright's own functions, or, where no gradient is needed, give it the values: "
        "tensor.detach().numpy()"
    )


def tensors(value: Any) -> Any:
    """``value`` with the arrays in it, inside lists and tuples too, as Tensors, and NumPy's scalars as numbers."""
    if isinstance(value, np.ndarray):
        return wrap(taken(value))
    if isinstance(value, np.generic):
        return value.item()
    if type(value) in (list, tuple):
        return type(value)(map(tensors, value))
    return value


def as_tensor(value: Any, at: device = CPU) -> Any:
    """``value``, if it is a Tensor, or what NumPy makes of it as one on the device ``at``."""
    return value if isinstance(value, TensorBase) else wrap(at.hold(taken(np.asarray(value))))


def device_among(values: Iterable[Any]) -> device:
    """The device of the first Tensor among values, inside lists and tuples too; the CPU if there is none."""
    for value in values:
        if isinstance(value, TensorBase):
            return device_of(value.array)
        if isinstance(value, (list, tuple)) and (at := device_among(value)) != CPU:
            return at
    return CPU


def over(call: Callable[[Any, Any, bool], Any]) -> Callable[[Any, Any, bool], Any]:
    """A reduction to which an axis of () means none of the axes, as NumPy has it, and not all, as PyTorch has it."""
    return lambda a, axis, keepdims: call(a[..., None], -1, False) if axis in ((), []) else call(a, axis, keepdims)


# -- ufuncs whose meaning is not that of the function of their name --


def _kinds(*values: Any) -> str:
    """The kinds of dtype, as NumPy's letters."""
    return "".join(dtypes.kind(x.array.dtype) for x in map(as_tensor, values))


def _floating(x: Any) -> Any:
    return x.to(dtypes.default()) if dtypes.of(x.array.dtype).category < dtypes.FLOAT else x


def _power(x: Any, y: Any) -> Any:
    if set(_kinds(x, y)) <= set("biu") and np.any(to_host(as_tensor(y).array) < 0):
        raise ValueError("numpy.power: Integers to negative integer powers are not allowed; convert with .double()")
    return f.pow(x, y)


def _reciprocal(x: Any) -> Any:
    if _kinds(x) in "biu":
        raise refused("numpy.reciprocal", f"NumPy's whole quotient of {x.dtype} is not defined for Tensors")
    return f.reciprocal(x)


def _heaviside(x: Any, y: Any) -> Any:
    x, y = map(_floating, (x, y))
    common = dtypes.promote_types(x.dtype, y.dtype)
    x, y = x.to(common), y.to(common)
    return f.where(x != x, x, f.heaviside(x, y))


def _fabs(x: Any) -> Any:
    if _kinds(x) == "c":
        raise refused("numpy.fabs", "not defined for complex numbers; numpy.abs is")
    return f.abs(_floating(x))


def _ldexp(x: Any, exponent: Any) -> Any:
    if not {*_kinds(exponent)} <= set("biu") or _kinds(x) == "c":
        raise refused("numpy.ldexp", "expected real numbers and whole exponents, but got "
                      f"{as_tensor(x).dtype} and {as_tensor(exponent).dtype}")  # fmt: skip
    x, n = _floating(as_tensor(x)), as_tensor(exponent, device_among([x])).to(dtypes.int64)
    half = n // 2  # neither factor leaves the range where the product does not
    return x * half.to(x.dtype).exp2() * (n - half).to(x.dtype).exp2()


_OTHERS: dict[str, Callable[..., Any]] = {
    "numpy.power": _power, "numpy.reciprocal": _reciprocal, "numpy.heaviside": _heaviside, "numpy.fabs": _fabs,
    "numpy.ldexp": _ldexp, "numpy.rint": lambda x: f.round(_floating(x)),
}  # fmt: skip
_OTHER_NAMES = {
    "conjugate": "conj", "equal": "eq", "invert": "bitwise_not", "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift", "degrees": "rad2deg", "radians": "deg2rad", "_zeta": "zeta",
    "j0": "bessel_j0", "j1": "bessel_j1", "y0": "bessel_y0", "y1": "bessel_y1",
    "k0": "modified_bessel_k0", "k1": "modified_bessel_k1",
    "k0e": "scaled_modified_bessel_k0", "k1e": "scaled_modified_bessel_k1",
}  # fmt: skip
_OPERATORS = ("add", "subtract", "multiply", "divide", "power", "remainder", "floor_divide",
              "equal", "not_equal", "less")  # fmt: skip
_REDUCTIONS = {"add": f.sum, "multiply": f.prod, "maximum": f.amax, "minimum": f.amin,
               "logical_and": f.all, "logical_or": f.any}  # fmt: skip
_SCANS = {"add": f.cumsum, "multiply": f.cumprod}
_PRIVATE = {"_riemann_zeta": "zeta", "_zeta": "zeta"}  # what SciPy's functions call


def _named(which: np.ufunc) -> str:
    """The full name of a ufunc; that alone which it calls itself if it is neither NumPy's nor SciPy's."""
    name = which.__name__
    if getattr(np, name, None) is which:
        return f"numpy.{name}"
    home = sys.modules.get("scipy.special")
    inside = getattr(sys.modules.get("scipy.special._ufuncs"), name, None) is which
    return f"scipy.special.{_PRIVATE.get(name, name)}" if inside or getattr(home, name, None) is which else name


def _counterpart(name: str, which: np.ufunc) -> Callable[..., Any] | None:
    if which.nout > 1 or "." not in name:
        return None
    return _OTHERS.get(name) or getattr(f, _OTHER_NAMES.get(which.__name__, which.__name__), None)


def ufunc(which: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What ``Tensor.__array_ufunc__`` does: elementwise functions, their reductions and running forms."""
    home = _named(which)
    name = home if method == "__call__" else f"{home}.{method}"
    out = options.pop("out", (None,))[0]
    args = [tensors(aside(x) if x is out else x) for x in inputs]
    if method == "__call__":
        call = _counterpart(home, which)
        if call is not None and not options:
            if which.__name__ not in _OPERATORS:  # the others take Tensors alone
                at = device_among(args)
                args = [as_tensor(x, at) for x in args]
            return _given(name, out, call(*args))
        if call is None and "." in home and not options and out is None and not any(map(_wants_grad, args)):
            values = which(*map(_plain, args))
            return tuple(map(as_tensor, values)) if isinstance(values, tuple) else as_tensor(values)
    elif method == "reduce" and which.__name__ in _REDUCTIONS:
        axis, keepdims = options.pop("axis", 0), options.pop("keepdims", False)
        if not options:
            return _given(name, out, over(_REDUCTIONS[which.__name__])(args[0], axis, keepdims))
    elif method == "accumulate" and which.__name__ in _SCANS:
        axis = options.pop("axis", 0)
        if not options:
            return _given(name, out, _SCANS[which.__name__](args[0], axis))
    raise refused(name, f"not defined for Tensors{' with ' + ', '.join(options) if options else ''}")


def _wants_grad(x: Any) -> bool:
    return isinstance(x, TensorBase) and x.requires_grad


def _plain(x: Any) -> Any:
    return x.numpy() if isinstance(x, TensorBase) else x  # type: ignore[attr-defined]


def _given(name: str, out: Any, result: Any) -> Any:
    """A result, or the Tensor ``out`` with the result written into it."""
    if out is None:
        return result
    if not isinstance(out, TensorBase):
        raise refused(name, "out= is a NumPy array, which cannot record the result of Tensors")
    return store(out, result)
