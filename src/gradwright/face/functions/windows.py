"""Window functions: n weights that taper a stretch of a signal towards its ends.

A symmetric window of n points has sample points k = 0 ... m - 1 with m = n. A periodic one, which continues smoothly
when repeated, is the symmetric one of m = n + 1 points without its last. A window of one point is 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwright.backends.devices import chosen, place
from gradwright.backends.numpy import namespace as xp
from gradwright.base import dtypes
from gradwright.engine.base import wrap
from gradwright.engine.numbers import number, whole
from gradwright.face.functions.memory_options import strided_only

if TYPE_CHECKING:
    from gradwright.face.typing import Window

__all__ = ["bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"]


def made(n: int, periodic: bool, formula: Callable[[Any, int], Any], dtype: Any, device: Any,
         requires_grad: bool) -> Any:  # fmt: skip
    """The window of ``n`` points whose weights are ``formula(k, m)``, as a tensor."""
    d = dtypes.default() if dtype is None else dtypes.of(dtype)
    n = whole("window", "window_length", n)
    weights = formula(xp.arange(n, dtype=float), n + (periodic and n > 1)) if n != 1 else xp.ones(1)
    out = wrap(place(chosen(device)).hold(xp.astype(weights, d.dtype)))
    return out.requires_grad_() if requires_grad else out


def cosines(*coefficients: float) -> Callable[[Any, int], Any]:
    """sum_i (-1)**i a_i cos(2 pi i k / (m - 1))."""
    weights = [(-1) ** i * number("general_cosine", "a", a) for i, a in enumerate(coefficients)]

    def formula(k: Any, m: int) -> Any:
        terms = [a * xp.cos(2 * math.pi * i * k / (m - 1)) for i, a in enumerate(weights)]
        return xp.sum(xp.stack(terms), axis=0)

    return formula


def bartlett(k: Any, m: int) -> Any:
    """A triangle, 1 - |2 k / (m - 1) - 1|."""
    return 1 - xp.abs(2 * k / (m - 1) - 1)


def kaiser(beta: float) -> Callable[[Any, int], Any]:
    """I0(beta sqrt(1 - (2 k / (m - 1) - 1)**2)) / I0(beta), with I0 the modified Bessel function of order 0."""
    beta, i0 = number("kaiser", "beta", beta), xp.i0
    return lambda k, m: i0(beta * xp.sqrt(xp.maximum(1 - (2 * k / (m - 1) - 1) ** 2, 0))) / i0(beta)


def _window(name: str, formula: Callable[..., Any], about: str, **defaults: float) -> Window:
    """A function ``name(window_length, periodic=True, <its parameters>, *, dtype, device, requires_grad)``."""

    def call(window_length: int, periodic: bool = True, *parameters: float, dtype: Any = None, layout: Any = None,
             device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
             **named: float) -> Any:  # fmt: skip
        strided_only(call, {"layout": layout, "pin_memory": pin_memory})
        if window_length < 0:
            raise RuntimeError(f"{name} requires non-negative window_length, got window_length={window_length}")
        if dtype is not None and not dtypes.of(dtype).is_floating_point:
            raise RuntimeError(f"{name} expects floating point dtypes, got: {dtypes.of(dtype)}")
        given = dict(zip(defaults, parameters, strict=False)) | named
        if len(parameters) > len(defaults) or not given.keys() <= defaults.keys():
            known = ", ".join(["window_length", "periodic", *defaults])
            raise TypeError(f"{name}() takes {known}, but got also {parameters or named}")
        weights = formula(*(defaults | given).values())
        return made(window_length, periodic, weights, dtype, device, requires_grad)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = about
    return call


bartlett_window = _window("bartlett_window", lambda: bartlett, bartlett.__doc__ or "")
blackman_window = _window("blackman_window", lambda: cosines(0.42, 0.5, 0.08),
                          "0.42 - 0.5 cos(2 pi k / (m - 1)) + 0.08 cos(4 pi k / (m - 1)).")  # fmt: skip
hann_window = _window("hann_window", lambda: cosines(0.5, 0.5), "0.5 - 0.5 cos(2 pi k / (m - 1)).")
hamming_window = _window("hamming_window", cosines, "Alpha - beta cos(2 pi k / (m - 1)).", alpha=0.54, beta=0.46)
kaiser_window = _window("kaiser_window", kaiser, kaiser.__doc__ or "", beta=12.0)
