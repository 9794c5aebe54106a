"""What is declared for type checkers is what there is: functions by their names, parameters, fields of results."""

import importlib
import inspect
import typing
from types import SimpleNamespace

import pytest

import gradwright as gw
from gradwright import autograd, fft, func, linalg, masked, nn, optim, special
from gradwright.nn import functional as F
from gradwright.utils import data

_typing = importlib.import_module("gradwright.face.typing")  # not gradwright's attribute, which is Python's typing


NAMES = {name: getattr(_typing, name) for name in _typing.__all__}
NAMES |= {"Unpack": typing.Unpack, "TypeIs": typing.TypeGuard}
SPACES = (gw, nn, nn.functional, nn.init, optim, autograd, func, linalg, fft, special, masked, data)


def public(space):
    return [name for name in getattr(space, "__all__", dir(space)) if name[0] != "_"]


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.__name__)
def test_annotations_can_be_read(space):
    read = 0
    for name in public(space):
        function = inspect.unwrap(getattr(space, name))
        if inspect.isfunction(function):
            scope = {**vars(inspect.getmodule(function)), **NAMES}
            read += bool(typing.get_type_hints(function, scope))
    assert read or space in (fft, nn, optim)  # which hold classes, and functions that are made


def test_none_is_a_word_of_those_that_may_be_left_out():
    for name in ("Dims", "DType", "DeviceLike"):
        assert type(None) in typing.get_args(NAMES[name])


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
    expected = parameters(getattr(_typing, kind).__call__, ["self"])
    for function in MADE[kind]:
        found = parameters(function)
        assert found == expected, function.__name__


POOLING = {
    "MaxPool": F.max_pool2d, "AvgPool": F.avg_pool2d, "LPPool": F.lp_pool2d, "AdaptiveAvgPool": F.adaptive_avg_pool2d,
    "AdaptiveMaxPool": F.adaptive_max_pool2d, "FractionalMaxPool": F.fractional_max_pool2d,
    "MaxUnpool": F.max_unpool2d,
}  # fmt: skip


@pytest.mark.parametrize("kind", POOLING)
def test_parameters_of_pooling(kind):
    protocol = getattr(_typing, kind)
    call = SimpleNamespace(__module__=protocol.__module__, __qualname__=f"{kind}.__call__")
    for declared in typing.get_overloads(call) or [protocol.__call__]:
        expected = [p for p in inspect.signature(declared).parameters.values() if p.name != "self"]
        found = inspect.signature(POOLING[kind]).parameters
        assert [p.name for p in expected] == [*found]
        for p in expected:
            without_default = p.default is inspect.Parameter.empty and p.name != "return_indices"
            assert without_default == (found[p.name].default is inspect.Parameter.empty)


A = gw.tensor([[4.0, 1.0], [1.0, 3.0]])
LU, PIVOTS = gw.linalg.lu_factor(A)
RETURNED = {
    "ATau": gw.geqrf(A), "CholeskyInfo": gw.linalg.cholesky_ex(A), "Eigen": gw.linalg.eigh(A),
    "Histogram": gw.histogram(A, 2), "HistogramDD": gw.histogramdd(A, [2, 2]), "InverseInfo": gw.linalg.inv_ex(A),
    "LDLFactor": gw.linalg.ldl_factor(A), "LDLFactorInfo": gw.linalg.ldl_factor_ex(A),
    "LUFactor": gw.linalg.lu_factor(A), "LUFactorInfo": gw.linalg.lu_factor_ex(A),
    "LeastSquares": gw.linalg.lstsq(A, A), "MantissaExponent": gw.frexp(A), "MinMax": gw.aminmax(A),
    "PLU": gw.linalg.lu(A), "QR": gw.linalg.qr(A), "ResultInfo": gw.linalg.solve_ex(A, A),
    "SignLogDet": gw.slogdet(A), "Triangular": gw.triangular_solve(A, A), "USV": gw.svd(A),
    "USVh": gw.linalg.svd(A), "ValuesIndices": gw.sort(A),
}  # fmt: skip


@pytest.mark.parametrize(
    "name",
    sorted(
        name for name, kind in vars(_typing).items() if hasattr(kind, "_fields") and kind.__module__ == _typing.__name__
    ),
)
def test_fields_are_those_of_what_is_returned(name):
    assert getattr(_typing, name)._fields == RETURNED[name]._fields
