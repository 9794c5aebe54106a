"""The kinds of functions in annotations have the parameters of the functions that are made so."""

import inspect

import pytest

import gradwright as gw
from gradwright import fft, masked, special
from gradwright.face.typing import functions as kinds

MADE = {
    "Unary": [gw.exp, gw.erf, gw.isnan, special.bessel_j0], "Binary": [gw.mul, gw.maximum, gw.igamma, gw.gcd],
    "Polynomial": [special.hermite_polynomial_h, special.chebyshev_polynomial_t], "Transform": [fft.fft, fft.irfft],
    "Transforms": [fft.fft2, fft.rfftn], "Frequencies": [fft.fftfreq], "Shift": [fft.fftshift],
    "TriangleIndices": [gw.tril_indices], "Stacking": [gw.hstack, gw.column_stack], "Window": [gw.hann_window],
    "MaskedReduction": [masked.sum, masked.amax], "MaskedScan": [masked.cumsum, masked.softmax],
}  # fmt: skip


def parameters(function, drop=()):
    return [(p.name, p.kind) for p in inspect.signature(function).parameters.values() if p.name not in drop]


@pytest.mark.parametrize("kind", MADE)
def test_parameters_are_those_of_the_functions(kind):
    expected = parameters(getattr(kinds, kind).__call__, ["self"])
    for function in MADE[kind]:
        found = parameters(function)
        assert found == expected, function.__name__
