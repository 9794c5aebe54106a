"""The hypotheses of behaviour.py."""

import gradwright
from gradwright.verify.diagnosis import behaviour
from tests.corpus.wrong import function, t
from tests.verify.diagnosis.fits import Hypotheses, context


class TestBehaviour(Hypotheses):
    module = behaviour


def test_a_gradient_of_nan_does_not_ignore_its_cotangent():
    c = context(function(lambda x: x * x, lambda g, x: g * float("nan")), (t(3),))
    assert behaviour.cotangent(c.residuals[0], c) is None


def test_random_numbers_of_backward_are_not_taken_for_stale_state():
    def dropout(x):
        gradwright.manual_seed(3)  # so that forward is the same every time
        return x * (gradwright.rand(x.shape) > 0.4)

    def backward(g, x):
        return g * (gradwright.rand(g.shape) > 0.4)

    found = gradwright.autograd.diagnose(function(dropout, backward), t(4, 3))
    assert found.reason == "non-determinism"
    assert "backward draws random numbers" in found.hypotheses[0].sentence
    assert "stale state" not in [h.name for h in found.hypotheses]


def test_the_engines_own_derivative_of_forward_finds_what_differences_do_not():
    class Nearly(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * x * x * (3 + 1e-9)

    found = gradwright.autograd.diagnose(Nearly, t(4))
    assert (found.verdict, found.reason, found.hypotheses[0].argument) == ("WRONG", "small error", "x")
    assert "off from the engine's own derivative of forward by 3.3e-10" in found.hypotheses[0].sentence
    assert gradwright.autograd.diagnose(lambda x: Nearly.apply(x), t(4)).witness == ""
    assert gradwright.autograd.gradcheck(Nearly.apply, t(4))


def test_what_rounding_left_of_terms_that_cancel_is_linear_enough():
    """A correlation of two observations is 1 or -1, whatever they are."""
    x = gradwright.tensor([[0.3, -1.2], [0.9, 1.1], [2.0, 0.4]], dtype=gradwright.float64, requires_grad=True)
    assert gradwright.autograd.diagnose(gradwright.corrcoef, x).verdict == "VERIFIED"


def test_rounding_to_a_shorter_dtype_is_no_matter_of_grad_output():
    half = lambda g, x: (g.half() * (2 * x).half()).to(x.dtype)
    found = gradwright.autograd.diagnose(function(lambda x: x * x, half), t(5))
    assert (found.verdict, found.reason) == ("WRONG", "small error")


def test_a_clamped_gradient_of_a_flat_forward_is_a_surrogate():
    found = gradwright.autograd.diagnose(function(lambda x: x.sign(), lambda g, x: g.clamp(-1, 1)), t(5))
    assert found.reason == "surrogate"
