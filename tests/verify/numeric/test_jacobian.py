"""Jacobians both ways: against analytic truth, PyTorch's, and each other, for any dtype and layout."""

from functools import partial

import numpy as np
import pytest

import gradwright
from gradwright.verify.numeric.differences import central, extrapolated
from gradwright.verify.numeric.jacobian import (
    Subject,
    analytical,
    as_coordinates,
    coordinates,
    named,
    parameters,
    pullback,
    tensors,
    unbound,
)


def leaf(data, dtype=gradwright.float64):
    return gradwright.tensor(data, dtype=dtype, requires_grad=True)


# ---- the subject -----------------------------------------------------------------------------------------


def test_what_is_varied_and_how_it_is_called():
    a, b, c = leaf([1.0]), leaf([2.0]), leaf([3.0])

    def f(first, pair, flag, table):
        return first * pair[1] * table["c"]

    subject = Subject(f, (a, (gradwright.ones(1), b), True, {"c": c}))
    assert subject.varied == [a, b, c]
    assert subject.names == ["first", "pair[1]", "table['c']"]


class WithCtx(gradwright.autograd.Function):
    @staticmethod
    def forward(ctx, value, factor):
        return value * factor


class WithSetup(gradwright.autograd.Function):
    @staticmethod
    def forward(value, factor):
        return value * factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.factor = inputs[1]


@pytest.mark.parametrize(
    ("func", "n", "names"),
    [
        (WithCtx.apply, 2, ["value", "factor"]),
        (WithSetup.apply, 2, ["value", "factor"]),
        (lambda x, *rest: x, 3, ["x", "input 1", "input 2"]),
        (gradwright.sin, 1, None),
        (print, 1, ["input 0"]),
    ],
)
def test_names_of_parameters(func, n, names):
    found = parameters(func, n)
    assert found == names if names is not None else len(found) == n


def test_tensors_in_containers():
    a, b = leaf([1.0]), leaf([2.0])
    assert list(tensors([a, (3, {"k": b}), None])) == [a, b]
    assert [name for name, _ in named([a, {"k": b}], "x")] == ["x[0]", "x[1]['k']"]


def test_outputs_that_require_grad_or_else_all():
    x = leaf([1.0, 2.0])
    some = Subject(lambda x: (x.detach(), [x * 2], 3, None), x)
    assert some.differentiable
    assert [o.tolist() for o in some.outputs] == [[2, 4]]
    none = Subject(lambda x: (x.detach(), gradwright.arange(2)), x)
    assert not none.differentiable
    assert [o.tolist() for o in none.outputs] == [[1, 2]]


@pytest.mark.parametrize("result", [None, 3.0, "text"])
def test_a_function_that_returns_no_tensor(result):
    with pytest.raises(TypeError, match="expected a function that returns a Tensor or a tuple of them, but got"):
        Subject(lambda x: result, leaf([1.0]))


@pytest.mark.parametrize(
    ("f", "what"),
    [
        (lambda x: x[x > 1], "the same shape when inputs are perturbed, but got: shapes"),
        (lambda x: x.float() if x[0] > 1 else x, "the same dtype when inputs are perturbed, but got: dtypes"),
        (lambda x: (x, x) if x[0] <= 1 else (x,), "as many outputs when inputs are perturbed"),
    ],
)
def test_outputs_must_keep_their_form(f, what):
    x = leaf([1.0, 2.0])
    with pytest.raises(AssertionError, match=f"Expected `func` to return (outputs with )?{what}"):
        central(Subject(f, x), x, 1e-6)


# ---- both ways -------------------------------------------------------------------------------------------

