"""needs_input_grad, undefined gradients, shapes and dtypes."""

import numpy as np
import pytest

import gradwright as gw
from examples.right_functions import Product
from gradwright.verify.check.battery.contract import dtype, needs_input_grad, shapes, undefined_gradients
from gradwright.verify.check.calls import Call, read
from tests.corpus.right import Double
from tests.verify.check.functions import trial, x

pytestmark = pytest.mark.filterwarnings("ignore::gradwright.GradientWarning")


class Wasteful(Product):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b, g * a


class Depends(Product):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b * (1 if all(ctx.needs_input_grad) else 2), g * a


class Fails(Product):
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        needs = [None if n else "no" for n in ctx.needs_input_grad]
        return g * b + len(needs[0] or []), (g * a).sum() * 0 + g * a if needs[1] is None else needs[2]


class Passes(Product):
    """A gradient that costs nothing need not be held back."""

    @staticmethod
    def forward(ctx, a, b):
        return a + b

    @staticmethod
    def backward(ctx, g):
        return g, g


class Two(Double):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, g, h):
        if g is None:
            return h * 4
        return g * 2 if h is None else g * 2 + h * 3


class Wide(Double):
    @staticmethod
    def forward(ctx, x):
        return (x.double() * 2).to(x.dtype)

    @staticmethod
    def backward(ctx, g):
        return g.double() * 2


class Widens(Double):
    @staticmethod
    def forward(ctx, x):
        return x.double() * 2

    @staticmethod
    def backward(ctx, g):
        return g.float() * 2


class Cancels(Double):
    @staticmethod
    def forward(ctx, x):
        return (x + 1e6) - 1e6


def test_needs_input_grad():
    assert needs_input_grad(trial(Product, x, x + 3)).outcome == "PASS"
    assert needs_input_grad(trial(Passes, x, x + 3)).outcome == "PASS"
    assert needs_input_grad(trial(Double, x)).outcome == "PASS"


def test_wasted_work_is_advice():
    finding = needs_input_grad(trial(Wasteful, x, x + 3))
    assert (finding.outcome, finding.cause) == ("ADVICE", "wasted work")
    assert "`a` and `b`" in finding.sentence


def test_needs_input_grad_dishonoured():
    for function in (Depends, Fails):
        finding = needs_input_grad(trial(function, x, x + 3))
        assert (finding.outcome, finding.cause) == ("FAIL", "needs_input_grad")


def test_undefined_gradients():
    assert undefined_gradients(trial(Double, x)).outcome == "PASS"
    finding = undefined_gradients(trial(Two, x))
    assert (finding.outcome, finding.cause) == ("FAIL", "undefined gradient")
    assert "only output 1" in finding.sentence


def test_dtype():
    assert dtype(trial(Double, x)).outcome == "PASS"
    assert dtype(trial(Wide, x)).cause == "gradient dtype"
    assert dtype(trial(Widens, x)).cause == "gradient dtype"
    assert dtype(trial(Cancels, x)).cause == "precision"
    assert dtype(trial(Double, x + 1j)).outcome == "PASS"


def test_an_operation_in_cpp_may_be_for_float64_alone():
    class Narrow(Double):
        @staticmethod
        def forward(ctx, x):
            if x.dtype != gw.float64:
                raise RuntimeError("expected scalar type Double but found Float")
            return x * 2

    assert dtype(trial(Narrow, x)).outcome == "FAIL"
    Narrow.__gradwright_place__ = "a.cpp", 1
    assert dtype(trial(Narrow, x)).outcome == "SKIPPED"


def test_shapes():
    class Unsummed(Product):
        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, g):
            return g, g

    assert shapes(trial(Unsummed, x, x)).outcome == "PASS"
    finding = shapes(trial(Unsummed, np.ones((2, 3)), x))
    assert (finding.cause, "(2, 3) for `b` of shape (3,)" in finding.sentence) == ("gradient shape", True)


def test_a_mask_that_is_drawn_is_another_in_float32():
    class Dropout(Double):
        @staticmethod
        def forward(ctx, x):
            ctx.mask = (gw.rand_like(x) > 0.5).to(x.dtype)
            return x * ctx.mask

        @staticmethod
        def backward(ctx, g):
            return g * ctx.mask

    finding = dtype(trial(Dropout, np.linspace(1, 2, 50)))
    assert (finding.outcome, finding.sentence[:6]) == ("PASS", "random")


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_what_is_wrong_in_the_low_precision_of_a_sample_alone(T, name):
    low = getattr(T, name)

    class Square(T.autograd.Function):
        wrong = low

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return (3 if x.dtype == Square.wrong else 2) * x * g

    sample = read((T.tensor(x.tolist(), dtype=low, requires_grad=True),), T)
    asked = trial(Square, x)
    asked.own = Call(sample, ("x",))
    assert dtype(asked).cause == "dtype"
    Square.wrong = None
    assert dtype(asked).outcome == "PASS"
