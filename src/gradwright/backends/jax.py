"""JAX's arrays as `xp`: what `jax.numpy` lacks, and direct forms of what the standard alone makes slow.

Importing this module makes JAX's arrays and devices known; it needs the ``jax`` extra. It also switches JAX to 64 bits
and to exact products, both for the whole program: in 32 bits, which is how JAX starts, JAX makes float32 of a float64
array, and on some devices it multiplies float32 matrices with fewer digits.
"""

from __future__ import annotations

from functools import lru_cache, partial
from math import prod
from typing import Any

from gradwright.backends.jax_devices import Jax, read_back, start, whole  # isort: skip - first: it says what installs JAX

import jax
import jax.numpy as jnp
import jax.scipy.special
import numpy as np

from gradwright.backends import enter, generic, linalg, where_is
from gradwright.backends.generic import Extended
from gradwright.backends.host import on_host
from gradwright.backends.jax_devices import put as bring
from gradwright.backends.quotients import WholeByZeroError
from gradwright.backends.scatter import filled
from gradwright.backends.steps import in_order
from gradwright.backends.windows import Lattice

static = partial(partial, jax.jit)  # @static(static_argnames=...): run as one compiled program for each shape


# -- making arrays: `jax.numpy` takes a hundred times as long to make one on a named device --


