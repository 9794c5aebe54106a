"""NumPy as `xp`: its own functions, those it lacks, and direct forms of those it wraps in slow Python."""

from __future__ import annotations

import math
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from gradwright.backends import (
    approximations,
    elementary,
    generic_linalg,
    linalg,
    order,
    register,
    scatter,
    spectrum,
    windows,
)
from gradwright.backends.einsum import einsum
from gradwright.backends.quiet import muted
from gradwright.backends.quotients import floor_divide, fmod, remainder
from gradwright.backends.scipy import Special, Transforms
from gradwright.backends.select import where
from gradwright.backends.steps import read
from gradwright.base.dtypes import numpy_dtype
from gradwright.native import twin

_add: Any = np.add.reduce
_mul: Any = np.multiply.reduce
_max: Any = np.maximum.reduce
_min: Any = np.minimum.reduce
_and: Any = np.logical_and.reduce
_or: Any = np.logical_or.reduce
_concatenate = getattr(np.concatenate, "_implementation", np.concatenate)


_LARGE, _LONG, _ROW, _MANY = 1 << 17, 256, 1024, 1 << 13
_FLOATS = frozenset(map(np.dtype, ("float32", "float64")))


def sum(x: Any, *, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Any:
    """Sum over ``axis`` (an int, a tuple or None for all)."""
    if x.size >= _ROW and x.dtype in _FLOATS and x.flags.c_contiguous:
        if axis is None and not keepdims and x.size >= _LARGE:
            return _large_sum(x)
        if _is_last(axis, x.ndim) and x.shape[-1] <= _ROW and x.size >= 64 * x.shape[-1]:
            return np.einsum("...i->...", x).reshape(x.shape[:-1] + (1,) * keepdims)
    if x.size >= _LONG and x.dtype in _FLOATS and not (axis is None and x.flags.forc):
        x = _ahead(x, range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,))
    return _add(x, axis, dtype, None, keepdims)


def _ahead(x: Any, axes: Any) -> Any:
    """``x`` summed over those of ``axes`` along which NumPy would lose digits, which are kept as length 1.

    NumPy adds pairwise along the axis that is close in memory only: along any other it would add a million float32
    numbers one by one, and lose five of their seven digits.
    """
    if math.prod([x.shape[i] for i in axes]) < _LONG:
        return x
    outer = sorted((-abs(x.strides[i]), i % x.ndim) for i in axes if x.shape[i] > 1 and abs(x.strides[i]) > x.itemsize)
    if math.prod([x.shape[i] for _, i in outer]) >= _LONG:
        for _, i in outer:
            x = _add(_shortened(x, i), i, None, None, True)
    return x