FUNCTIONS = {
    "elementwise": lambda T, x: x.exp() * x,
    "reduction": lambda T, x: (x * x).sum(0),
    "product": lambda T, x: x @ x.t(),
    "view": lambda T, x: x.t()[::2],
    "several": lambda T, x: (x.sin(), x.sum()),
    "itself": lambda T, x: x,
    "unused": lambda T, x: (x * 0 + 1, x * 2),
    "complex": lambda T, x: T.complex(x.sin(), x * x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_against_pytorch(torch, name):
    data = np.linspace(0.3, 1.7, 6).reshape(2, 3)
    x = leaf(data)
    subject = Subject(lambda x: FUNCTIONS[name](gradwright, x), x)

    def as_real(x):
        result = FUNCTIONS[name](torch, x)
        many = result if isinstance(result, tuple) else (result,)
        return tuple(torch.view_as_real(o) if o.is_complex() else o for o in many)

    theirs = torch.autograd.functional.jacobian(as_real, torch.tensor(data))
    differences = central(subject, x, 1e-6).slopes
    for i, truth in enumerate(theirs):
        want = truth.reshape(-1, 6).numpy().T
        if name == "complex":
            want = want[:, ::2] + 1j * want[:, 1::2]
        np.testing.assert_allclose(analytical(subject, i).jacobians[0], want, atol=1e-14)
        np.testing.assert_allclose(differences[i], want, atol=1e-8)
        e = extrapolated(subject, x)[i]
        np.testing.assert_allclose(e.value, want, atol=1e-10)
        assert (np.abs(e.value - want) <= e.bar + 1e-15).all()
        assert (e.bar < 1e-9).all()


def test_complex_inputs_have_a_row_for_each_part():
    z = gradwright.tensor([1 + 2j, 3 - 1j], requires_grad=True, dtype=gradwright.complex128)
    subject = Subject(lambda z: z * z, z)
    by_real = np.diag([2 * (1 + 2j), 2 * (3 - 1j)])
    want = np.concatenate((by_real, 1j * by_real))  # holomorphic: by the imaginary part i times that by the real
    assert coordinates(z) == 4
    np.testing.assert_allclose(analytical(subject, 0).jacobians[0], want, atol=1e-14)
    np.testing.assert_allclose(central(subject, z, 1e-6).slopes[0], want, atol=1e-8)
    np.testing.assert_allclose(extrapolated(subject, z)[0].value, want, atol=1e-10)
    assert as_coordinates(z.array).tolist() == [1, 3, 2, -1]


def test_columns_and_rows():
    x = leaf([1.0, 2.0, 3.0])
    subject = Subject(lambda x: x**3, x)
    assert analytical(subject, 0, columns=[2, 0]).jacobians[0].tolist() == [[0, 3], [0, 0], [27, 0]]
    np.testing.assert_allclose(central(subject, x, 1e-6, rows=[1]).slopes[0], [[0, 12, 0]], atol=1e-8)


def test_gradients_of_other_shapes_and_dtypes_are_noted():
    @gradwright.op(kind="general")
    def double(xp, x):
        """2 x."""
        return x * 2

    x = leaf([1.0, 2.0])
    double.vjp(x=lambda xp, g: xp.astype(g * 2, xp.float32))
    found = analytical(Subject(double, x), 0)
    assert {d.name for d in found.dtypes[0]} == {"float32"}
    assert found.misshapen == [None]


def test_one_pass_with_any_cotangents():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    subject = Subject(lambda x, y: (x * y, x.sum()), (x, y))
    by_x, by_y = pullback(subject, [np.array([1.0, 10.0]), np.array(5.0)])
    assert by_x.tolist() == [8, 45]
    assert by_y.tolist() == [1, 20]
    by_x, by_y = pullback(subject, [None, np.array(5.0)])
    assert by_x.tolist() == [5, 5]
    assert by_y is None


def test_values_may_be_computed_for_less_if_they_are_the_same():
    x = gradwright.tensor([1.0, 2.0], dtype=gradwright.float64, requires_grad=True)
    calls = []

    def quick(x):
        calls.append(1)
        return x.detach() * 2

    f = lambda x: x * 2
    f.for_values = quick
    subject = Subject(f, x)
    assert subject.values()[0].tolist() == [2, 4]
    assert (len(calls), subject.sampled) == (2, quick)
    f = lambda x: x * 3
    f.for_values = quick
    subject = Subject(f, x)
    assert subject.values()[0].tolist() == [3, 6]
    assert subject.sampled is f


def test_keywords_are_taken_out():
    assert unbound(partial(print, end=""), {"sep": "-"}) == (print, {"end": "", "sep": "-"})


def test_what_has_positional_arguments_stays():
    bound = partial(print, 1)
    assert unbound(bound, {}) == (bound, {})
    assert unbound(print, {}) == (print, {})
