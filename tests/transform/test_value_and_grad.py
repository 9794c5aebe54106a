import numpy as np
import pytest
import scipy.optimize

import gradwright as gw


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def test_value_and_gradient_are_plain_numbers():
    x = np.array([0.5, -1.0, 2.0])
    value, slope = gw.value_and_grad(rosenbrock)(x)
    assert type(value) is float
    assert type(slope) is np.ndarray
    assert value == pytest.approx(scipy.optimize.rosen(x), rel=1e-14)
    np.testing.assert_allclose(slope, scipy.optimize.rosen_der(x), rtol=1e-12)


def test_it_feeds_scipys_minimize():
    found = scipy.optimize.minimize(gw.value_and_grad(rosenbrock), np.zeros(5), jac=True, method="L-BFGS-B")
    assert found.success
    np.testing.assert_allclose(found.x, np.ones(5), atol=1e-4)


def test_several_arguments():
    f = gw.value_and_grad(lambda x, n, y: (x * y).sum() * n, argnums=(0, 2))
    value, (dx, dy) = f(np.array([1.0, 2.0]), 3, np.array([4.0, 5.0], np.float32))
    assert value == 42.0
    assert dx.tolist() == [12.0, 15.0]
    assert dy.tolist() == [3.0, 6.0]
    assert (dx.dtype, dy.dtype) == (np.float64, np.float32)


def test_no_dependence_is_a_zero_gradient_and_the_input_is_left_alone():
    x = np.array([1.0, 2.0])
    for f in (lambda x: gw.tensor(3.0), lambda x: (x.detach() * 2).sum()):
        with pytest.warns(gw.GradientWarning, match="does not depend on its arguments, or was detached"):
            assert gw.value_and_grad(f)(x)[1].tolist() == [0.0, 0.0]
    assert gw.value_and_grad(lambda x, y: (y * y).sum(), argnums=(0, 1))(x, x)[1][0].tolist() == [0.0, 0.0]
    assert x.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("f", "x", "error", "message"),
    [
        (lambda x: x, [1.0, 2.0], RuntimeError, "must return one real number, but returned a tensor of shape"),
        (lambda x: x.sum() * 1j, [1.0], RuntimeError, "complex"),
        (lambda x: 3.0, [1.0], TypeError, "must return a Tensor, but returned float"),
        (lambda x: x.sum(), [1, 2], TypeError, "argument 0 of <lambda> must be of a floating-point"),
    ],
)
def test_what_it_refuses(f, x, error, message):
    with pytest.raises(error, match=message):
        gw.value_and_grad(f)(np.array(x))


@pytest.mark.parametrize("dtype", [">f8", "longdouble", "object", "int64"])
def test_dtypes_without_derivative_are_refused_by_name(dtype):
    with pytest.raises(TypeError, match=r"value_and_grad: argument 1 of f must be .*, but got .*astype\(float\)"):
        gw.value_and_grad(_product, argnums=(0, 1))(np.ones(2), np.ones(2).astype(dtype))


def test_arguments_to_differentiate_by_are_passed_by_position():
    with pytest.raises(TypeError, match="value_and_grad: argument 0 of f must be passed by position"):
        gw.value_and_grad(_product)(a=np.ones(2), b=np.ones(2))
    assert gw.value_and_grad(_product)(np.ones(2), b=3.0)[0] == 6.0


def _product(a, b):
    return (a * b).sum()


_product.__name__ = "f"
