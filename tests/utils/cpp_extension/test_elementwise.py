"""Operations of one C++ expression: values, derivatives, dtypes, shapes, and their vector loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright.autograd import grad, gradcheck, gradgradcheck
from gradwright.utils.cpp_extension import load_inline
from gradwright.utils.cpp_extension.elementwise import truncated

RTOL = {np.float32: 1e-6, np.float64: 4e-15}


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def erf(x: Any) -> Any:
    special = pytest.importorskip("scipy.special")
    return special.erf(x)


FORMULAS: list[tuple[str, Any]] = [
    ("quick_gelu", lambda x: x * sigmoid(1.702 * x)),
    ("cube", lambda x: x**3),
    ("soft_relu", lambda x: np.where(x > 0, x + x * x / 2, np.exp(x) - 1)),
    ("pow_double", lambda x: x**2.5),
    ("pow_float", lambda x: x**0.5),
    ("pow_negative", lambda x: x**-0.5),
    ("pow_int", lambda x: x**3),
    ("pow_long", lambda x: x**-2),
    ("many", lambda x: (np.sqrt(abs(x)) + np.log1p(x * x) + np.tanh(x) + erf(x) + np.sin(x) * np.cos(x)
                        + np.maximum(x, 0) - np.minimum(x, 1))),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("name", "formula"), FORMULAS)
def test_values_of_every_size_and_stride(ext: Any, name: str, formula: Any, dtype: Any) -> None:
    whole = np.random.uniform(-3, 3, (2, 400_001)).astype(dtype)
    for a in (whole, whole[0, :1], whole[1, :1037], whole[:, ::-3], whole[:, :2000].T, whole[0, :0], whole[0, 0]):
        y = getattr(ext, name)(gw.tensor(0) + 0 if a is None else gw.from_numpy(np.asarray(a)))
        with np.errstate(invalid="ignore"):
            due = formula(np.asarray(a, np.float64))
        assert y.numpy().dtype == dtype
        assert y.shape == np.shape(a)
        np.testing.assert_allclose(y.numpy(), due, rtol=RTOL[dtype], atol=RTOL[dtype] * 4)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300, -1e300])
def test_special_values_are_as_ieee_says(ext: Any, value: float) -> None:
    x = np.full(9, value)
    x[1::2] = 0.5
    for name, formula in FORMULAS[:3]:
        with np.errstate(all="ignore"):
            due = formula(x)
        np.testing.assert_allclose(getattr(ext, name)(gw.from_numpy(x)).numpy(), due, rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_other_functions_of_cmath(ext: Any, dtype: Any) -> None:
    x = np.random.uniform(0.2, 3, (5, 7)).astype(dtype)
    y = np.random.uniform(0.2, 3, 7).astype(dtype)
    z = np.array([0.5, 1.5, 2.3, 2.7, np.nan, np.inf, -np.inf], dtype)
    due = np.arctan2(y, x) + np.hypot(x, y) + np.fmod(x, y) + np.copysign(x, y) + y.astype(np.float64) ** x
    np.testing.assert_allclose(ext.angles(gw.from_numpy(x), gw.from_numpy(y)).numpy(), due, rtol=RTOL[dtype])
    rounded = [n + math.lgamma(v) for n, v in zip([1.0, 202.0, 202.0, 303.0], z, strict=False)]
    np.testing.assert_allclose(ext.rounded(gw.from_numpy(z)).numpy(), [*rounded, -7, 7, 7], rtol=RTOL[dtype])


def test_arrays_that_cpp_cannot_go_through_are_copied(ext: Any) -> None:
    deep = np.arange(6.0).reshape((1,) * 38 + (2, 3))
    for y in (ext.cube(gw.from_numpy(deep)), ext.cube(gw.from_numpy(deep.swapaxes(-1, -2))).swapaxes(-1, -2)):
        assert y.shape == deep.shape
        np.testing.assert_array_equal(y.numpy(), deep**3)
    loose = np.zeros(41, np.uint8)[1:].view(np.float64)
    loose[:] = np.arange(5)
    np.testing.assert_array_equal(ext.cube(gw.from_numpy(loose)).numpy(), np.arange(5.0) ** 3)


@pytest.mark.parametrize(("name", "order"), [("quick_gelu", 1), ("cube", 2), ("soft_relu", 2)])
def test_derivatives_by_one_input(ext: Any, name: str, order: int) -> None:
    op = getattr(ext, name)
    x = gw.tensor(np.random.uniform(0.2, 2.0, (2, 3)) * [1, -1, 1], dtype=gw.float64, requires_grad=True)
    assert gradcheck(op, (x,))
    assert order < 2 or gradgradcheck(op, (x,))
    assert op(x).grad_fn.name() == f"{name}Backward"


def test_derivatives_by_two_inputs_that_broadcast(ext: Any) -> None:
    x = gw.tensor(np.random.uniform(-1, 1, (3, 1)), dtype=gw.float64, requires_grad=True)
    y = gw.tensor(np.random.uniform(-1, 1, 4), dtype=gw.float64, requires_grad=True)
    np.testing.assert_allclose(ext.grown(x, y).detach().numpy(), (x * y.exp()).detach().numpy(), rtol=1e-14)
    assert gradcheck(ext.grown, (x, y))
    assert gradgradcheck(ext.grown, (x, y))


def test_as_many_derivatives_as_are_given_and_then_an_error(ext: Any) -> None:
    x = gw.tensor([2.0], dtype=gw.float64, requires_grad=True)
    found = [ext.cube(x)]
    for _ in range(3):
        found.append(grad(found[-1].sum(), x, create_graph=True)[0])
    assert [y.item() for y in map(gw.Tensor.detach, found)] == [8.0, 12.0, 12.0, 6.0]
    with pytest.raises(NotImplementedError, match=r"cube\(\): its derivative by xxxx is not given.*shared\.cpp:\d+"):
        grad(found[-1].sum(), x)
    with pytest.raises(NotImplementedError, match=r"many\(\): the derivative for 'x' is not implemented"):
        grad(ext.many(x).sum(), x)


def test_help_has_the_expressions(ext: Any) -> None:
    assert ext.cube.__doc__.startswith("Elementwise; its value and derivatives: pow(x, 3), 3 * x * x, 6 * x, 6\n")
    assert "\n\nRegistered in C++ at " in ext.cube.__doc__
    assert ext.many.__doc__.startswith("Elementwise; its value: ")


def test_what_does_not_fit_is_an_error(ext: Any) -> None:
    with pytest.raises(RuntimeError, match=r"cube\(\): expected float32 or float64 tensors.*found int64"):
        ext.cube(gw.arange(3))
    with pytest.raises(RuntimeError, match="found float32 and float64"):
        ext.grown(gw.ones(2), gw.ones(2, dtype=gw.float64))
    with pytest.raises(RuntimeError, match=r"grown\(\): the shapes \[2\], \[3\] cannot be broadcast"):
        ext.grown(gw.ones(2), gw.ones(3))
    with pytest.raises(TypeError, match="expected a Tensor"):
        ext.cube("a")


@pytest.mark.parametrize(("code", "mend"), [
    ("pow(x, 1/3)", "1/3 is 0 in C++, which divides whole numbers to whole numbers: write 1.0/3"),
    ("x - 2 * 3L / 4", "6/4 is 1 in C++, which divides whole numbers to whole numbers: write 2.0 * 3L / 4"),
    ("-2/9 * pow(x, -5/3)", "2/9 is 0 in C++, which divides whole numbers to whole numbers: write 2.0/9"),
    ("1 / 0", "1/0 is not defined: write 1.0 / 0"),
    *((right, "") for right in ("4/2 * x", "1.0/3", "1/3.0 + 1./3 + 1/3e0 + 1/3f", "x * 1/3", "x / 1/3", "1e-10/3 + x",
                                "x/3", "1/x", "x1/3", "f(2)/3")),
])  # fmt: skip
def test_whole_numbers_divided_to_what_is_none_are_noticed(code: str, mend: str) -> None:
    assert truncated(code) == mend


def test_whole_numbers_divided_to_what_is_none_are_refused(compiler: None) -> None:
    with pytest.raises(ImportError, match=r"root, registered at .*: 1/3 is 0 in C\+\+.*: write 1\.0/3"):
        load_inline("divided", "GRADWRIGHT_ELEMENTWISE(root, pow(x, 1.0/3), (1/3) * pow(x, -2.0/3))")


def test_a_second_input_where_there_is_one_is_refused(compiler: None) -> None:
    with pytest.raises(RuntimeError, match=r"'y'.*was not declared|undeclared identifier 'y'"):
        load_inline("one", "GRADWRIGHT_ELEMENTWISE(weighed, x * y, y)")
