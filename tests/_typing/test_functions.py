"""The kinds of functions in annotations have the parameters of the functions that are made so."""

import inspect

import pytest

import gradwright as gw
from gradwright import fft, masked, special
from gradwright._typing import functions as kinds

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


@pytest.mark.parametrize("kind", ["Like", "RandomLike", "FullLike"])
def test_functions_like_another_take_what_is_annotated(kind):
    make = {"Like": gw.zeros_like, "RandomLike": gw.rand_like, "FullLike": gw.full_like}[kind]
    named = {n for n, k in parameters(getattr(kinds, kind).__call__) if k is inspect.Parameter.KEYWORD_ONLY}
    given = {"dtype": gw.float64, "device": "cpu", "requires_grad": True, "memory_format": gw.contiguous_format,
             "layout": None, "generator": gw.Generator()}  # fmt: skip
    rest = (2.0,) if kind == "FullLike" else ()
    made = make(gw.ones(2), *rest, **{n: given[n] for n in named - {"layout"}})
    assert made.dtype is gw.float64
    assert made.requires_grad
