"""Fourier transforms of balls: NumPy's values, call by call."""

from __future__ import annotations

import numpy as np
import pytest

from gradwright.verify.proof import fourier
from gradwright.verify.proof.balls import balls
from gradwright.verify.proof.library import working
from tests.verify.proof.test_balls import middles

X = np.random.default_rng(0).normal(size=(3, 4, 5))
Z = X + 1j * np.random.default_rng(1).normal(size=(3, 4, 5))


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize(("name", "x", "options"), [
    ("fft", Z, {"axis": 1}), ("ifft", Z, {"axis": -1}), ("rfft", X, {"axis": 1}), ("rfft", X, {"axis": 2}),
    ("irfft", Z, {"axis": 2, "n": 8}), ("irfft", Z, {"axis": 2, "n": 9}),
    ("fftn", Z, {"axes": (0, 2)}), ("ifftn", Z, {"axes": (0, 1)}), ("rfftn", X, {"axes": (0, 2)}),
    ("irfftn", Z, {"axes": (1, 2), "s": (4, 8)}),
])  # fmt: skip
def test_values_are_numpys(name, x, options, norm):
    with working(bits=120):
        found = getattr(fourier, name)(balls(x), **options, norm=norm)
        wanted = getattr(np.fft, name)(x, **options, norm=norm)
        complex_ = [(found.real, wanted.real), (found.imag, wanted.imag)]
        for a, b in complex_ if wanted.dtype.kind == "c" else [(found, wanted)]:
            np.testing.assert_allclose(middles(a), b, rtol=1e-12, atol=1e-12)
