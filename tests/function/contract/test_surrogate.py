"""Gradients that are declared to be no derivatives: what is declared is on the nodes, and checkers report it."""

import pytest

import gradwright as gw
from gradwright.autograd import Function, diagnose, gradcheck
from gradwright.engine.backward import walk
from gradwright.function.contract.once_differentiable import once_differentiable
from gradwright.function.contract.surrogate import reasons, surrogate
from gradwright.verify.diagnosis import Verdict
from tests.functions import leaf


def on_class():
    @surrogate("straight-through")
    class Round(Function):
        @staticmethod
        def forward(ctx, x):
            return x.round()

        @staticmethod
        def backward(ctx, g):
            return g

    return Round


def on_backward():
    class Round(Function):
        @staticmethod
        def forward(ctx, x):
            return x.round()

        @staticmethod
        @surrogate("straight-through")
        @once_differentiable
        def backward(ctx, g):
            return g

    return Round


def on_vjp_from_outside():
    class Round(Function):
        @staticmethod
        def forward(ctx, x):
            return x.round()

        @surrogate("straight-through")
        @staticmethod
        def vjp(ctx, g):
            return g

    return Round


def inherited():
    class Other(on_class()):
        """Another name."""

    return Other


WAYS = [on_class, on_backward, on_vjp_from_outside, inherited]


@pytest.mark.parametrize("declare", WAYS)
def test_the_reason_is_on_the_node(declare):
    y = declare().apply(leaf(0.3))
    assert y.grad_fn.surrogate == "straight-through"
    name = y.grad_fn.name()
    assert reasons(walk([(y * 2)._node])) == {name: "straight-through"}
    y.backward()


@pytest.mark.parametrize("declare", WAYS)
def test_checkers_report_it(declare):
    F = declare()
    x = leaf(0.3, 1.2)
    with pytest.warns(gw.GradientWarning, match=r"SURROGATE: \w+Backward \(straight-through\) is declared to be no"):
        assert gradcheck(F.apply, x)
    found = diagnose(F, x)
    assert found.verdict is Verdict.SURROGATE
    assert "is declared to be no derivative: straight-through" in str(found)
    assert "worst entry" not in str(found)


def test_an_undeclared_one_is_wrong():
    class Round(Function):
        @staticmethod
        def forward(ctx, x):
            return x.round()

        @staticmethod
        def backward(ctx, g):
            return g

    assert not hasattr(Round.apply(leaf(0.3)).grad_fn, "surrogate")
    assert not gradcheck(Round.apply, leaf(0.3), raise_exception=False)
    assert diagnose(Round, leaf(0.3, 1.2)).verdict is Verdict.WRONG


def test_clipping_and_reversal_are_surrogates_too():
    for gradient in (lambda g: g.clamp(-0.1, 0.1), lambda g: -g):

        class F(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1

            @staticmethod
            @surrogate("meant")
            def backward(ctx, g, gradient=gradient):
                return gradient(g)

        assert diagnose(F, leaf(0.3, 1.2)).verdict is Verdict.SURROGATE


def test_it_shows_in_a_whole_program():
    F = on_class()
    with pytest.warns(gw.GradientWarning, match="SURROGATE: RoundBackward"):
        assert gradcheck(lambda x: F.apply(x * 2).sum(), leaf(0.3, 1.2))


def bad(forward=lambda x: x.round(), backward=lambda g: g):
    @surrogate("straight-through")
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return forward(x)

        @staticmethod
        def backward(ctx, g):
            return backward(g)

    return F


def test_determinism_is_checked_all_the_same():
    calls = []

    def noisy(t):
        calls.append(1)
        return t * (1 + len(calls))

    with pytest.raises(gw.GradcheckError, match="Backward is not reentrant"):
        gradcheck(bad(backward=noisy).apply, leaf(0.3, 1.2))
    with pytest.raises(gw.GradcheckError, match="the function is not deterministic: output 0"):
        gradcheck(bad(forward=noisy).apply, leaf(0.3, 1.2))
    assert diagnose(bad(backward=noisy), leaf(0.3, 1.2)).verdict is Verdict.WRONG


def test_shapes_are_checked_all_the_same():
    F = bad(backward=lambda g: g.reshape(1, -1).repeat(2, 1))
    assert diagnose(F, leaf(0.3, 1.2)).verdict is Verdict.WRONG
    with pytest.raises(RuntimeError, match="invalid gradient at index 0"):
        gradcheck(bad(backward=lambda g: g.sum().reshape(1, 1).repeat(3, 1)[:, 0]).apply, leaf(0.3, 1.2))


def test_ctx_may_have_an_attribute_of_that_name():
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.surrogate = x * 2
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g * ctx.surrogate

    y = F.apply(leaf(3.0))
    assert y.grad_fn.surrogate.item() == 6
    assert reasons([y.grad_fn]) == {}


def test_an_attribute_of_that_name_declares_nothing():
    class OfTheClass(Function):
        surrogate = "atan"

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * g * x.detach()

    class OfTheContext(OfTheClass):
        surrogate = None

        @staticmethod
        def forward(ctx, x):
            ctx.surrogate = "atan"
            return OfTheClass.forward(ctx, x)

    for F in (OfTheClass, OfTheContext):
        x = leaf(0.3, 1.2)
        assert reasons([F.apply(x).grad_fn]) == {}
        (g,) = gw.autograd.grad(F.apply(x).sum(), x, create_graph=True)
        with pytest.raises(gw.errors.CutError, match="cut the gradient off with detach"):
            g.sum().backward()


@pytest.mark.parametrize("reason", [None, "", 3, lambda ctx, g: g])
def test_a_reason_is_required(reason):
    with pytest.raises(TypeError, match="surrogate: expected the reason, in words"):
        surrogate(reason)


@pytest.mark.parametrize("what", [3, int, "text"])
def test_only_what_has_a_gradient_can_be_declared(what):
    with pytest.raises(TypeError, match="surrogate: expected a Function, a backward or a custom_op"):
        surrogate("meant")(what)
