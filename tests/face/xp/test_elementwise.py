from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradwright
from gradwright import xp
from gradwright.autograd import gradcheck, gradgradcheck
from tests.face.xp.agreement import FEW, agree, always, arrays, pairs

UNARY = {
    "floating": "acos acosh asin asinh atan atanh cos cosh exp expm1 log log10 log1p log2 sin sinh sqrt tan tanh",
    "numeric": "abs negative positive square sign isfinite isinf isnan",
    "real": "ceil floor round trunc",
    "float": "signbit reciprocal",
    "complex": "imag real conj",
    "bits": "bitwise_invert",
    "bool": "logical_not",
}
BINARY = {
    "floating": "divide pow",
    "float": "atan2 copysign hypot logaddexp nextafter",
    "numeric": "add multiply subtract",
    "all": "equal not_equal",
    "real": "greater greater_equal less less_equal maximum minimum",
    "bits": "bitwise_and bitwise_or bitwise_xor",
    "integer": "bitwise_left_shift bitwise_right_shift",
    "bool": "logical_and logical_or logical_xor",
}
POLES = {"acosh": (1.5, 3), "log": (0.5, 2), "log10": (0.5, 2), "log1p": (0.5, 2), "log2": (0.5, 2), "sqrt": (0.5, 2)}
SMOOTH = "acos asin atan atanh cos exp expm1 sin sinh tan tanh abs square negative cosh asinh reciprocal"


def listed(table: dict[str, str]) -> list[tuple[str, str]]:
    return [(name, kind) for kind, names in table.items() for name in names.split()]


@pytest.mark.parametrize(("name", "kind"), listed(UNARY))
def test_of_one(name: str, kind: str) -> None:
    always(name, arrays(kind))


@pytest.mark.parametrize(("name", "kind"), listed(BINARY))
def test_of_two(name: str, kind: str) -> None:
    FEW(given(pairs(kind))(lambda xy: agree(name, *xy)))()


@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
def test_quotients(name: str) -> None:
    always(name, arrays("real"), st.integers(1, 5))


@pytest.mark.parametrize(("name", "kind"), listed(BINARY))
def test_python_numbers(name: str, kind: str) -> None:
    number = {"bool": True, "bits": True, "integer": 3, "all": True}.get(kind, 2)
    kind = "bool" if number is True else kind
    always(name, arrays(kind), number)
    always(name, number, arrays(kind))


@pytest.mark.parametrize("a", ["int8", "uint8", "int32", "uint32", "int64"])
@pytest.mark.parametrize("b", ["int8", "uint8", "int32", "uint32", "int64"])
def test_promotion(a: str, b: str) -> None:
    out = xp.add(xp.ones(2, dtype=getattr(xp, a)), xp.ones((), dtype=getattr(xp, b)))
    assert out.dtype.name == np.promote_types(a, b).name


def test_kinds_meet_as_with_operators() -> None:
    whole, real = xp.asarray([1, 2]), xp.asarray([0.5])
    assert xp.add(whole, real).dtype is xp.multiply(whole, 0.5).dtype is xp.float32
    assert xp.add(real, 1j).dtype is xp.complex64
    assert xp.divide(whole, whole).dtype is xp.float32


@pytest.mark.parametrize("name", [*POLES, *SMOOTH.split()])
def test_gradients_of_one(name: str) -> None:
    low, high = POLES.get(name, (0.2, 0.9))
    x = gradwright.tensor(np.linspace(low, high, 6).reshape(2, 3), requires_grad=True)
    assert gradcheck(getattr(xp, name), (x,))
    assert gradgradcheck(getattr(xp, name), (x,))


PAIRS = ["add", "atan2", "divide", "hypot", "logaddexp", "maximum", "minimum", "multiply", "pow", "subtract"]


@pytest.mark.parametrize("name", PAIRS)
def test_gradients_of_two(name: str) -> None:
    x = gradwright.tensor([[0.5, 1.7, 2.2]], dtype=xp.float64, requires_grad=True)
    y = gradwright.tensor([[1.1], [0.9]], dtype=xp.float64, requires_grad=True)
    assert gradcheck(getattr(xp, name), (x, y))
    assert gradcheck(lambda x: getattr(xp, name)(x, 1.5), (x,))
    assert gradcheck(lambda x: getattr(xp, name)(1.5, x), (x,))


@pytest.mark.parametrize("bounds", [(), (-1, 2), (None, 2), (-1, None), (-1.5, 2.5)])
def test_clip_between_numbers(bounds: Any) -> None:
    always("clip", arrays("float"), *bounds)


def test_clip_between_arrays() -> None:
    x = xp.asarray([[1.0, 5.0], [3.0, -1.0]])
    assert xp.clip(x, xp.asarray([2.0, 0.0]), 4).tolist() == [[2.0, 4.0], [3.0, 0.0]]
    x = gradwright.tensor([0.5, 1.7, 2.2], dtype=xp.float64, requires_grad=True)
    low = gradwright.tensor(0.7, dtype=xp.float64, requires_grad=True)
    assert gradcheck(lambda x, low: xp.clip(x, low, 2.0), (x, low))


def test_what_it_refuses() -> None:
    with pytest.raises(TypeError, match=r"exp\(\): .* Tensor.* ndarray"):
        xp.exp(np.ones(2))
    with pytest.raises(TypeError, match=r"add\(\): expected a Tensor, but got ndarray"):
        xp.add(np.ones(2), xp.ones(2))
    with pytest.raises(TypeError, match=r"add\(\): expected at least one Tensor, but got float, int"):
        xp.add(1.0, 2)
    with pytest.raises(TypeError, match="positional-only"):
        xp.add(x1=1, x2=2)


def test_imaginary_parts_of_real_numbers() -> None:
    assert xp.imag(xp.asarray([np.inf, np.nan, 1.0])).tolist() == [0.0, 0.0, 0.0]