def _shortened(x: Any, i: int) -> Any:
    """``x`` with axis ``i`` made short by sums of entries far apart, so that NumPy's inner loop is long."""
    cut, before, after = (slice(None),) * i, x.shape[:i], x.shape[i + 1 :]
    while (length := x.shape[i]) >= _LONG:
        inner, outer = (64, 64) if length >= 4096 else (32, length // 32)
        n = length // (inner * outer) * (inner * outer)
        blocks = _add(x[(*cut, slice(n))].reshape(*before, -1, inner, outer, *after), i + 1)
        blocks = blocks.reshape(*before, n // inner, *after)
        x = blocks if n == length else np.concatenate([blocks, x[(*cut, slice(n, None))]], i)
    return x


def _is_last(axis: Any, ndim: int) -> bool:
    """Whether a reduction over ``axis`` is one over the last axis."""
    return axis in ((ndim - 1,), ndim - 1, -1, (-1,))


def _large_sum(x: Any) -> Any:
    """Rows of 1024 by einsum, then their sums: as exact as NumPy's pairwise sum, in a third of its time.

    A matrix product is quicker still, but its threads wait for each other when other programs keep the cores busy.
    """
    flat = x.reshape(-1)
    whole = flat.size // _ROW * _ROW
    return _add(np.einsum("ij->i", flat[:whole].reshape(-1, _ROW))) + _add(flat[whole:])


def prod(x: Any, *, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Any:
    """Product over ``axis``."""
    if x.size >= _LARGE and x.dtype in _FLOATS and _is_last(axis, x.ndim):
        x = _halved(x)
    return _mul(x, axis, dtype, None, keepdims)


def _halved(x: Any) -> Any:
    """Lines of at most 16 products along the last axis, by multiplying halves: NumPy multiplies a line in sequence."""
    while x.shape[-1] > 16:
        half, odd = divmod(x.shape[-1], 2)
        y = x[..., :half] * x[..., half : 2 * half]
        if odd:
            y[..., 0] *= x[..., -1]
        x = y
    return x


def max(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Largest value over ``axis``, of equal ones, 0.0 and -0.0, the first; NaN if there is one."""
    if _by_place(x, axis):
        return _at_rows(x, x.argmax(-1), keepdims)
    return _max(x, axis, None, None, keepdims)


def min(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Smallest value over ``axis``, of equal ones, 0.0 and -0.0, the first; NaN if there is one."""
    if _by_place(x, axis):
        return _at_rows(x, x.argmin(-1), keepdims)
    return _min(x, axis, None, None, keepdims)


def _by_place(x: Any, axis: Any) -> bool:
    """Whether the place of an extreme value of each row is found sooner than by NumPy's reduction the value."""
    rows = x.size >= _MANY and x.dtype in _FLOATS and _is_last(axis, x.ndim)
    return rows and 64 <= x.shape[-1] <= 512 and x.flags.c_contiguous


def _at_rows(x: Any, at: Any, keepdims: bool) -> Any:
    """For each row of ``x`` the entry at a place."""
    n = x.shape[-1]
    found = x.reshape(-1)[np.arange(0, x.size, n) + at.reshape(-1)]
    return found.reshape(x.shape[:-1] + (1,) * keepdims)


def all(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether ``x`` holds, or is not 0, everywhere along ``axis``."""
    return _and(x, axis, None, None, keepdims)


def any(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether ``x`` holds, or is not 0, anywhere along ``axis``."""
    return _or(x, axis, None, None, keepdims)


def isdtype(dtype: Any, kind: Any) -> Any:
    """Whether a dtype is of a kind, or one of several."""
    return dtype.kind == "c" if kind == "complex floating" else np.isdtype(dtype, kind)


def matmul(x: Any, y: Any) -> Any:
    """Matrix product."""
    if x.ndim == y.ndim == 2 and x.dtype is y.dtype and x.dtype in _FLOATS and x.flags.forc and y.flags.forc:
        (rows, inner), (same, columns) = x.shape, y.shape
        if rows > 1 and inner == same > 1 and columns > 1:
            return x.dot(y)  # the same call of BLAS, half a microsecond sooner
    return np.matmul(x, y)


def broadcast_to(x: Any, shape: tuple[int, ...]) -> Any:
    """A read-only view of ``x`` in a larger shape."""
    x = np.asarray(x)
    if not x.ndim:
        out = np.ndarray(shape, x.dtype, x, 0, (0,) * len(shape))
        out.flags.writeable = False
        return out
    lead = len(shape) - x.ndim
    if lead < 0 or not x.flags.c_contiguous:
        return np.broadcast_to(x, shape)
    strides = [0] * lead
    for n, m, step in zip(x.shape, shape[lead:], x.strides, strict=True):
        if n not in (1, m):
            return np.broadcast_to(x, shape)
        strides.append(0 if n == 1 else step)
    out = np.ndarray(shape, x.dtype, x, 0, strides)  # a sixth of `np.broadcast_to`'s time
    out.flags.writeable = False
    return out


def reshape(x: Any, shape: tuple[int, ...]) -> Any:
    """The same entries in row-major order under another shape."""
    return x.reshape(shape)


def concat(xs: Any, *, axis: Any = 0) -> Any:
    """Arrays joined end to end along ``axis``; flattened, if it is None. In row-major order, or channels last."""
    return _in_order(_concatenate(xs, axis), xs)


def _in_order(joined: Any, xs: Any) -> Any:
    """What was joined of ``xs`` in row-major order; as it is, if the first has 4 or 5 axes, the second innermost."""
    if joined.flags.c_contiguous or (3 < xs[0].ndim < 6 and np.moveaxis(xs[0], 1, -1).flags.c_contiguous):
        return joined
    return joined.copy()


def stack(xs: Any, *, axis: int = 0) -> Any:
    """Arrays of one shape joined along a new axis."""
    if axis >= 0:
        new = (slice(None),) * axis + (None,)
        try:
            return _in_order(_concatenate([x[new] for x in xs], axis), xs)
        except (ValueError, IndexError):  # shapes that differ, or an axis that there is not: NumPy says so
            pass
    return _in_order(np.stack(xs, axis), xs)


def squeeze(x: Any, axis: tuple[int, ...]) -> Any:
    """A view without axes of length 1."""
    return x.squeeze(axis)


def asarray(x: Any, *, dtype: Any = None, copy: Any = None, device: Any = None) -> Any:
    """``x`` as an array; a copy is in row-major order."""
    return np.array(x, dtype, order="C") if copy else np.asarray(x, dtype)


def expand_dims(x: Any, *, axis: int = 0) -> Any:
    """A view of ``x`` with an axis of length 1 put in at ``axis``."""
    x = np.asarray(x)
    shape = list(x.shape)
    shape.insert(axis if axis >= 0 else axis + x.ndim + 1, 1)
    return x.reshape(shape)


def permute_dims(x: Any, axes: tuple[int, ...]) -> Any:
    """A view of ``x`` with its axes reordered."""
    return x.transpose(axes)


def zeros_like(x: Any, *, shape: Any = None, dtype: Any = None) -> Any:
    """Zeros of the shape and dtype of ``x``, unless others are named."""
    return np.zeros(x.shape if shape is None else shape, x.dtype if dtype is None else dtype)


def zero(x: Any) -> Any:
    """A 0 to set beside ``x``, which is not to be written: there is one for each dtype."""
    return _zeros[x.dtype]


class _Zeros(dict[Any, Any]):
    def __missing__(self, dtype: Any) -> Any:
        self[dtype] = broadcast_to(dtype.type(0), ())
        return self[dtype]


_zeros = _Zeros()


def ones_like(x: Any, *, shape: Any = None, dtype: Any = None) -> Any:
    """Ones of the shape and dtype of ``x``, unless others are named."""
    return np.ones(x.shape if shape is None else shape, x.dtype if dtype is None else dtype)


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """``x`` in another dtype, its axes in memory as they are; one that is expanded stays where it stands among them.

    That is where a ufunc lays them, and PyTorch. NumPy alone puts an axis of stride 0 innermost.
    """
    if 0 not in x.strides or not (copy or x.dtype != dtype):
        return x.astype(dtype, copy=copy)
    out = laid_as(x, dtype)
    np.copyto(out, x, casting="unsafe")
    return out


def laid_as(x: Any, dtype: Any) -> Any:
    """New memory of the shape of ``x``, laid out as a ufunc of it lays out its result."""
    flags: Any = [["readonly"], ["writeonly", "allocate"]]
    return np.nditer((x, None), ["zerosize_ok", "refs_ok"], flags, [x.dtype, dtype]).operands[1]


def conj(x: Any) -> Any:
    """The complex conjugate; ``x`` itself if it is real."""
    return np.conj(x) if x.dtype.kind == "c" else x


def to_complex(real: Any, imag: Any) -> Any:
    """The complex numbers with these parts."""
    out = np.empty(np.broadcast_shapes(real.shape, imag.shape), np.result_type(real.dtype, np.complex64))
    out.real, out.imag = real, imag
    return out


def view_as_real(x: Any) -> Any:
    """A view of complex numbers as pairs of reals in a new last axis."""
    return np.asarray(x)[..., None].view(x.real.dtype)


def view_as_complex(x: Any) -> Any:
    """A view of pairs of reals, the last axis, as complex numbers; a copy if they are not side by side in memory."""
    pairs = x if x.strides[-1] == x.itemsize else np.ascontiguousarray(x)
    return pairs.view(np.result_type(x.dtype, np.complex64))[..., 0]


def write_view(base: Any, value: Any, *, steps: Any) -> Any:
    """A copy of ``base`` in which the region that the chain ``steps`` of views shows is ``value``."""
    out = np.array(base, order="C")
    region = read(out, steps)
    if np.may_share_memory(region, out):
        region.flags.writeable = True  # what `broadcast_to` returns is locked
        region[...] = value
    elif region.size:  # `base` is laid out differently, and a view of it may be a copy here
        out.reshape(-1)[read(np.arange(out.size).reshape(out.shape), steps)] = value
    return out


def may_hold(condition: Any, *, often: bool = False) -> bool:
    """Whether a condition holds anywhere."""
    return bool(np.count_nonzero(condition))  # a tenth of the time of `any`, which is written in Python


def tril(x: Any, *, k: int = 0) -> Any:
    """The lower triangle of each matrix; zeros above diagonal ``k``."""
    return where(np.tri(x.shape[-2], x.shape[-1], k, dtype=bool), x, x.dtype.type(0))


def triu(x: Any, *, k: int = 0) -> Any:
    """The upper triangle of each matrix; zeros below diagonal ``k``."""
    return where(~np.tri(x.shape[-2], x.shape[-1], k - 1, dtype=bool), x, x.dtype.type(0))


def diagonal(x: Any, *, offset: int = 0) -> Any:
    """A view of the diagonal of each matrix, which may be written if ``x`` may."""
    out = x.diagonal(offset, -2, -1)
    out.flags.writeable = x.flags.writeable
    return out


def cofactor(x: Any) -> Any:
    """The matrix of cofactors, det(x) x^-T."""
    try:
        return np.linalg.det(x)[..., None, None] * np.linalg.inv(x).swapaxes(-1, -2)
    except np.linalg.LinAlgError:
        return generic_linalg.cofactor(np, x)


class _Namespace(SimpleNamespace):
    """NumPy's names, and bfloat16, which is another package's and looked up when asked for."""

    def __getattr__(self, name: str) -> Any:
        if name == "bfloat16":
            return numpy_dtype(name)
        raise AttributeError(f"NumPy has no {name!r}, nor does gradwright's namespace over it")


# vars, not dir: NumPy loads some of its submodules only when they are asked for, which takes longer than all this.
namespace = _Namespace(**{name: value for name, value in vars(np).items() if not name.startswith("_")})
for _f in (
    sum, prod, max, min, all, any, isdtype, matmul, asarray, broadcast_to, reshape, concat, stack, squeeze, expand_dims,
    permute_dims, floor_divide, fmod, remainder, zero, zeros_like, ones_like, astype, conj, to_complex, view_as_real,
    view_as_complex, write_view, einsum, where, tril, triu, may_hold,
):  # fmt: skip
    setattr(namespace, _f.__name__, muted(_f))
namespace.sum = twin("whole_sum", namespace.sum, np.add, float(_add(np.array([-0.0]))))
for _name in elementary.__all__:
    setattr(namespace, _name, muted(getattr(elementary, _name)))
for _module in (scatter, order):
    vars(namespace).update({name: getattr(_module, name) for name in _module.__all__})
namespace.linalg = SimpleNamespace(diagonal=diagonal, **{name: getattr(linalg, name) for name in linalg.__all__})
vars(namespace.linalg).update({name: getattr(spectrum, name) for name in spectrum.__all__})
namespace.linalg.cofactor, namespace.linalg.matrix_exp = cofactor, partial(generic_linalg.matrix_exp, namespace)
namespace.fft = Transforms()
namespace.__array_namespace_info__ = np.__array_namespace_info__
namespace.special = Special()
for _name in approximations.__all__:
    setattr(namespace.special, _name, muted(getattr(approximations, _name)))
for _name in ("windows", "fold_windows", "times_windows", "spread_windows", "weigh_windows", "batch_last"):
    setattr(namespace, _name, getattr(windows, _name))
NUMPY = register(namespace, np.ndarray, np.generic, name="NumPy", writes=True, views=True, host=True,
                 to_host=lambda array: array)  # fmt: skip