def asarray(x: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Any:
    """``x``, an array of JAX, or a copy of anything else, on a device."""
    if isinstance(x, jax.Array):
        out = jnp.array(x, dtype=dtype) if copy else x if dtype is None or x.dtype == dtype else jnp.astype(x, dtype)
        return out if device is None or where_is(out) in (None, device) else JAX.moved(out, whole(device))
    device = whole(device)
    if (x.__class__ is float or x.__class__ is int) and x and x == x and device is not None:  # 0.0 equals -0.0
        key = x.__class__, x, np.dtype(dtype), device
        found = _numbers.get(key)
        if found is None or found.is_deleted():
            found = bring(np.array(x, dtype), device, agreed=True)
            if len(_numbers) < _MANY:
                _numbers[key] = found
        return found
    return bring(np.array(x, dtype), device)


_numbers: dict[Any, Any] = {}
_MANY = 1000


@lru_cache(4 * _MANY)
def _filler(shape: Any, dtype: Any, device: Any) -> Any:
    place = jax.sharding.SingleDeviceSharding(device) if isinstance(device, jax.Device) else device
    return jax.jit(lambda value: jnp.full(shape, value, dtype), out_shardings=place)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """``fill_value`` everywhere, of its own dtype unless one is named."""
    value = fill_value if isinstance(fill_value, jax.Array) else np.asarray(fill_value)
    size = (shape,) if isinstance(shape, int) else tuple(shape)
    return _filler(size, np.dtype(value.dtype if dtype is None else dtype), whole(device))(value)


def _filled_with(value: bool, shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Zeros or ones, of float64 unless another dtype is named."""
    return full(shape, value, dtype=np.float64 if dtype is None else dtype, device=device)


zeros, ones = partial(_filled_with, False), partial(_filled_with, True)


def _like(value: int, x: Any, *, shape: Any = None, dtype: Any = None) -> Any:
    """Zeros or ones of the shape and dtype of ``x`` unless others are named, where it is: of its shape, parted so."""
    same = shape is None or tuple(shape) == x.shape
    return _filler(x.shape if same else tuple(shape), np.dtype(x.dtype if dtype is None else dtype),
                   where_is(x) if same else whole(where_is(x)))(np.asarray(value))  # fmt: skip


def _counted(name: str) -> Any:
    """The function of this name, which makes an array of Python numbers: on a mesh, of NumPy's."""

    def make(*args: Any, device: Any = None, **options: Any) -> Any:
        if device is None or isinstance(device, jax.Device):
            return getattr(jnp, name)(*args, device=device, **options)
        return bring(getattr(np, name)(*args, **options), whole(device), agreed=True)

    return make


class _Quick:
    """`jax.numpy` with these."""

    __name__ = "jax.numpy"
    asarray, full = staticmethod(asarray), staticmethod(full)
    ones, zeros = staticmethod(ones), staticmethod(zeros)
    arange, eye, linspace = map(staticmethod, map(_counted, ("arange", "eye", "linspace")))

    def __getattr__(self, name: str) -> Any:
        return getattr(jnp, name)


quick = _Quick()


# -- reading and writing by index --


def at(x: Any, *places: Any, key: Any) -> Any:
    """``x[key]``, with ``places``, index arrays in range and masks, where the key says `generic.HERE`."""
    return x[filled(key, places)]


def put(x: Any, value: Any, *places: Any, key: Any, accumulate: bool = False) -> Any:
    """A copy of ``x`` in which ``x[key]`` is ``value``, or has ``value`` added (repeated indices add up)."""
    return getattr(x.at[filled(key, places)], _combines(x, "add") if accumulate else "set")(value)


def _combines(x: Any, name: str) -> str:
    """What JAX calls a way to combine entries: of booleans, which it does not add or multiply, it takes max or min."""
    return {"add": "max", "multiply": "min"}.get(name, name) if x.dtype == bool else name


def _along(index: Any, axis: int) -> tuple[Any, ...]:
    """The index arrays that name the entries ``index`` names along ``axis``."""
    grid = np.ogrid[tuple(slice(n) for n in index.shape)]
    return tuple(index if k == axis else at for k, at in enumerate(grid))


@static(static_argnames="axis")
def take_along_axis(x: Any, index: Any, *, axis: int) -> Any:
    """y[i, j] = x[i, index[i, j]] along ``axis``; the index may be shorter than ``x`` along the others."""
    return x[_along(index, axis)]


def _scatter(how: str) -> Any:
    @static(static_argnames="axis")
    def scatter(x: Any, index: Any, src: Any, *, axis: int = 0) -> Any:
        return getattr(x.at[_along(index, axis)], _combines(x, how))(src)

    return scatter


def write_view(base: Any, value: Any, *, steps: Any) -> Any:
    """A copy of ``base`` in which the region that the chain ``steps`` of views shows is ``value``."""
    views, shown = in_order(steps), [base]
    for op, static, *which in views:
        if op.unview is None or which:
            return generic.write_view(quick, base, value, steps=steps)
        shown.append(op(shown[-1], **static))
    for (op, static), x in zip(reversed(views), shown[-2::-1], strict=True):
        value = op.unview(namespace, x, value, **static)
    return value


# -- what the standard lacks, or leaves open --


def einsum(*xs: Any, equation: str) -> Any:
    """The sum of products that ``equation`` names."""
    return jnp.einsum(equation, *xs)


def running_extremum(x: Any, *, axis: int, largest: bool) -> Any:
    """The largest or smallest so far along ``axis``; NaN once there is one."""
    return (jax.lax.cummax if largest else jax.lax.cummin)(x, axis=axis)


def sorted_lines(x: Any) -> Any:
    """The order that sorts the rows of a matrix, by the first column, then the second, ...; equal rows keep theirs."""
    return jnp.lexsort(x.T[::-1]) if x.shape[1] else quick.arange(x.shape[0], device=where_is(x))


def to_complex(real: Any, imag: Any) -> Any:
    """The complex numbers with these parts."""
    kind = jnp.result_type(real.dtype, jnp.float32)
    return jax.lax.complex(*(jnp.astype(part, kind) for part in jnp.broadcast_arrays(real, imag)))


def where(condition: Any, x: Any, y: Any) -> Any:
    """``x`` where the condition holds, else ``y``; of two Python numbers an array of a dtype of its own."""
    out = jnp.where(condition, x, y)
    return jnp.astype(out, out.dtype) if out.weak_type else out


def _whole(f: Any) -> Any:
    """``f``, a quotient or remainder; an error for whole numbers by 0, of which JAX makes something."""

    def call(x: Any, y: Any) -> Any:
        if x.dtype.kind in "iu" and not bool(jnp.all(y)):
            raise WholeByZeroError("a whole number was divided by zero")
        return f(x, y)

    return call


def _converged(name: str) -> Any:
    """The function of linear algebra of this name; LinAlgError where JAX gives NaN, since it did not converge."""
    own, explained = getattr(namespace.linalg, name), on_host(quick, getattr(linalg, name))

    def call(x: Any, **static: Any) -> Any:
        out = own(x, **static)
        values = out[1] if isinstance(out, tuple) else out
        return out if bool(jnp.all(jnp.isfinite(values))) else explained(x, **static)

    return call


# -- windows --


def _windows(x: Any, lattice: Lattice) -> Any:
    n = len(lattice.kernel)
    size = x.shape[-n:]
    x = jnp.pad(x, [(0, 0)] * (x.ndim - n) + [(before, max(after, 0)) for before, after in lattice.padding])
    count = lattice.count(size)
    parts = [x[where] for _, where in lattice.entries(count)]
    return jnp.reshape(jnp.stack(parts, axis=x.ndim - n), (*x.shape[:-n], *lattice.kernel, *count))


@static(static_argnames="lattice")
def windows(x: Any, *, lattice: Lattice) -> Any:
    """(..., *size) -> (..., *kernel, *count), zeros around."""
    return _windows(x, lattice)


@static(static_argnames=("size", "lattice"))
def fold_windows(x: Any, *, size: Any, lattice: Lattice) -> Any:
    """(..., *kernel, *count) -> (..., *size): each entry added where `windows` reads it."""
    like = jax.ShapeDtypeStruct((*x.shape[: x.ndim - 2 * len(size)], *size), x.dtype)
    return jax.linear_transpose(partial(_windows, lattice=lattice), like)(x)[0]


def _times(rows: Any, x: Any, lattice: Lattice) -> Any:
    groups, out, _ = rows.shape
    kernel = jnp.reshape(rows, (groups * out, x.shape[1] // groups, *lattice.kernel))
    return jax.lax.conv_general_dilated(x, kernel, lattice.stride, lattice.padding, rhs_dilation=lattice.dilation,
                                        feature_group_count=groups)  # fmt: skip


@static(static_argnames="lattice")
def times_windows(rows: Any, x: Any, bias: Any = None, *, lattice: Lattice) -> Any:
    """(groups, O, C * kernel) times the windows of (N, groups * C, *size), plus a bias: (N, groups * O, *count)."""
    y = _times(rows, x, lattice)
    return y if bias is None else y + jnp.reshape(bias, (-1, *(1,) * len(lattice.kernel)))


@static(static_argnames=("size", "lattice"))
def spread_windows(rows: Any, x: Any, *, size: Any, lattice: Lattice) -> Any:
    """The adjoint of `times_windows`: (groups, O, C * kernel), (N, groups * O, *count) -> (N, groups * C, *size)."""
    groups, _, height = rows.shape
    like = jax.ShapeDtypeStruct((x.shape[0], groups * height // prod(lattice.kernel), *size), x.dtype)
    return jax.linear_transpose(partial(_times, rows, lattice=lattice), like)(x)[0]


@static(static_argnames="lattice")
def weigh_windows(y: Any, x: Any, *, lattice: Lattice) -> Any:
    """The adjoint by rows, of each image: (N, groups, O, places), (N, groups C, *size) -> (N, groups, O, C kernel)."""
    n, groups, _, places = y.shape
    cols = jnp.reshape(_windows(x, lattice), (n, groups, x.shape[1] // groups * prod(lattice.kernel), places))
    return jnp.matmul(y, jnp.matrix_transpose(cols))


jax.config.update("jax_enable_x64", True)
if jax.config.jax_default_matmul_precision is None:
    jax.config.update("jax_default_matmul_precision", "highest")
namespace = Extended(quick)
for _f in (
    at, einsum, put, running_extremum, sorted_lines, spread_windows, take_along_axis, times_windows, to_complex,
    fold_windows, weigh_windows, where, windows, write_view,
):  # fmt: skip
    setattr(namespace, _f.__name__, _f)
vars(namespace).update(zeros_like=partial(_like, 0), ones_like=partial(_like, 1))
for _name in ("exp2", "fmod", "frexp", "gcd", "isin", "lcm", "ldexp"):
    setattr(namespace, _name, getattr(jnp, _name))
for _name, _how in (("scatter", "set"), ("scatter_add", "add"), ("scatter_max", "max"), ("scatter_prod", "multiply")):
    setattr(namespace, _name, _scatter(_how))
for _name in ("floor_divide", "fmod", "remainder"):
    setattr(namespace, _name, _whole(getattr(jnp, _name)))
for _name in ("svd", "svdvals"):
    setattr(namespace.linalg, _name, _converged(_name))
for _name in ("erf", "erfc", "i0e", "ndtr"):  # those that are as exact as SciPy's
    setattr(namespace.special, _name, getattr(jax.scipy.special, _name))
start()
JAX = enter(Jax("jax", namespace, to_host=read_back, compiles=True), type(jnp.zeros(())))
