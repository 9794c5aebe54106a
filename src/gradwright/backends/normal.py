"""The normal distribution function in NumPy: faster than SciPy's in float32, and there without it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwright.backends.chunks import horner, in_chunks

# Chebyshev interpolants, written as polynomials in t = (c - a)/(c + a), of exp(a**2/2) (a + c) Phi(-a) for a >= 0.
_C, _FAR = 3.5, 40.0  # Phi(-40) is 0 in float64
_SINGLE = (
    0.74441597, 0.565561834, 0.31543004, 0.116050017, 0.0173665752, -0.00646868091, -0.0030691618, 0.000422316605,
    0.000327799301, -3.66408793e-05,
)  # fmt: skip
_DOUBLE = (
    0.7444160754359381, 0.5655618160537756, 0.3154249698879487, 0.11605092871437102, 0.017407832602389744,
    -0.006476218927643261, -0.0031891010571184087, 0.00044501304648164553, 0.00047665720479395985,
    -6.703390538930291e-05, -7.55853189865464e-05, 1.8791813939775615e-05, 1.1509173211516434e-05,
    -5.660153226983406e-06, -1.1711918205883623e-06, 1.494691663262839e-06, -1.3372048540090635e-07,
    -3.1382974572407185e-07, 1.149168552174176e-07, 4.56663175592812e-08, -3.153671572603387e-08,
    -3.3712599699778165e-09, 3.804705887649613e-09,
)  # fmt: skip


@in_chunks
def ndtr(x: Any) -> Any:
    """The share of the standard normal distribution that lies below x, without cancellation where that is small.

    Its relative error is below 1e-6 in float32 and 3e-15 in float64, wherever the share is above 1e-8.
    """
    a = np.minimum(np.abs(x), np.asarray(_FAR, x.dtype))
    r = np.asarray(a + _C)
    np.divide(1, r, out=r)
    t = np.asarray(_C - a)
    t *= r
    p = np.asarray(horner(t, _DOUBLE if x.dtype == np.float64 else _SINGLE))
    p *= r
    np.multiply(a, a, out=t)
    t *= -0.5
    np.exp(t, out=t)
    p *= t
    return np.abs((x >= 0) - p)
