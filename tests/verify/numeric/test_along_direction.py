"""Slopes along a direction: within their error bars of the truth."""

import numpy as np
import pytest

import gradwright
from gradwright.verify.numeric.along_direction import slope_along
from gradwright.verify.numeric.jacobian import Subject

X, U, V = (np.random.default_rng(k).uniform(0.3, 1.9, 5) for k in range(3))


def leaf(values, dtype="float64"):
    return gradwright.tensor(values, dtype=getattr(gradwright, dtype), requires_grad=True)


@pytest.mark.parametrize("levels", [3, 8])
@pytest.mark.parametrize(("f", "derivative"), [
    (lambda x: x.exp(), np.exp), (lambda x: x.log(), lambda x: 1 / x), (lambda x: x**3, lambda x: 3 * x**2),
])  # fmt: skip
def test_it_is_the_derivative(f, derivative, levels):
    x = leaf(X)
    found = slope_along(Subject(f, x), [U], [V], levels)
    assert abs(found.value - V @ (derivative(X) * U)) <= found.bar < 1e-6
    assert abs(found.last - found.value) < 1e-4
    assert not found.bent
    assert x.tolist() == X.tolist()


def test_of_several_inputs_and_outputs_some_of_them_complex():
    x, z = leaf(X), leaf(X + 1j, "complex128")
    found = slope_along(Subject(lambda x, z: (x * x, z * z), (x, z)), [U, np.concatenate((U, -U))], [V, V * 1j])
    due = V @ (2 * X * U) + (np.conj(V * 1j) @ (2 * (X + 1j) * (U - 1j * U))).real
    assert found.value == pytest.approx(due, abs=found.bar)


def test_a_kink_is_seen():
    assert slope_along(Subject(lambda x: x.abs(), leaf(np.zeros(5))), [U], [V]).bent
