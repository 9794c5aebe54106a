"""From an operation to PyTorch's function: numbers on either side, promotion, foreign types, and in-place forms."""

import operator as op

import numpy as np
import pytest

import gradwright
from gradwright.engine.backward import walk
from gradwright.engine.grad_mode import no_grad
from gradwright.face.functions import elementwise as e
from gradwright.face.functions.forms import alike, inplace, without_slope
from gradwright.ops import arithmetic

SYMBOLS = {s: getattr(op, s) for s in ("add", "sub", "mul", "truediv", "pow", "floordiv", "mod", "lt", "eq")}
X = np.array([1.0, -2.0, 3.5])


@pytest.mark.parametrize("name", SYMBOLS)
@pytest.mark.parametrize("number", [2, 2.5])
def test_a_number_on_either_side(same, name, number):
    f, order = SYMBOLS[name], 0 if name in ("floordiv", "mod") else 2  # some of their slopes PyTorch lacks
    same(lambda T, x: f(x, number), X, order=order, names=False)
    same(lambda T, x: f(number, x), np.abs(X), order=order, names=False)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv"])
@pytest.mark.parametrize("a", ["bool", "uint8", "int64", "float16", "float32", "complex64"])
def test_promotion(same, name, a):
    """Of two tensors, of a tensor and a number, and of one with dims and one without."""
    f = SYMBOLS[name]
    x = np.array([1, 1], a)
    half = a == "float16"  # for whose complex numbers PyTorch has a dtype
    for b in ("bool", "int32", "float32", "float64", "complex128"):
        same(lambda T, x, y: f(x, y), x, np.array([1, 1], b), order=0)
        if not (half and b == "complex128"):
            same(lambda T, x, y: f(x, y), x, np.array(1, b), order=0)
    for number in (True, 2, 2.5) if half else (True, 2, 2.5, 1j):
        same(lambda T, x, n: f(x, n), x, number, order=0)
        same(lambda T, x, n: f(n, x), x, number, order=0)


class Foreign:
    """Another type with operators of its own: the one to ask when a tensor does not know it."""

    def __radd__(self, other):
        return "theirs"


@pytest.mark.parametrize("name", SYMBOLS)
@pytest.mark.parametrize("other", ["a", None, object(), [1.0], {}])
def test_foreign_types(T, name, other):
    x = T.ones(2)
    if name == "eq":
        assert (x == other) is False
        return
    calls = [lambda: SYMBOLS[name](x, other), lambda: SYMBOLS[name](other, x)]
    for call in calls[: 1 if (name, other) == ("mod", "a") else 2]:  # "a" % x is formatting
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "pow", "lt", "eq", "iadd", "imul"])
def test_an_array_of_another_library_is_named_with_the_mend(name):
    strict = pytest.importorskip("array_api_strict")
    with pytest.raises(TypeError, match=r"got array_api_strict\.Array \(gradwright\.from_dlpack\(\) takes it\)"):
        getattr(op, name)(gradwright.ones(3), strict.ones(3))


def test_a_foreign_type_may_know_tensors():
    x = gradwright.ones(2)
    assert x.__add__(Foreign()) is NotImplemented
    assert x + Foreign() == "theirs"
    x += Foreign()
    assert x == "theirs"


@pytest.mark.parametrize("call", [
    lambda T: T.add(T.ones(2), "a"), lambda T: T.mul(None, T.ones(2)), lambda T: T.maximum(T.ones(2), 1.0),
    lambda T: T.atan2(1.0, T.ones(2)), lambda T: T.sub([1.0], T.ones(2)),
])  # fmt: skip
def test_functions_name_what_they_cannot_take(T, call):
    with pytest.raises(TypeError, match=r"must be (Tensors?|a number)|invalid combination of arguments"):
        call(T)


def test_alike_names_what_it_cannot_take():
    with pytest.raises(TypeError, match=r"add\(\): arguments must be Tensors or numbers, but got str"):
        alike(arithmetic.add, gradwright.ones(2), "a")
    a, b = alike(arithmetic.add, gradwright.ones(2, dtype=gradwright.int64), 0.5)
    assert a.dtype is b.dtype is gradwright.float32


@pytest.mark.parametrize("call", [
    lambda T: T.ones(2, dtype=T.bool) - True, lambda T: True - T.ones(2, dtype=T.bool),
    lambda T: T.ones(2) - T.ones(2, dtype=T.bool), lambda T: -T.ones(2, dtype=T.bool),
])  # fmt: skip
def test_booleans_have_no_negative(T, call):
    with pytest.raises(RuntimeError, match=r"bool tensors? is not supported|dtype is torch\.bool"):
        call(T)


