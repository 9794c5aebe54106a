"""Discrete Fourier transforms under PyTorch's names (`torch.fft`).

Of x with n entries: y[k] = sum_j x[j] e**(-2 pi i j k / n); inverse transforms turn the sign and divide by n. ``norm``
moves the factor: "backward" (the default) has 1/n on the inverse ones, "forward" on the others, "ortho" 1/sqrt(n) on
both. ``n`` and ``s`` cut dims off or fill them up with zeros first. Names that begin with r are of real numbers, of
whose spectrum they give the half that the other half follows from; those with h are of real spectra likewise. Names
that end in 2 transform two dims, in n several, all by default.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright.backends.devices import chosen, place
from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.base.lazy import lazy
from gradwright.engine.base import wrap
from gradwright.engine.numbers import number, whole
from gradwright.face import xp
from gradwright.face.functions.memory_options import strided_only
from gradwright.face.functions.rearrange import roll
from gradwright.face.reading.torch import numpy_names, one_dim, tensor_arg, to_dtype
from gradwright.face.reference import document
from gradwright.ops import fft as _ops

if TYPE_CHECKING:
    from typing import Unpack

    from gradwright.face.typing import (
        DeviceLike,
        Dims,
        DType,
        Frequencies,
        Memory,
        Shift,
        Tensor,
        Transform,
        Transforms,
    )

_FORMULAS = {"fft": _ops.transform, "rfft": _ops.half_transform, "irfft": _ops.real_transform}
_FORMULAS |= {"ifft": _ops.transform, "hfft": _ops.real_transform, "ihfft": _ops.half_transform}
_FORWARD = ("fft", "rfft", "hfft")
_BASES = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2", "ifftn", "ifftshift",
    "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip

lazy(__name__)


def _type(d: Any) -> str:
    return dtypes.LEGACY.get(d.name, d.name).removesuffix("Tensor")


def _numbers(name: str, x: Any, only_real: bool) -> Any:
    """``x`` in floating point; RuntimeError for complex numbers where only real ones have a transform, and for half."""
    d = dtypes.of(tensor_arg(f"fft_{name}", x).array.dtype)
    if only_real and d.is_complex:
        raise RuntimeError(f"{name} expects a real input tensor, but got {_type(d)}")
    if d.is_floating_point and d not in (dtypes.float32, dtypes.float64):
        raise RuntimeError(f"{name}(): Unsupported dtype {_type(d)}")
    return x if d.category >= dtypes.FLOAT else to_dtype(x, dtypes.default())


def _int(name: str, value: Any, argument: str) -> int:
    if not hasattr(value, "__index__"):
        raise TypeError(f"fft_{name}(): argument '{argument}' must be int, not {kind(value)}")
    return value.__index__()


def _dims(name: str, x: Any, s: Any, dim: Any) -> tuple[tuple[int, ...], list[int]]:
    """The dims to transform, and their lengths before the transform."""
    ndim, shape = x.array.ndim, x.array.shape
    s = s if s is None else tuple(_int(name, n, "s") for n in (s if isinstance(s, (tuple, list)) else [s]))
    if dim is None:
        if s is not None and len(s) > ndim:
            raise RuntimeError(f"{name}(): Got shape with {len(s)} values but input tensor only has {ndim} dimensions.")
        many = tuple(range(ndim - (ndim if s is None else len(s)), ndim))
    else:
        many = tuple(one_dim(f"fft_{name}", d, ndim) for d in (dim if isinstance(dim, (tuple, list)) else (dim,)))
    if len(set(many)) < len(many):
        raise RuntimeError(f"{name}(): FFT dims must be unique, but got {dim}")
    if s is not None and len(s) != len(many):
        raise RuntimeError(f"{name}(): When given, dim and shape arguments must have the same length")
    return many, [shape[d] if s is None or s[i] == -1 else s[i] for i, d in enumerate(many)]


def _run(name: str, base: str, x: Any, many: tuple[int, ...], lengths: list[int], last: Any, norm: Any) -> Any:
    formula = _FORMULAS[base]
    if not many:
        if formula is not _ops.transform:
            raise RuntimeError(f"{name} must transform at least one axis")
        return to_dtype(x, dtypes.complex_partner(dtypes.of(x.array.dtype))) if not x.is_complex() else x.clone()
    if formula is _ops.real_transform and last in (None, -1):
        lengths[-1] = 2 * (lengths[-1] - 1)
    if min(lengths) < 1:
        raise RuntimeError(f"{name}(): Invalid number of data points ({min(lengths)}) specified")
    if norm not in (None, "backward", "forward", "ortho"):
        raise RuntimeError(f'{name}(): Invalid normalization mode: "{norm}"')
    return formula(xp, x, tuple(lengths), many, norm or "backward", base in _FORWARD)


def _one(base: str) -> Transform:
    def call(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
        x = _numbers(base, input, base in ("rfft", "ihfft"))
        if not x.array.ndim:
            raise IndexError(f"{base}(): Dimension specified as {dim} but tensor has no dimensions")
        many = (one_dim(f"fft_{base}", dim, x.array.ndim),)
        return _run(base, base, x, many, [x.array.shape[many[0]] if n is None else _int(base, n, "n")], n, norm)

    return _named(call, base)


def _several(base: str, end: str) -> Transforms:
    name = base + end

    def call(input: Tensor, s: Sequence[int] | None = None, dim: Dims = None, norm: str | None = None) -> Tensor:
        x = _numbers(name, input, base in ("rfft", "ihfft"))
        many, lengths = _dims(name, x, s, dim)
        last = None if s is None else (s[-1] if isinstance(s, (tuple, list)) else s)
        return _run(name, base, x, many, lengths, last, norm)

    def call2(input: Tensor, s: Sequence[int] | None = None, dim: Dims = (-2, -1), norm: str | None = None) -> Tensor:
        return call(input, s, dim, norm)

    return _named(call2 if end == "2" else call, name)


def _named(call: Any, name: str) -> Any:
    call.__name__ = call.__qualname__ = name
    return numpy_names(call)


fft, ifft, rfft, irfft, hfft, ihfft = map(_one, _BASES)
fft2, ifft2, rfft2, irfft2, hfft2, ihfft2 = (_several(base, "2") for base in _BASES)
fftn, ifftn, rfftn, irfftn, hfftn, ihfftn = (_several(base, "n") for base in _BASES)


def _frequencies(name: str) -> Frequencies:
    def call(n: int, d: float = 1.0, *, dtype: DType = None, device: DeviceLike = None,
             requires_grad: bool = False, **memory: Unpack[Memory]) -> Tensor:  # fmt: skip
        if memory:
            strided_only(call, memory)
        of = dtypes.default() if dtype is None else dtypes.of(dtype)
        n, d = whole(name, "n", n), number(name, "d", d)
        if of.category < dtypes.FLOAT:
            raise RuntimeError(f"{name} requires a floating point or complex dtype, but got {of}")
        if n < 0:
            raise RuntimeError(f"{name}(): Trying to create tensor with negative dimension {n}: [{n}]")
        k = np.arange(n // 2 + 1 if name == "rfftfreq" else n)
        k = k if name == "rfftfreq" else np.where(k < (n + 1) // 2, k, k - n)
        out = np.asarray(k * (1.0 / (n * d)) if n * d else k * np.float64(np.inf)).astype(of.dtype)
        out = wrap(place(chosen(device)).hold(out))
        return out.requires_grad_() if requires_grad else out

    return _named(call, name)


fftfreq, rfftfreq = _frequencies("fftfreq"), _frequencies("rfftfreq")


def _shift(name: str, sign: int) -> Shift:
    def call(input: Tensor, dim: Dims = None) -> Tensor:
        x = tensor_arg(f"fft_{name}", input)
        given = range(x.array.ndim) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,)
        many = [one_dim(f"fft_{name}", d, x.array.ndim) for d in given]
        half = [x.array.shape[d] // 2 for d in many]
        return roll(x, [sign * h for h in half], many) if many else x.clone()

    return _named(call, name)


fftshift, ifftshift = _shift("fftshift", 1), _shift("ifftshift", -1)


document(globals(), "fft")
