"""`diagnose`: the course of it, on all entries and on a grid, and what it refuses."""

import inspect
import timeit

import numpy as np
import pytest

import gradwright
from gradwright.autograd import Function, diagnose
from gradwright.verify.diagnosis import Verdict
from tests.corpus.wrong import Scale, function, signed, t


def test_the_first_derivative_must_be_right_before_the_second_is_looked_at():
    assert diagnose(Scale, (t(3), 2.5), order=2).order == 1


def test_a_second_derivative_that_is_not_there():
    class Once(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        @gradwright.autograd.function.once_differentiable
        def backward(ctx, g):
            return g * ctx.saved_tensors[0].cos()

    assert diagnose(Once, t(3)).verdict is Verdict.VERIFIED
    found = diagnose(Once, t(3), order=2)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "once_differentiable" in found.hypotheses[0].sentence


def test_what_cuts_a_second_derivative_off_is_named():
    class Detached(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0].detach().cos()

    found = diagnose(Detached, t(3), order=2)
    assert (found.verdict, found.reason, found.order) == (Verdict.INCONCLUSIVE, "second derivative", 2)
    line = inspect.getsourcelines(Detached.backward)[1] + 2
    said = f"backward cuts it off with detach()\nat {__file__}:{line}: return g * ctx.saved_tensors[0].detach().cos()"
    assert found.hypotheses[0].sentence.endswith(said)
    assert "once_differentiable" in found.settle
    assert f"        at {__file__}:{line}: return" in str(found)


class Spot(Function):
    """Right but for one entry in a thousand, and that by 1 %."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        g = 3 * g * x * x
        g[17, 23] *= 1.01
        return g


def test_large_inputs_are_sampled_and_that_is_said():
    x = t(100, 300)
    found = diagnose(lambda x: x**3, x, budget=0.2)
    assert found.verdict is Verdict.VERIFIED
    assert "compared are " in found.sampled
    assert "of 30,000 coordinates of the inputs" in found.sampled
    assert "on a grid, and random sums of all; all one by one would take about" in found.sampled
    assert found.sampled.split(",")[0] in str(found)
    assert "entries compared agree" in found.summary
    (block,) = found.blocks
    assert block.analytic.shape == (len(block.rows), len(block.columns))
    np.testing.assert_allclose(np.diag(block.analytic), 3 * x.array.reshape(-1)[block.rows] ** 2)
    assert diagnose(lambda x: x**3, t(5)).sampled == ""


def test_one_wrong_entry_of_many_is_found_though_it_is_on_no_grid():
    found = diagnose(Spot, t(100, 300), budget=0.2)
    assert found.verdict is Verdict.WRONG
    assert found.worst.index == found.worst.output_index == (17, 23)
    assert found.worst.analytic == pytest.approx(1.01 * found.worst.numeric)
    assert f"wrong at 1 of {len(found.blocks[0].rows)} entries compared" in found.summary


@pytest.mark.parametrize(("f", "shapes", "cause"), [
    (function(lambda x: x.sin(), lambda g, x: -g * x.cos()), [(200, 150)], "sign"),
    (function(lambda x: x.exp(), lambda g, x: 2 * g * x.exp()), [(200, 150)], "factor"),
    (function(lambda x, b: x + b, lambda g, x, b: (g, g[0])), [(200, 150), (150,)], "missing sum"),
    (function(lambda x, w: x @ w, lambda g, x, w: (g @ w, x.mT @ g)), [(60, 60), (60, 60)], "transpose"),
    (function(lambda x: x.flip(0), lambda g, x: g), [(20000,)], "reversed"),
    (function(lambda x, y: x * y, lambda g, x, y: (g * x, g * y)), [(20000,), (20000,)], "swapped"),
    (function(lambda x: x.abs(), lambda g, x: g * (1 - 3 * (x < 0))), [(200, 150)], "region"),
])  # fmt: skip
def test_causes_are_found_on_a_grid_too(f, shapes, cause):
    found = diagnose(f, tuple(signed(*s, seed=k) for k, s in enumerate(shapes)), budget=0.2)
    assert found.sampled
    assert found.reason == cause, str(found)


def test_second_derivatives_on_a_grid():
    found = diagnose(lambda x: x.sin() * x, t(60, 50), order=2, budget=0.2)
    assert (found.verdict, found.order) == (Verdict.VERIFIED, 2)
    assert "of 6,000 coordinates of the inputs" in found.sampled


def test_names():
    f = lambda pair, *, k=1: pair[0] * pair[1]
    x = t(3)
    assert [b.input for b in diagnose(f, ((x, t(3, seed=1)),)).blocks] == ["pair[0]", "pair[1]"]
    found = diagnose(lambda *xs: (xs[0], xs[1] * 2), (x, t(3, seed=1)), names=["a", "b"], outputs=["y", "z"])
    assert {(b.input, b.output) for b in found.blocks} == {("a", "y"), ("a", "z"), ("b", "y"), ("b", "z")}
    assert diagnose(Scale.apply, (x, 2.0)).name == "Scale"


def test_bad_arguments():
    x = t(3)
    with pytest.raises(ValueError, match="none of the inputs requires grad"):
        diagnose(lambda x: x, x.detach())
    with pytest.raises(ValueError, match="got 1 inputs but 2 names"):
        diagnose(lambda x: x, x, names=["a", "b"])
    with pytest.raises(ValueError, match="got 2 names for 1 outputs"):
        diagnose(lambda x: x * 1, x, outputs=["a", "b"])
    with pytest.raises(ValueError, match="order must be 1 or 2, got 3"):
        diagnose(lambda x: x, x, order=3)
    with pytest.raises(ZeroDivisionError):
        diagnose(lambda x: 1 // 0, x)


def test_nothing_is_left_changed():
    x = t(3, 4)
    before, version = x.array.copy(), x._version
    diagnose(lambda x: x.exp(), x, order=2)
    assert np.array_equal(x.array, before)
    assert x.grad is None
    assert x._version == version
    with gradwright.no_grad():
        assert diagnose(lambda x: x.exp(), x).verdict is Verdict.VERIFIED
        assert not gradwright.is_grad_enabled()


def test_it_is_quick():
    x = t(3, 4)
    assert min(timeit.repeat(lambda: diagnose(Scale, (x, 2.5)), number=1, repeat=3)) < 1


def test_bfloat16_is_too_coarse_and_no_error():
    found = gradwright.autograd.diagnose(lambda x: x.sin(), gradwright.tensor([0.5], dtype=gradwright.bfloat16,
                                                                              requires_grad=True))  # fmt: skip
    assert found.verdict is Verdict.INCONCLUSIVE
