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
from gradwright.base.later import later
from gradwright.engine.base import wrap
from gradwright.engine.numbers import number
from gradwright.face import xp
from gradwright.face.functions.memory_options import strided_only
from gradwright.face.functions.rearrange import roll
from gradwright.face.reading.torch import numpy_names, one_dim, tensor_arg, to_dtype
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

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(__name__)


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
fft.__doc__ = """\
y[k] = sum_j x[j] e**(-2 pi i j k / n) along ``dim``.

Args:
    input: (..., m, ...), real or complex; of whole numbers it becomes the default dtype.
    n: how many entries are transformed: ``dim`` is cut off, or filled up with zeros; m if None.
    dim: the dim to transform.
    norm: "backward" or None: as above; "forward": divided by n; "ortho": by sqrt(n).

The result is complex, with n entries along ``dim``. It is linear: its derivative is the transform the other way.

Raises:
    RuntimeError: n < 1, another ``norm``, half precision.
    IndexError: there is no such ``dim``.
    TypeError: ``input`` is no tensor, or n no whole number.

>>> import gradwright as gw
>>> gw.fft.fft(gw.tensor([1.0, 0.0, -1.0, 0.0])).real
tensor([0., 2., 0., 2.])
"""
ifft.__doc__ = """\
x[j] = (1/n) sum_k y[k] e**(2 pi i j k / n) along ``dim``: the inverse of `fft`.

Arguments and errors are those of `fft`.

``norm``: "backward" or None has the factor 1/n, "forward" none, "ortho" 1/sqrt(n).

>>> import gradwright as gw
>>> gw.fft.ifft(gw.fft.fft(gw.tensor([1.0, 2.0, 3.0]))).real.round(decimals=4)
tensor([1., 2., 3.])
"""
rfft.__doc__ = """\
`fft` of real ``input``: entries 0 to n // 2 of it, from which the others follow as conjugates.

Arguments as `fft`'s. Raises RuntimeError for complex ``input``, and as `fft` does.

>>> import gradwright as gw
>>> gw.fft.rfft(gw.tensor([1.0, 0.0, -1.0, 0.0])).real
tensor([0., 2., 0.])
"""
irfft.__doc__ = """\
Inverse of `rfft`: real, of n entries, by default 2 (m - 1) of m; an odd length has to be named.

The imaginary part of entry 0, and of entry n/2 if n is even, is not read and has gradient 0. Arguments and errors are
those of `ifft`.

>>> import gradwright as gw
>>> gw.fft.irfft(gw.fft.rfft(gw.tensor([1.0, 2.0, 3.0])), n=3).round(decimals=4)
tensor([1., 2., 3.])
"""
hfft.__doc__ = """\
`fft` of a Hermitian signal, x[-j] = conj x[j], from its first half: real.

Of m entries it makes n, by default 2 (m - 1).

Arguments and errors are those of `fft`.

>>> import gradwright as gw
>>> gw.fft.hfft(gw.tensor([1.0, 1.0, 1.0]))
tensor([4., 0., 0., 0.])
"""
ihfft.__doc__ = """\
Inverse of `hfft`: the first n // 2 + 1 entries of a Hermitian signal from its real spectrum ``input``.

Arguments as `ifft`'s. Raises RuntimeError for complex ``input``, and as `fft` does.

>>> import gradwright as gw
>>> gw.fft.ihfft(gw.tensor([4.0, 0.0, 0.0, 0.0])).real
tensor([1., 1., 1.])
"""
fft2, ifft2, rfft2, irfft2, hfft2, ihfft2 = (_several(base, "2") for base in _BASES)
fft2.__doc__ = """\
`fft` over two dims, one after the other: `fftn` of ``dim``, by default the last two.

>>> import gradwright as gw
>>> gw.fft.fft2(gw.ones(2, 2)).real
tensor([[4., 0.],
        [0., 0.]])
"""
ifft2.__doc__ = """\
`ifft` over two dims: `ifftn` of ``dim``, by default the last two; the inverse of `fft2`.

>>> import gradwright as gw
>>> gw.fft.ifft2(gw.ones(2, 2)).real
tensor([[1., 0.],
        [0., 0.]])
"""
rfft2.__doc__ = """\
`rfft` over two dims: `rfftn` of ``dim``, by default the last two.

>>> import gradwright as gw
>>> gw.fft.rfft2(gw.ones(4, 4)).shape
torch.Size([4, 3])
"""
irfft2.__doc__ = """\
`irfft` over two dims: `irfftn` of ``dim``, by default the last two; the inverse of `rfft2`.

>>> import gradwright as gw
>>> gw.fft.irfft2(gw.fft.rfft2(gw.ones(2, 4)))
tensor([[1., 1., 1., 1.],
        [1., 1., 1., 1.]])
"""
hfft2.__doc__ = """\
`hfft` over two dims: `hfftn` of ``dim``, by default the last two.

>>> import gradwright as gw
>>> gw.fft.hfft2(gw.ones(2, 3)).shape
torch.Size([2, 4])
"""
ihfft2.__doc__ = """\
`ihfft` over two dims: `ihfftn` of ``dim``, by default the last two; the inverse of `hfft2`.

>>> import gradwright as gw
>>> gw.fft.ihfft2(gw.ones(2, 4)).shape
torch.Size([2, 3])
"""
fftn, ifftn, rfftn, irfftn, hfftn, ihfftn = (_several(base, "n") for base in _BASES)
fftn.__doc__ = """\
`fft` over several dims, one after the other.

Args:
    input: real or complex; of whole numbers it becomes the default dtype.
    s: a length for each dim, cut or filled up as `fft`'s n; -1 keeps it. Without ``dim`` it is of the last dims.
    dim: the dims; all, or the last len(s), if None.
    norm: as `fft`'s, of the product of the lengths.

Raises RuntimeError for a length below 1, a dim twice, ``s`` and ``dim`` of different lengths, another ``norm``, half
precision; IndexError if there is no such dim.

>>> import gradwright as gw
>>> gw.fft.fftn(gw.ones(2, 2, 2)).abs().sum()
tensor(8.)
"""
ifftn.__doc__ = """\
`ifft` over several dims: the inverse of `fftn`, whose arguments and errors it has.

>>> import gradwright as gw
>>> gw.fft.ifftn(gw.fft.fftn(gw.ones(2, 2))).real
tensor([[1., 1.],
        [1., 1.]])
"""
rfftn.__doc__ = """\
`fftn` of real ``input``: of the last of ``dim`` the first n // 2 + 1 entries.

Arguments as `fftn`'s. Raises RuntimeError for complex ``input``, no dims at all, and as `fftn` does.

>>> import gradwright as gw
>>> gw.fft.rfftn(gw.ones(3, 4)).shape
torch.Size([3, 3])
"""
irfftn.__doc__ = """\
Inverse of `rfftn`: real, of 2 (m - 1) entries in the last of ``dim`` unless ``s`` says otherwise.

Arguments and errors are those of `fftn`.

>>> import gradwright as gw
>>> gw.fft.irfftn(gw.fft.rfftn(gw.ones(2, 3)), s=(2, 3)).round(decimals=4)
tensor([[1., 1., 1.],
        [1., 1., 1.]])
"""
hfftn.__doc__ = """\
`hfft` over the last of ``dim``, `fft` over the others: real.

Arguments as `fftn`'s; the last length as `irfftn`'s.

>>> import gradwright as gw
>>> gw.fft.hfftn(gw.ones(2, 3)).shape
torch.Size([2, 4])
"""
ihfftn.__doc__ = """\
Inverse of `hfftn`: complex, of n // 2 + 1 entries in the last of ``dim``, from real ``input``.

Arguments and errors are those of `fftn`.

>>> import gradwright as gw
>>> gw.fft.ihfftn(gw.ones(2, 4)).shape
torch.Size([2, 3])
"""