def test_whole_numbers_compute_in_floating_point(same):
    for dtype in ("int64", "uint8", "bool"):
        same(lambda T, x: (T.exp(x), T.sqrt(x), x / 2), np.array([1, 0], dtype))


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_logic_of_what_is_nonzero(same, name):
    same(lambda T, x, y: getattr(T, name)(x, y), np.array([0.0, 0, 2, np.nan]), np.array([0, 3, 0, 1]), order=0)


# ---- in place --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "change"), [
    ("int64", lambda x: x.add_(0.5)), ("int64", lambda x: x.div_(2)), ("bool", lambda x: x.add_(1)),
    ("float32", lambda x: x.mul_(1j)), ("int64", lambda x: x.exp_()), ("int64", lambda x: op.imul(x, 1.5)),
])  # fmt: skip
def test_results_of_a_higher_category_are_refused(T, dtype, change):
    x = T.ones(2, dtype=getattr(T, dtype))
    with pytest.raises(RuntimeError, match=r"result type \w+ can't be cast to the desired output type \w+"):
        change(x)
    assert x.tolist() == [1, 1]


@pytest.mark.parametrize("dtype", ["float16", "float32", "int32", "uint8"])
def test_results_of_another_width_are_converted(same, dtype):
    x, y = np.array([2, 3], dtype), np.array([4, 5], "float64" if "f" in dtype else "int64")
    same(lambda T, x, y: x.clone().mul_(y), x, y, order=1, names=False)


def cubed(x):
    """A composite: several operations, each of which may save the tensor that is written."""
    return e.mul(e.mul(x, x), x)


def test_a_composite_in_place():
    cubed_ = inplace(cubed)
    assert cubed_.__name__ == "cubed_"
    for _ in range(2):  # the second time it is known to be one
        x = gradwright.tensor([1.0, 2.0], requires_grad=True)
        y = x * 1
        assert cubed_(y) is y
        assert y.tolist() == [1.0, 8.0]
        (g,) = gradwright.autograd.grad((y * y).sum(), x, create_graph=True)
        assert g.tolist() == [6.0, 192.0]  # 6 x**5
        assert gradwright.autograd.grad(g.sum(), x)[0].tolist() == [30.0, 480.0]
    with no_grad():
        assert cubed_(x).tolist() == [1.0, 8.0]


def test_in_place_forms_return_what_they_wrote(T):
    x = T.tensor([1.0, 4.0])
    y = x
    assert x.sqrt_() is x
    x *= 3
    x -= 1
    assert x is y
    assert y.tolist() == [2.0, 5.0]


def test_without_slope():
    f = without_slope(arithmetic.multiply, "y")
    x, y = (gradwright.tensor([3.0], requires_grad=True) for _ in range(2))
    assert gradwright.autograd.grad(f(x, y.detach()), x)[0].tolist() == [3.0]
    with pytest.raises(NotImplementedError, match="derivative of multiply with respect to this argument"):
        f(x, y).backward()
    assert gradwright.autograd.grad(x * y, y)[0].tolist() == [3.0]


def test_a_conversion_does_not_make_a_composite_of_an_operation():
    def graph():
        x = gradwright.ones(3, requires_grad=True) * 1
        x[0].mul_(gradwright.ones((), requires_grad=True))
        return [type(n).__name__ for n in walk([x._node])]

    before = graph()
    (gradwright.ones(3, requires_grad=True) * 1).mul_(gradwright.ones(3, dtype=gradwright.float64, requires_grad=True))
    assert graph() == before


@pytest.mark.parametrize("other", ["a", b"a", [1.0, 2.0], (1.0,)])
def test_a_sequence_times_a_tensor_is_refused_as_other_operands_are(other):
    x = gradwright.ones(2)
    for call in (lambda: x * other, lambda: other * x, lambda: gradwright.tensor(2.0) * other):
        with pytest.raises(TypeError, match=rf"multiply\(\): .* got {type(other).__name__}"):
            call()
    assert gradwright.tensor(2) * other == other * gradwright.tensor(2) == other * 2  # a whole number, as PyTorch's


def test_a_sequence_that_says_what_a_product_is_is_asked(torch):
    class Nested(tuple):
        def __rmul__(self, other):
            return Nested(other * x for x in self)

    for t in (gradwright, torch):
        x = t.tensor([1.5, 2.0])
        product = x * Nested((x, x + 1))
        assert [p.tolist() for p in product] == [[2.25, 4.0], [3.75, 6.0]]
        with pytest.raises(TypeError):
            x * (x, x)
