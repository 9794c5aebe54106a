"""Complex numbers: parts, conjugates, angles and views, as PyTorch has them."""

import numpy as np
import pytest

import gradwright

PARTS = [1.0, -2.0, 0.5], [3.0, -1.0, -0.25]
SPECIAL = [0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, np.nan]



@pytest.mark.parametrize("name", ["conj", "conj_physical", "resolve_conj", "resolve_neg"])
def test_conjugates(same, name):
    def scaled(T, x, y):
        return T.view_as_real(getattr(T, name)(T.complex(x, y)) * (1 + 2j))

    same(scaled, *map(np.array, PARTS), names=False)
    same(lambda T, x: getattr(T, name)(x), np.array([1.0, -2.0]), names=False)


@pytest.mark.parametrize("name", ["real", "imag", "angle", "abs"])
def test_parts(same, name):
    # PyTorch reads real and imag as columns of view_as_real, and names the node accordingly.
    same(lambda T, x, y: getattr(T, name)(T.complex(x, y)), *map(np.array, PARTS), names=name in ("angle", "abs"))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_made_of_parts(same, dtype):
    x, y = (np.array(p, dtype) for p in PARTS)
    same(lambda T, x, y: T.view_as_real(T.complex(x, y) * (2 - 1j)), x, y)
    same(lambda T, r, a: T.view_as_real(T.polar(r, a)), np.abs(x), y, names=False)
    same(lambda T, x: T.view_as_real(T.view_as_complex(x)), np.stack([x, y], -1))
    same(lambda T, x: T.view_as_complex(x).abs(), np.stack([x, y], -1))


def test_made_of_sizes_that_broadcast(same):
    same(lambda T, x, y: T.view_as_real(T.complex(x, y)), np.array([[1.0], [2.0]]), np.array([3.0, 4.0, 5.0]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_angles_of_real_numbers(same, dtype):
    same(lambda T, x: T.angle(x), np.array(SPECIAL, dtype))


@pytest.mark.parametrize("dtype", ["int64", "bool", "uint8"])
def test_angles_of_whole_numbers(same, dtype):
    same(lambda T, x: T.angle(x), np.array([0, 1, 0], dtype))


def test_angles_of_special_numbers(same):
    x, y = np.array(np.meshgrid(SPECIAL, SPECIAL))
    same(lambda T, x, y: T.angle(T.complex(x, y)), x, y, order=0)


def test_dtypes_of_parts(same):
    for dtype in ("complex64", "complex128"):
        z = np.array([1 + 2j, -3j], dtype)
        same(lambda T, z: (T.real(z), T.imag(z), T.angle(z), z.abs(), T.view_as_real(z), z.conj()), z, names=False)


@pytest.mark.parametrize("data", [[1 + 0j, 2j, complex(0, -0.0), complex(np.nan, 0)], [1.0, np.nan], [1, 0], [True]])
def test_isreal(same, data):
    same(lambda T, x: T.isreal(x), np.array(data), order=0)


def test_views_share_memory(same):
    """Writing through a part writes the whole, and the history of both."""

    def through(part):
        def f(T, x, y):
            z = T.complex(x, y) * 1
            getattr(T, part)(z).mul_(x)
            return T.view_as_real(z * z)

        return f

    for part in ("real", "imag"):
        same(through(part), *map(np.array, PARTS), names=False)

    def pairs(T, x, y):
        z = T.complex(x, y) * 1
        T.view_as_real(z)[:, 1] = x
        return z.abs()

    def complexes(T, x):
        y = x * 1
        T.view_as_complex(y).mul_(1j)
        return y * x

    same(pairs, *map(np.array, PARTS), names=False)
    same(complexes, np.stack(list(map(np.array, PARTS)), -1), names=False)


def test_a_real_tensor_is_its_own_real_part_and_conjugate(T):
    x = T.ones(2)
    assert T.real(x) is x
    assert T.conj(x) is x


def test_a_conjugate_has_memory_of_its_own():
    z = gradwright.tensor([1 + 2j])
    gradwright.conj(z).mul_(0)
    assert z.tolist() == [1 + 2j]
    x = gradwright.tensor([1.0])
    gradwright.conj_physical(x).mul_(0)
    assert x.tolist() == [1.0]


ERRORS = {
    "imag of real": lambda T: T.imag(T.ones(2)),
    "view_as_real of real": lambda T: T.view_as_real(T.ones(2)),
    "view_as_complex of integers": lambda T: T.view_as_complex(T.ones(2, dtype=T.int64)),
    "view_as_complex of three": lambda T: T.view_as_complex(T.ones(3)),
    "view_as_complex of a number": lambda T: T.view_as_complex(T.tensor(1.0)),
    "view_as_complex with a stride": lambda T: T.view_as_complex(T.ones(2, 3).t()),
    "complex of two dtypes": lambda T: T.complex(T.ones(2), T.ones(2, dtype=T.float64)),
    "complex of integers": lambda T: T.complex(T.ones(2, dtype=T.int64), T.ones(2, dtype=T.int64)),
    "complex of complex": lambda T: T.complex(T.ones(2) * 1j, T.ones(2) * 1j),
    "complex of a number": lambda T: T.complex(T.ones(2), 1.0),
    "polar of two dtypes": lambda T: T.polar(T.ones(2), T.ones(2, dtype=T.float64)),
    "real of a list": lambda T: T.real([1j]),
    "angle of a number": lambda T: T.angle(1j),
    "order": lambda T: T.tensor([1j]) < T.tensor([2j]),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(same, name):
    with pytest.raises((RuntimeError, TypeError), match=r"complex|Tensor|floating|Double|scalar type"):
        ERRORS[name](gradwright)
    same(ERRORS[name])
