from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import gradwright as gw
from gradwright import autograd
from gradwright.neighbours.numpy import FUNCTIONS

A = np.linspace(0.3, 1.7, 6).reshape(2, 3)


def tensor(array=A):
    return gw.tensor(array, requires_grad=True)


@pytest.mark.parametrize(
    "f",
    [
        np.sin, np.exp, np.log, np.tanh, np.sqrt, np.square, np.arctan, np.absolute, np.negative, np.expm1, np.log1p,
        np.reciprocal, np.cbrt if hasattr(gw, "cbrt") else np.cosh, np.deg2rad, scipy.special.erf, scipy.special.expit,
        scipy.special.gammaln,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_ufuncs_are_recorded(f):
    x = tensor()
    y = f(x)
    assert isinstance(y, gw.Tensor)
    np.testing.assert_allclose(y.detach().numpy(), f(A), rtol=1e-12)
    assert autograd.gradcheck(f, (x,))


@pytest.mark.parametrize(
    "f", [np.add, np.subtract, np.multiply, np.divide, np.power, np.maximum, np.hypot, np.arctan2, np.logaddexp],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_ufuncs_of_two_arguments_take_arrays_and_numbers_beside(f):
    for pair in ((tensor(), A[::-1] + 0.1), (A[0] + 1, tensor()), (tensor(), np.float64(2.5)), (tensor(), 3)):
        out = f(*pair)
        plain = [p.detach().numpy() if isinstance(p, gw.Tensor) else p for p in pair]
        np.testing.assert_allclose(out.detach().numpy(), f(*plain), rtol=1e-12)
        assert out.requires_grad


def test_arrays_on_the_left_of_operators():
    x = tensor()
    for out in (A * x, A - x, np.float64(2) / x, A @ x.T, A**x, x > A):
        assert isinstance(out, gw.Tensor)
    np.testing.assert_allclose((A @ x.T).detach().numpy(), A @ A.T)


def test_a_numpy_number_does_not_widen():
    x = gw.tensor([1.0, 2.0])
    assert (np.float64(2) * x).dtype is gw.float32
    assert np.multiply(x, np.float64(2)).dtype is gw.float32


CALLS = {
    "concatenate": lambda n, t: n.concatenate([t, A], axis=1),
    "concatenate, flat": lambda n, t: n.concatenate([t, A], axis=None),
    "stack": lambda n, t: n.stack([t, A, t]),
    "sum": lambda n, t: n.sum(t, axis=0, keepdims=True),
    "mean": lambda n, t: n.mean(t, axis=(0, 1)),
    "std": lambda n, t: n.std(t, axis=1),
    "var": lambda n, t: n.var(t, ddof=1),
    "max": lambda n, t: n.max(t, axis=1),
    "prod": lambda n, t: n.prod(t),
    "cumsum": lambda n, t: n.cumsum(t),
    "cumprod": lambda n, t: n.cumprod(t, axis=1),
    "where": lambda n, t: n.where(A > 1, t, A),
    "transpose": lambda n, t: n.transpose(t),
    "reshape": lambda n, t: n.reshape(t, (3, 2)),
    "squeeze": lambda n, t: n.squeeze(t[:1]),
    "expand_dims": lambda n, t: n.expand_dims(t, 1),
    "moveaxis": lambda n, t: n.moveaxis(t, 0, 1),
    "flip": lambda n, t: n.flip(t),
    "roll": lambda n, t: n.roll(t, 1),
    "tril": lambda n, t: n.tril(t),
    "diagonal": lambda n, t: n.diagonal(t),
    "clip": lambda n, t: n.clip(t, 0.5, 1.0),
    "round": lambda n, t: n.round(t, 1),
    "sort": lambda n, t: n.sort(t),
    "dot": lambda n, t: n.dot(t, A.T),
    "inner": lambda n, t: n.inner(t, A),
    "outer": lambda n, t: n.outer(t, A),
    "tensordot": lambda n, t: n.tensordot(t, A, axes=2),
    "kron": lambda n, t: n.kron(t, A),
    "einsum": lambda n, t: n.einsum("ij,kj->ik", t, A),
    "linalg.norm": lambda n, t: n.linalg.norm(t, axis=1),
    "linalg.inv": lambda n, t: n.linalg.inv(t[:, :2]),
    "linalg.det": lambda n, t: n.linalg.det(t[:, :2]),
    "linalg.solve": lambda n, t: n.linalg.solve(t[:, :2], A),
    "fft.fft": lambda n, t: n.abs(n.fft.fft(t)),
    "add.reduce": lambda n, t: n.add.reduce(t, axis=1),
    "multiply.accumulate": lambda n, t: n.multiply.accumulate(t, axis=1),
    "nan_to_num": lambda n, t: n.nan_to_num(t),
}


@pytest.mark.parametrize("name", CALLS)
def test_functions_are_recorded(name):
    x = tensor()
    out = CALLS[name](np, x)
    assert isinstance(out, gw.Tensor)
    np.testing.assert_allclose(out.detach().numpy(), CALLS[name](np, A), rtol=1e-12, atol=1e-12)
    assert autograd.gradcheck(lambda t: CALLS[name](np, t), (x,))


@pytest.mark.parametrize(
    "f",
    [np.interp, np.unwrap, np.histogram, np.polyfit, np.apply_along_axis, np.gradient, np.convolve],
    ids=lambda f: f.__name__,
)
def test_what_is_not_defined_is_refused_and_never_detached(f):
    x = tensor(A[0])
    with pytest.raises(TypeError, match=r"numpy\.\w+: not defined for Tensors.*detach\(\)\.numpy\(\)"):
        f(*{"interp": (x, A[0], A[0]), "polyfit": (x, A[0], 1), "apply_along_axis": (np.sum, 0, x),
            "convolve": (x, A[0])}.get(f.__name__, (x,)))  # fmt: skip
    with pytest.raises(TypeError, match="not defined for Tensors"):
        np.spacing(x)
    with pytest.raises(TypeError, match="unexpected keyword argument 'where'"):
        np.sum(x, where=A[0] > 1)


def test_results_are_not_written_into_numpy_arrays():
    with pytest.raises(TypeError, match="out= is a NumPy array"):
        np.sin(tensor(), out=np.empty((2, 3)))
    array = A.copy()
    with pytest.raises(TypeError, match="out= is a NumPy array"):
        array += tensor()
    into = gw.zeros(2, 3, dtype=gw.float64)
    assert np.sin(gw.tensor(A), out=into) is into
    np.testing.assert_allclose(into.numpy(), np.sin(A))


def test_every_entry_is_a_function_of_numpy():
    for name in FUNCTIONS:
        home = np
        for part in name.split("."):
            assert hasattr(home, part), name
            home = getattr(home, part)
