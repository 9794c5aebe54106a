"""Discrete Fourier transforms: y[k] = c sum_j x[j] e**(-2 pi i j k / n), inverse ones with the sign turned.

``norm`` names the factor c. Forward it is 1 ("backward"), 1/n ("forward") or 1/sqrt(n) ("ortho"), inverse the other
way round. The matrix F of the transform is symmetric, so the adjoint, which takes cotangents back, is the transform in
the other direction with the same factor.
"""

from __future__ import annotations

from gradwright.ops.complex import is_complex
from gradwright.ops.declare import A, Sample, builtin

_ADJOINT = {"backward": "forward", "forward": "backward", "ortho": "ortho"}
_DIRECTIONS = [{"norm": norm, "forward": forward} for norm, forward in (("backward", True), ("ortho", False))]
_ONE, _TWO = (1,), (0, 1)


@builtin(
    kind="linear",
    node="FftC2CBackward0",
    samples=[Sample(A(3, 4, complex=True), axes=axes, **d) for axes in (_ONE, _TWO) for d in _DIRECTIONS],
)
def fft_c2c(xp, x, *, axes, norm, forward):
    """Transform of complex numbers over ``axes``."""
    return _transformed(xp, x, "fft" if forward else "ifft", axes, norm)


def _transformed(xp, x, name, axes, norm):
    """By the array library's function for one axis, which is quicker, or for several."""
    if len(axes) == 1:
        return getattr(xp.fft, name)(x, axis=axes[0], norm=norm)
    return getattr(xp.fft, name + "n")(x, axes=axes, norm=norm)


fft_c2c.vjp(
    x=lambda xp, g, axes, norm, forward: fft_c2c(g, axes=axes, norm=_ADJOINT[norm], forward=not forward),
)


def _r2c_samples(**static):
    return [Sample(A(3, n), axes=axes, **static) for n, axes in ((4, _ONE), (5, _ONE), (4, _TWO))]


@builtin(node="FftR2CBackward0", samples=[s for d in _DIRECTIONS for s in _r2c_samples(**d)])
def fft_r2c(xp, x, *, axes, norm, forward):
    """Transform of real numbers over ``axes``, as many complex ones."""
    x = xp.astype(x, xp.result_type(x, xp.complex64))
    return _transformed(xp, x, "fft" if forward else "ifft", axes, norm)


fft_r2c.vjp(
    x=lambda xp, g, axes, norm, forward: xp.real(fft_c2c(g, axes=axes, norm=_ADJOINT[norm], forward=not forward)),
)


@builtin(node="FftR2CBackward0", samples=_r2c_samples(norm="backward") + _r2c_samples(norm="ortho"))
def fft_r2h(xp, x, *, axes, norm):
    """Transform of real numbers over ``axes``, without the redundant half: n // 2 + 1 entries on the last of them."""
    return _transformed(xp, x, "rfft", axes, norm)


@builtin(
    kind="linear",
    node="FftC2RBackward0",
    samples=[
        Sample(A(3, 3, complex=True), axes=axes, n=n, norm=norm)
        for n, axes, norm in ((4, _ONE, "backward"), (5, _ONE, "ortho"), (4, _TWO, "forward"))
    ],
)
def fft_h2r(xp, x, *, axes, n, norm):
    """Inverse of `fft_r2h`: x holds n // 2 + 1 entries on the last of ``axes``, of which the result has n."""
    if len(axes) == 1:
        return xp.fft.irfft(x, n=n, axis=axes[0], norm=norm)
    sizes = (*(x.shape[i] for i in axes[:-1]), n)
    return xp.fft.irfftn(x, s=sizes, axes=axes, norm=norm)


def _inner_times(xp, x, factor, axis, n):
    """Half a spectrum with the entries that stand for two of the n, those inside, multiplied."""
    lengths = (1, (n - 1) // 2, 1 - n % 2)  # the first entry, those inside, the last one if n is even
    weights = [c * xp.ones_like(x, shape=(k,)) for k, c in zip(lengths, (1, factor, 1), strict=True)]
    return x * xp.reshape(xp.concat(weights), (-1,) + (1,) * (x.ndim - axis - 1))


def _r2h_slope(xp, g, x_shape, axes, norm):
    n = x_shape[axes[-1]]
    return fft_h2r(_inner_times(xp, g, 0.5, axes[-1], n), axes=axes, n=n, norm=_ADJOINT[norm])


fft_r2h.vjp(x=_r2h_slope)
fft_h2r.vjp(
    x=lambda xp, g, axes, n, norm: _inner_times(xp, fft_r2h(g, axes=axes, norm=_ADJOINT[norm]), 2.0, axes[-1], n),
)


# The transforms as the array API and PyTorch have them, composed of these; ``sizes`` are the lengths of ``axes``.


def resized(xp, x, sizes, axes):
    """x cut off, or filled up with zeros, to ``sizes`` along ``axes``."""
    for n, axis in zip(sizes, axes, strict=True):
        have = x.shape[axis]
        if n < have:
            x = x[(slice(None),) * axis + (slice(n), ...)]
        elif n > have:
            gap = tuple(n - have if i == axis else m for i, m in enumerate(x.shape))
            x = xp.concat([x, xp.zeros_like(x, shape=gap)], axis=axis)
    return x


def transform(xp, x, sizes, axes, norm, forward):
    """Complex to complex; real x counts as complex."""
    op = fft_c2c if is_complex(xp, x) else fft_r2c
    return op(resized(xp, x, sizes, axes), axes=axes, norm=norm, forward=forward)


def half_transform(xp, x, sizes, axes, norm, forward):
    """Real to half a spectrum (rfft); inverse, its conjugate (ihfft)."""
    x = resized(xp, x, sizes, axes)
    return fft_r2h(x, axes=axes, norm=norm) if forward else xp.conj(fft_r2h(x, axes=axes, norm=_ADJOINT[norm]))


def real_transform(xp, x, sizes, axes, norm, forward):
    """Half a spectrum to real (irfft); forward, that of the conjugate (hfft). Real x counts as complex."""
    x = resized(xp, x, (*sizes[:-1], sizes[-1] // 2 + 1), axes)
    if forward:
        x, norm = xp.conj(x), _ADJOINT[norm]
    if not is_complex(xp, x):
        x = xp.astype(x, xp.result_type(x, xp.complex64))
    return fft_h2r(x, axes=axes, n=sizes[-1], norm=norm)


def shifted(xp, x, axes, sign):
    """x with index 0 moved to the middle of each axis (sign 1), or back (sign -1)."""
    return xp.roll(x, tuple(x.shape[i] // 2 if sign > 0 else -(x.shape[i] // 2) for i in axes), axis=axes)
