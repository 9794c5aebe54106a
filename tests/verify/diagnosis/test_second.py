"""Second derivatives that take something for a constant."""

import types

import numpy as np
import pytest

import gradwright
from gradwright.autograd import Function, diagnose
from gradwright.verify.diagnosis import second
from gradwright.verify.diagnosis.case import Case
from gradwright.verify.diagnosis.examination import second as gradients
from gradwright.verify.diagnosis.measure import measure
from tests.corpus.right import Sinh
from tests.corpus.wrong import WRONG, t


class Saves(Function):
    """Saves a value that is neither an input nor an output."""

    @staticmethod
    def forward(ctx, x, w):
        squares = x * x
        ctx.save_for_backward(w, squares)
        return squares * x * w

    @staticmethod
    def backward(ctx, g):
        w, squares = ctx.saved_tensors
        return 3 * g * squares * w, None


@pytest.mark.parametrize(("f", "inputs"), [(Sinh, (t(3),)), (Saves, (t(3), t(3).detach()))])
def test_an_intermediate_is_named_or_seen_through(f, inputs):
    assert diagnose(f, inputs).verdict == "VERIFIED"
    found = diagnose(f, inputs, order=2)
    if found.verdict != "VERIFIED":  # where forward is not run again for the second derivative
        assert found.reason == "second derivative", str(found)


@pytest.mark.parametrize("name", ["ctx.up", "ctx.down"])
def test_the_part_through_an_intermediate(name):
    """Of d/dx g (e^x + e^-x) / 2 the half that goes through one of the two."""
    x = t(3)
    first = Case(Sinh, x)
    r = measure(gradients(first))[0][0]
    part = second._through(first, name, 0, (gradwright.ones(3, dtype=gradwright.float64),), r)
    sign = 1 if name == "ctx.up" else -1
    np.testing.assert_allclose(part, np.diag(sign * np.exp(sign * x.array) / 2), atol=1e-8)


def test_only_intermediates_are_suspected():
    assert second._intermediates(Case(Sinh, t(3))) == ["ctx.up", "ctx.down"]
    assert second._intermediates(Case(Saves, (t(3), t(3)))) == ["ctx.saved_tensors[1]"]


def test_the_second_derivative_as_a_function():
    x = t(3)
    case = gradients(Case(lambda x: x**3, x))
    assert case.names == ["x", "cotangent of out"]
    assert [c.name for c in case.columns] == ["gradient of x"]
    assert types.SimpleNamespace(values=case.values()).values[0].shape == (3,)


def test_a_gradient_that_is_cut_off_beside_one_that_is_not():
    class HalfCut(Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            return x.sin() * w

        @staticmethod
        def backward(ctx, g):
            x, w = ctx.saved_tensors
            return g * x.cos() * w, gradwright.tensor(g.array * np.sin(x.array))

    found = diagnose(HalfCut, (t(3), t(3)), order=2)
    assert found.verdict == "WRONG"
    assert found.worst.output == "gradient of w"
    assert WRONG["second derivative: cut off"].cause in {h.name for h in found.hypotheses}


@pytest.mark.parametrize("dtype", [gradwright.float32, gradwright.float64, gradwright.float16], ids=str)
@pytest.mark.parametrize("f", [gradwright.tanh, gradwright.sigmoid, gradwright.erf, lambda x: x.tanh().sum(),
                               lambda x: (1 - x.tanh() ** 2)],
                         ids=["tanh", "sigmoid", "erf", "sum", "slope"])  # fmt: skip
def test_what_is_saturated_is_not_called_wrong(f, dtype):
    for values in ([10.0], [5.0], [20.0], [-10.0], [8.0], [3.0, 10.0], [0.3, 15.0], [6.0, 7.0, 8.0, 9.0], [100.0]):
        x = gradwright.tensor(values, dtype=dtype, requires_grad=True)
        for order in (1, 2):
            d = gradwright.autograd.diagnose(f, x, order=order)
            assert d.verdict != "WRONG", (values, order, str(d))
