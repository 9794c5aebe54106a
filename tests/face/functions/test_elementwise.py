import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes

import gradwright

ANY = (-2.0, 2.0)
POSITIVE = (0.3, 3.0)
UNIT = (-0.9, 0.9)
UNARY = {
    "neg": ANY, "negative": ANY, "square": ANY, "abs": ANY, "absolute": ANY, "sign": ANY, "relu": ANY, "floor": ANY,
    "ceil": ANY, "round": ANY, "trunc": ANY, "reciprocal": POSITIVE, "sqrt": POSITIVE, "rsqrt": POSITIVE, "exp": ANY,
    "exp2": ANY, "expm1": ANY, "log": POSITIVE, "log1p": POSITIVE, "log2": POSITIVE, "log10": POSITIVE, "sin": ANY,
    "cos": ANY, "tan": UNIT, "asin": UNIT, "acos": UNIT, "atan": ANY, "arcsin": UNIT, "arccos": UNIT, "arctan": ANY,
    "sinh": ANY, "cosh": ANY, "tanh": ANY, "asinh": ANY, "acosh": (1.3, 3.0), "atanh": UNIT, "arcsinh": ANY,
    "arccosh": (1.3, 3.0), "arctanh": UNIT, "sigmoid": ANY, "isnan": ANY, "isinf": ANY, "isfinite": ANY,
    "logical_not": ANY,
}  # fmt: skip
FLAGS = {"isnan", "isinf", "isfinite", "logical_not"}
BINARY = [
    "add", "sub", "subtract", "mul", "multiply", "div", "divide", "true_divide", "maximum", "minimum", "pow", "atan2",
    "arctan2", "remainder", "floor_divide", "eq", "ne", "not_equal", "lt", "less", "le", "less_equal", "gt", "greater",
    "ge", "greater_equal",
]  # fmt: skip
DIFFERENTIABLE = BINARY[: BINARY.index("floor_divide")]
LOGIC = ["logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor"]
OPERATORS = {
    "+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y, "/": lambda x, y: x / y,
    "//": lambda x, y: x // y, "%": lambda x, y: x % y, "**": lambda x, y: x**y, "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y, "<": lambda x, y: x < y, "<=": lambda x, y: x <= y, ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
}  # fmt: skip
BITS = {"&": lambda x, y: x & y, "|": lambda x, y: x | y, "^": lambda x, y: x ^ y}
NOT_FOR_BOOLEANS = {"-", "//", "%", "**"}  # PyTorch refuses them where one is a bool; we where both are
DTYPES = ["float32", "float64", "int64", "int32", "uint8", "bool"]


def draw(shape: tuple[int, ...], dtype: str = "float64", low: float = 0.3, high: float = 3.0) -> Any:
    """Numbers of a dtype: floats from low to high, whole numbers from 1 to 4."""
    if dtype == "bool":
        return np.random.random(shape) < 0.5
    if dtype.startswith("float"):
        return np.asarray(np.random.uniform(low, high, shape)).astype(dtype)
    return np.asarray(np.random.randint(1, 5, shape)).astype(dtype)


def call(name: str) -> Any:
    return lambda t, *xs: getattr(t, name)(*xs)


@pytest.mark.parametrize("name", UNARY)
def test_unary(same: Any, name: str) -> None:
    for dtype, shape in itertools.product(["float32", "float64"], [(3, 4), (), (0, 3)]):
        same(call(name), draw(shape, dtype, *UNARY[name]), names=name not in FLAGS)


@pytest.mark.parametrize("name", UNARY)
def test_unary_of_whole_numbers_and_booleans(same: Any, name: str) -> None:
    for dtype in ("int64", "int32", "uint8", "bool"):
        if (name, dtype) != ("sign", "bool"):  # which PyTorch has
            same(call(name), draw((2, 3), dtype))


@pytest.mark.parametrize("name", UNARY)
def test_unary_at_special_values(same: Any, name: str) -> None:
    nan = [] if name in ("sign", "abs", "absolute") else [np.nan]  # NumPy's sign of NaN is NaN, PyTorch's is 0
    finite = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, 100.0, -100.0]
    same(call(name), np.array([*nan, np.inf, -np.inf, *finite]), order=1)


@pytest.mark.parametrize("name", ["abs", "sign", "relu", "sqrt", "square", "sigmoid", "tanh", "round", "floor"])
def test_second_derivative_at_kinks(same: Any, name: str) -> None:
    same(call(name), np.array([0.0, -0.0, 1.0, -1.0]))


SHAPES = [((3, 4), (3, 4)), ((3, 1), (4,)), ((), (2, 3)), ((2, 0), (1, 0)), ((), ())]