def _frequencies(name: str) -> Frequencies:
    def call(n: int, d: float = 1.0, *, dtype: DType = None, device: DeviceLike = None,
             requires_grad: bool = False, **memory: Unpack[Memory]) -> Tensor:  # fmt: skip
        if memory:
            strided_only(call, memory)
        of = dtypes.default() if dtype is None else dtypes.of(dtype)
        n, d = number(name, "n", n), number(name, "d", d)
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
fftfreq.__doc__ = """\
The frequencies of `fft` of ``n`` entries ``d`` apart, in cycles per unit of d.

They are 0, 1, ..., -2, -1, each by n d.

Raises RuntimeError for a negative n, or a dtype of whole numbers. Infinite or NaN where n d is 0.

>>> import gradwright as gw
>>> gw.fft.fftfreq(4, d=0.5)
tensor([ 0.0000,  0.5000, -1.0000, -0.5000])
"""
rfftfreq.__doc__ = """\
The frequencies of `rfft` of ``n`` entries ``d`` apart, in cycles per unit of d.

They are 0, 1, ..., n // 2, each by n d.

Raises RuntimeError for a negative n, or a dtype of whole numbers.

>>> import gradwright as gw
>>> gw.fft.rfftfreq(4, d=0.5)
tensor([0.0000, 0.5000, 1.0000])
"""


def _shift(name: str, sign: int) -> Shift:
    def call(input: Tensor, dim: Dims = None) -> Tensor:
        x = tensor_arg(f"fft_{name}", input)
        given = range(x.array.ndim) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,)
        many = [one_dim(f"fft_{name}", d, x.array.ndim) for d in given]
        half = [x.array.shape[d] // 2 for d in many]
        return roll(x, [sign * h for h in half], many) if many else x.clone()

    return _named(call, name)


fftshift, ifftshift = _shift("fftshift", 1), _shift("ifftshift", -1)
fftshift.__doc__ = """\
``input`` with index 0 of each of ``dim`` (all if None) moved to the middle, n // 2.

What runs over the end comes in at the start.

Raises IndexError if there is no such dim, TypeError if ``input`` is no tensor.

>>> import gradwright as gw
>>> gw.fft.fftshift(gw.fft.fftfreq(4))
tensor([-0.5000, -0.2500,  0.0000,  0.2500])
"""
ifftshift.__doc__ = """\
Inverse of `fftshift`, which differs from it for odd sizes: index n // 2 is moved to 0.

>>> import gradwright as gw
>>> gw.fft.ifftshift(gw.tensor([-1, 0, 1]))
tensor([ 0,  1, -1])
"""
