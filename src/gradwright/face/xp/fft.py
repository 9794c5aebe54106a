"""The Fourier-transform extension. ``norm`` is "backward" (1/n on inverse transforms), "forward" or "ortho"."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright import backends
from gradwright.backends.devices import place
from gradwright.base import dtypes
from gradwright.engine.base import wrap
from gradwright.face.reading.standard import axes as _axes
from gradwright.face.reading.standard import one_axis, tensor
from gradwright.ops import fft as _fft

if TYPE_CHECKING:
    from gradwright.face.typing import AlongAxis, AxisFrequencies, AxisShift, OverAxes

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn", "rfft",
    "rfftfreq", "rfftn",
]  # fmt: skip

_NORMS = ("backward", "ortho", "forward")


def _checked(name: str, x: Any, sizes: Any, norm: str) -> Any:
    if dtypes.of(tensor(name, x).array.dtype).category < dtypes.FLOAT:
        raise TypeError(f"{name}(): expected floating-point numbers, but got {dtypes.of(x.array.dtype)}")
    if norm not in _NORMS:
        raise ValueError(f"{name}(): norm must be one of {', '.join(_NORMS)}, but got {norm!r}")
    if min(sizes, default=1) < 1:
        raise ValueError(f"{name}(): expected at least 1 entry to transform, but got {min(sizes)}")
    return backends.namespace(x)


def _one(name: str, formula: Callable[..., Any], forward: bool, about: str) -> AlongAxis:
    halved = formula is _fft.real_transform

    def call(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
        axis = one_axis(name, axis, tensor(name, x).array.ndim)
        if n is None:
            n = x.array.shape[axis]
            n = 2 * (n - 1) if halved else n
        xp = _checked(name, x, (n,), norm)
        return formula(xp, x, (n,), (axis,), norm, forward)

    return _named(call, name, f"{about} along ``axis``, of the entries cut or filled up with zeros to ``n``.")


def _several(name: str, formula: Callable[..., Any], forward: bool, about: str) -> OverAxes:
    halved = formula is _fft.real_transform

    def call(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
        shape = tensor(name, x).array.shape
        if axes is None:
            axes = range(len(shape)) if s is None else range(len(shape) - len(s), len(shape))
        over = _axes(name, tuple(axes), len(shape)) or ()
        sizes = [shape[i] for i in over]
        if s is None and halved:
            sizes[-1] = 2 * (sizes[-1] - 1)
        if s is not None:
            if len(s) != len(over):
                raise ValueError(f"{name}(): {len(s)} sizes do not fit {len(over)} axes")
            sizes = [have if n in (None, -1) else n for n, have in zip(s, sizes, strict=True)]
        xp = _checked(name, x, sizes, norm)
        return formula(xp, x, tuple(sizes), over, norm, forward)

    return _named(call, name, f"{about} over ``axes``, of the entries cut or filled up with zeros to ``s``.")


def _named(call: Any, name: str, doc: str) -> Any:
    call.__name__ = call.__qualname__ = name
    call.__doc__ = doc
    return call


_complex, _half, _real = _fft.transform, _fft.half_transform, _fft.real_transform
fft = _one("fft", _complex, True, "Transform")
ifft = _one("ifft", _complex, False, "Inverse transform")
rfft = _one("rfft", _half, True, "Transform of real numbers, without the redundant half,")
irfft = _one("irfft", _real, False, "Inverse of `rfft`, with ``n`` real results,")
hfft = _one("hfft", _real, True, "Transform of half a Hermitian signal, with ``n`` real results,")
ihfft = _one("ihfft", _half, False, "Inverse of `hfft`")
fftn = _several("fftn", _complex, True, "Transform")
ifftn = _several("ifftn", _complex, False, "Inverse transform")
rfftn = _several("rfftn", _half, True, "Transform of real numbers, without the redundant half of the last axis,")
irfftn = _several("irfftn", _real, False, "Inverse of `rfftn`")


def _frequencies(name: str) -> AxisFrequencies:
    def call(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
        of = dtypes.default() if dtype is None else dtypes.of(dtype)
        if not of.is_floating_point:
            raise ValueError(f"{name}(): dtype must be a real floating-point one, but got {of}")
        return wrap(place(device).hold(getattr(np.fft, name)(n, d).astype(of.dtype)))

    return _named(call, name, "The frequencies of a transform of ``n`` entries ``d`` apart, in cycles per unit of d.")


fftfreq, rfftfreq = _frequencies("fftfreq"), _frequencies("rfftfreq")


def _shift(name: str, sign: int, about: str) -> AxisShift:
    def call(x: Any, /, *, axes: Any = None) -> Any:
        ndim = tensor(name, x).array.ndim
        over = _axes(name, axes, ndim)
        return _fft.shifted(backends.namespace(x), x, tuple(range(ndim)) if over is None else over, sign)

    return _named(call, name, about)


fftshift = _shift("fftshift", 1, "The entries with index 0 moved to the middle of each of ``axes``.")
ifftshift = _shift("ifftshift", -1, "Inverse of `fftshift`.")