@pytest.mark.parametrize("name", BINARY)
def test_binary(same: Any, name: str) -> None:
    order = 2 if name in DIFFERENTIABLE else 0
    for dtype, shapes in itertools.product(["float32", "float64"], SHAPES):
        same(call(name), *(draw(s, dtype) for s in shapes), order=order, names=name != "remainder")


@pytest.mark.parametrize("name", BINARY)
def test_binary_with_one_constant(same: Any, name: str) -> None:
    x, y = draw((2, 3)), draw((2, 3))
    if name not in DIFFERENTIABLE:
        return
    same(lambda t, x: getattr(t, name)(x, t.tensor(y)), x, names=name != "remainder")
    same(lambda t, y: getattr(t, name)(t.tensor(x), y), y, names=name != "remainder")


@pytest.mark.parametrize("name", OPERATORS)
def test_promotion(same: Any, name: str) -> None:
    f = OPERATORS[name]
    for a, b, x, y in itertools.product(DTYPES, DTYPES, [(2,), ()], [(2,), ()]):
        if "bool" in (a, b) and name in NOT_FOR_BOOLEANS:
            continue
        same(lambda t, x, y: f(x, y), draw(x, a), draw(y, b), order=name != "//", names=name not in "//%")


@pytest.mark.parametrize("name", sorted(NOT_FOR_BOOLEANS))
def test_not_for_booleans(same: Any, name: str) -> None:
    same(lambda t, x: OPERATORS[name](x, x), draw((3,), "bool"))


@pytest.mark.parametrize("name", OPERATORS)
def test_promotion_with_numbers(same: Any, name: str) -> None:
    f, order = OPERATORS[name], 0 if name == "//" else 2
    for dtype, number, shape in itertools.product(DTYPES, [2, 2.5, True, -1], [(2, 3), ()]):
        if (dtype == "bool" or number is True) and name in NOT_FOR_BOOLEANS:
            continue
        same(lambda t, x, n=number: f(x, n), draw(shape, dtype), order=order)
        # PyTorch divides a number by multiplying with the reciprocal, and has no derivative of its remainder.
        same(lambda t, x, n=number: f(n, x), draw(shape, dtype),
             order=0 if name == "%" else order, names=name not in "//%")  # fmt: skip


@pytest.mark.parametrize("name", LOGIC)
def test_logic(same: Any, name: str) -> None:
    for a, b in itertools.product(["bool", "int64", "uint8", "float32"], repeat=2):
        same(call(name), draw((5,), a), draw((5,), b))


@pytest.mark.parametrize("name", BITS)
def test_bit_operators(same: Any, name: str) -> None:
    f = BITS[name]
    for a, b in [("bool", "bool"), ("int64", "int64"), ("int64", "bool")]:
        same(lambda t, x, y: f(x, y), draw((5,), a), draw((5,), b))
    same(lambda t, x: f(x, True), draw((5,), "bool"))
    same(lambda t, x: ~x, draw((5,), "bool"))
    same(lambda t, x: ~x, draw((5,), "int64"))


@given(shapes=mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3, min_side=0))
@settings(max_examples=40)
def test_any_shapes_that_broadcast(same: Any, shapes: Any) -> None:
    x, y = (np.random.uniform(0.5, 2, s) for s in shapes.input_shapes)
    same(lambda t, x, y: x * y / (x + y), np.asarray(x), np.asarray(y))


@given(st.data())
@settings(max_examples=30)
def test_any_shapes_that_do_not(same: Any, data: Any) -> None:
    sides = st.lists(st.integers(0, 3), max_size=3).map(tuple)
    x, y = np.zeros(data.draw(sides)), np.zeros(data.draw(sides))
    same(lambda t, x, y: x + y, x, y)


class TestPowers:
    @pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4, 5, -1, -2, 0.5, -0.5, 1.5, 2.0, 0.0, float("inf")])
    @pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
    def test_number_as_exponent(self, same: Any, dtype: str, exponent: Any) -> None:
        same(lambda t, x: x**exponent, draw((3, 4), dtype))
        same(lambda t, x: t.pow(x, exponent), draw((), dtype))

    @pytest.mark.parametrize("exponent", [0, 1, 2, 3, 0.5, -1, 0.0])
    def test_at_zero(self, same: Any, exponent: Any) -> None:
        same(lambda t, x: x**exponent, np.array([0.0, 1.0, -1.0]), order=1)

    def test_tensor_as_exponent_at_zero(self, same: Any) -> None:
        same(lambda t, x, y: x**y, np.array([0.0, 0.0, 0.0, 2.0, -1.0]), np.array([2.0, 0.0, 1.0, 0.0, 2.0]), order=1)

    @pytest.mark.parametrize("base", [2, 2.0, 0.5, 0, 1, -2.0])
    def test_number_as_base(self, same: Any, base: Any) -> None:
        same(lambda t, x: base**x, np.array([0.0, 1.0, 2.0, 0.5]), order=1)
        same(lambda t, x: t.pow(base, x), np.array([0, 1, 2]))

    def test_negative_whole_exponents(self, same: Any) -> None:
        same(lambda t, x: x**-1, np.array([1, 2]))
        same(lambda t, x: x**-1.0, np.array([1, 2]))

    def test_float_power_is_double(self, same: Any) -> None:
        same(lambda t, x: t.float_power(x, 2), np.array([1, 2]))
        same(lambda t, x: t.float_power(x, 2), np.array([1, 2], np.float32), names=False)


class TestExtrema:
    def test_ties_share_the_gradient(self, same: Any) -> None:
        for name in ("maximum", "minimum"):
            same(call(name), np.array([1.0, 2.0, 2.0, -0.0]), np.array([1.0, 3.0, 1.0, 0.0]), order=1)

    def test_nan_wins(self, same: Any) -> None:
        for name in ("maximum", "minimum"):
            same(call(name), np.array([np.nan, 2.0]), np.array([1.0, np.nan]), order=0)


class TestClamp:
    X = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])

    @pytest.mark.parametrize(
        ("low", "high"), [(-1.0, 1.0), (None, 1.0), (-1.0, None), (1.0, -1.0), (-1, 1), (None, None)]
    )
    def test_numbers(self, same: Any, low: Any, high: Any) -> None:
        same(lambda t, x: t.clamp(x, low, high), self.X)
        same(lambda t, x: t.clamp(x, low, high), np.array([-3, 0, 3]))
        same(lambda t, x: x.clamp(min=low, max=high), self.X.astype(np.float32))

    def test_whole_numbers_with_floating_bounds(self, same: Any) -> None:
        same(lambda t, x: t.clamp(x, 0.5, 1.5), np.array([0, 1, 2]))

    def test_nan(self, same: Any) -> None:
        same(lambda t, x: t.clamp(x, 0, 1), np.array([np.nan, np.inf, -np.inf]), order=0)

    def test_tensors_as_bounds(self, same: Any) -> None:
        low, high = np.array([-1.0, -3.0, 0.0, 1.5, 3.0]), np.array([1.0, 0.0, 0.0, 1.0, 5.0])
        same(lambda t, x, a, b: t.clamp(x, a, b), self.X, low, high)
        same(lambda t, x, a: t.clamp(x, min=a), self.X, low)
        same(lambda t, x, b: t.clamp(x, max=b), self.X, high)
        same(lambda t, x, a: t.clamp(x, min=a), self.X.reshape(5, 1), low)

    def test_one_sided(self, same: Any) -> None:
        same(lambda t, x: t.clamp_min(x, 0.5), self.X, names=False)
        same(lambda t, x: t.clamp_max(x, 0.5), self.X, names=False)
        same(lambda t, x: t.clip(x, 0.5), self.X)


class TestWhere:
    C = np.array([[True, False, True], [False, False, True]])

    def test_tensors(self, same: Any) -> None:
        same(lambda t, c, x, y: t.where(c, x, y), self.C, draw((2, 3)), draw((2, 3)))
        same(lambda t, c, x, y: t.where(c, x, y), self.C, draw((3,)), draw((2, 1)))
        same(lambda t, c, x, y: t.where(c, x, y), self.C, draw((2, 3), "float32"), draw((), "float64"))
        same(lambda t, c, x, y: t.where(c, x, y), self.C, draw((2, 3), "int64"), draw((2, 3), "float32"))

    def test_numbers(self, same: Any) -> None:
        same(lambda t, c, x: t.where(c, x, 0.0), self.C, draw((2, 3)))
        same(lambda t, c, x: t.where(c, 1, x), self.C, draw((2, 3), "float32"))
        same(lambda t, c: t.where(c, 1, 0), self.C)
        same(lambda t, c: t.where(c, 1.0, 0.0), self.C)
        same(lambda t, c, x: x.where(c, 0.0), self.C, draw((2, 3)))

    def test_condition_alone(self, same: Any) -> None:
        same(lambda t, c: t.where(c), self.C)

    def test_condition_that_is_not_boolean(self, same: Any) -> None:
        same(lambda t, c, x: t.where(c, x, x), np.array([1.0, 0.0]), draw((2,)))

    def test_a_nan_not_chosen_leaves_no_trace(self, same: Any) -> None:
        same(lambda t, x: t.where(x > 0, t.log(x), t.zeros(2, dtype=t.float64)), np.array([1.0, 2.0]))

    def test_masked_fill(self, same: Any) -> None:
        same(lambda t, x, m: x.masked_fill(m, 0.5), draw((2, 3)), self.C, names=False)
        same(lambda t, x, m: t.masked_fill(x, m, -1), draw((2, 3), "float32"), self.C, names=False)
        same(lambda t, x, m, v: x.masked_fill(m, v), draw((2, 3)), self.C, draw(()), names=False)
        same(lambda t, x, m, v: x.masked_fill(m, v), draw((2, 3)), self.C, draw((1,)))
        same(lambda t, x, m: x.masked_fill(m, 1), draw((3,)), self.C, names=False)


def test_add_and_sub_with_alpha(same: Any) -> None:
    same(lambda t, x, y: t.add(x, y, alpha=3), draw((3,)), draw((3,)))
    same(lambda t, x, y: t.sub(x, y, alpha=0.5), draw((3,)), draw((3,)))
    same(lambda t, x: t.add(x, 2, alpha=3), draw((3,)))
    same(lambda t, x, y: t.rsub(x, y), draw((3,)), draw((3,)), names=False)


def test_softplus(same: Any) -> None:
    x = np.array([-30.0, -1.0, 0.0, 1.0, 19.9, 20.0, 20.1, 50.0])

    def f(t: Any, x: Any) -> Any:
        softplus = t.nn.functional.softplus if hasattr(t, "compile") else gradwright.face.functions.elementwise.softplus
        return [softplus(x), softplus(x, beta=2.0), softplus(x, beta=0.5, threshold=3.0)]

    same(f, x)


def test_extreme_arguments_of_activations(same: Any) -> None:
    same(lambda t, x: [t.sigmoid(x), t.tanh(x), t.relu(x)], np.array([-1000.0, 1000.0, 0.0]))
    same(lambda t, x: t.sigmoid(x), np.array([-100.0, 100.0], np.float32))


@pytest.mark.parametrize("name", [*UNARY, "clamp", "where", "masked_fill", "pow"])
def test_not_a_tensor(name: str) -> None:
    arguments = {"clamp": (0, 1), "where": (1.0, 2.0), "masked_fill": (True, 0.0), "pow": (2,)}.get(name, ())
    with pytest.raises(TypeError, match=r"must be Tensor|must be Tensors") as e:
        getattr(gradwright, name)([1.0, 2.0], *arguments)
    assert "list" in str(e.value)
    assert "()" in str(e.value)


@pytest.mark.parametrize("name", [*BINARY, *LOGIC])
def test_second_argument_not_a_tensor(name: str) -> None:
    with pytest.raises(TypeError, match=r"\(\).*(Tensor|number).*str"):
        getattr(gradwright, name)(gradwright.ones(2), "two")


@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "//", "%", "<"])
def test_operators_leave_strangers_to_python(symbol: str) -> None:
    with pytest.raises(TypeError, match=r"unsupported operand|not supported between|multiply\(\): arguments must be"):
        OPERATORS[symbol](gradwright.ones(2), "two")


def test_comparison_with_a_stranger(same: Any) -> None:
    assert (gradwright.ones(2) == "two") is False
    assert (gradwright.ones(2) != None) is True  # noqa: E711


@pytest.mark.parametrize("name", BINARY)
def test_shapes_that_do_not_broadcast(same: Any, name: str) -> None:
    same(call(name), draw((2, 3)), draw((2, 4)))
    op = {"subtract": "sub", "multiply": "mul"}.get(name, name)
    with pytest.raises(RuntimeError, match=r"size of tensor a \(3\) must match the size of tensor b \(4\)"):
        getattr(gradwright, op)(gradwright.ones(2, 3), gradwright.ones(2, 4))


def test_names_of_overloads(same: Any) -> None:
    same(lambda t, x, y: [x + 1, 1 - x, x * 2, x / 2, x**2, x**y, 2**y, -x, abs(x), x % 2],
         draw((3,)), draw((3,)))  # fmt: skip


@pytest.mark.parametrize("name", ["abs", "acos", "ceil", "exp", "isnan", "log", "neg", "relu", "sigmoid", "sin"])
def test_the_argument_may_be_named(name, torch):
    found = getattr(gradwright, name)(input=gradwright.tensor([0.25, 0.5]))
    assert np.allclose(found.numpy(), getattr(torch, name)(input=torch.tensor([0.25, 0.5])).numpy())


def test_bits_of_floats_are_refused(T):
    x = T.ones(1)
    for call in (lambda: x & x, lambda: x | 1, lambda: T.bitwise_not(x), lambda: T.tensor([1]) ^ 1.5):
        with pytest.raises(NotImplementedError, match="not implemented for"):
            call()
    for dtype in (T.float64, T.complex64):
        with pytest.raises(TypeError, match="only implemented on integer and Boolean-type tensors"):
            ~x.to(dtype)
