"""The verdicts: what is right is VERIFIED, what cannot be judged INCONCLUSIVE, and a wrong factor is always found."""

from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradwright
from gradwright.autograd import diagnose
from gradwright.verify.diagnosis import Verdict
from tests.corpus.right import RIGHT, UNSETTLED
from tests.corpus.wrong import function, t
from tests.thorough import WHOLE


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_verified(name, order):
    f, inputs = RIGHT[name]
    found = diagnose(f, inputs, order=order)
    assert found.verdict is Verdict.VERIFIED, str(found)
    assert found.hypotheses == ()
    assert found.order == order


@pytest.mark.parametrize("name", UNSETTLED)
def test_what_cannot_be_judged_is_inconclusive(name):
    f, inputs, cause = UNSETTLED[name]
    found = diagnose(f, inputs)
    assert found.verdict is Verdict.INCONCLUSIVE, str(found)
    assert found.reason == cause, str(found)
    assert found.settle == found.hypotheses[0].mend
    assert f"INCONCLUSIVE: the gradient of {found.name} ({cause})" in str(found)


def test_a_kink_shows_the_slopes_to_both_sides():
    x = gradwright.tensor([1.0, 0.0], dtype=gradwright.float64, requires_grad=True)
    (kink,) = diagnose(lambda x: gradwright.where(x > 0, 3 * x, -0.5 * x), x).hypotheses
    assert "kink at `x[1]`: the slope is -0.5 to the left and 3 to the right" in kink.sentence


def test_what_is_wrong_beside_a_kink_is_wrong():
    relu = function(lambda x: x.relu(), lambda g, x: 2 * g * (x > 0))
    x = gradwright.tensor([1.0, 0.0, -1.0], dtype=gradwright.float64, requires_grad=True)
    found = diagnose(relu, x)
    assert found.verdict is Verdict.WRONG
    assert found.reason == "factor"
    assert found.worst.index == (0,)


def test_worst_entry_is_named_and_placed():
    wrong = function(lambda left, right: left @ right, lambda g, left, right: (g @ right.mT, left.mT @ g * mask))
    mask = gradwright.ones(4, 2, dtype=gradwright.float64)
    mask[2, 1] = 1.25
    found = diagnose(wrong, (t(3, 4), t(4, 2)))
    worst = found.worst
    assert (worst.input, worst.index, worst.output) == ("right", (2, 1), "out")
    assert worst.output_index[1] == 1
    assert worst.analytic == pytest.approx(1.25 * worst.numeric)
    assert found.error == pytest.approx(0.25 * worst.numeric)
    assert found.bar == worst.bar < 1e-6
    np.testing.assert_allclose(found.ladder, worst.numeric, rtol=1e-6)


# ---- random functions, with derivatives known on paper -----------------------------------------------------

PIECES = {  # of x and a number: the function and its derivative
    "a * x": (lambda x, a: a * x, lambda x, a: a + 0 * x),
    "x ** 2 + a": (lambda x, a: x * x + a, lambda x, a: 2 * x),
    "sin(a x)": (lambda x, a: (a * x).sin(), lambda x, a: a * (a * x).cos()),
    "exp(a x / 4)": (lambda x, a: (a * x / 4).exp(), lambda x, a: (a * x / 4).exp() * a / 4),
    "tanh": (lambda x, a: x.tanh(), lambda x, a: 1 - x.tanh() ** 2),
    "log(x ** 2 + 1)": (lambda x, a: (x * x + 1).log(), lambda x, a: 2 * x / (x * x + 1)),
    "1 / (x ** 2 + a ** 2)": (lambda x, a: 1 / (x * x + a * a), lambda x, a: -2 * x / (x * x + a * a) ** 2),
}
pieces = st.lists(st.tuples(st.sampled_from(sorted(PIECES)), st.floats(0.5, 2).map(lambda a: round(a, 3))), min_size=1,
                  max_size=3)
shapes = st.sampled_from([(), (1,), (4,), (2, 3)])


def chain(some, k, mixed, factor=1.0):
    """A Function that applies pieces one after another, then perhaps mixes all entries; backward is ``factor`` off."""

    def forward(x, k):
        y = reduce(lambda y, p: PIECES[p[0]][0](y, p[1]), some, x)
        return y.sum() * y if mixed else y

    def backward(g, x, k):
        y, slope = x, 1.0
        for name, a in some:
            slope, y = slope * PIECES[name][1](y, a), PIECES[name][0](y, a)
        g = (g * y).sum() + g * y.sum() if mixed else g
        return g * slope * factor, None

    return function(forward, backward)


def point(shape, seed, dtype):
    random = np.random.default_rng(seed)  # well away from 0, where 1 + x ** 2 swallows x
    values = random.uniform(0.7, 1.5, shape) * random.choice([-1.0, 1.0], shape)
    return gradwright.tensor(values, dtype=dtype, requires_grad=True)


dtypes = st.sampled_from([gradwright.float64, gradwright.float32])


@settings(max_examples=60 if WHOLE else 12)
@given(some=pieces, shape=shapes, seed=st.integers(0, 1000), dtype=dtypes, mixed=st.booleans(),
       order=st.sampled_from([1, 2]))
def test_a_right_function_is_never_called_wrong(some, shape, seed, dtype, mixed, order):
    found = diagnose(chain(some, 1.5, mixed), (point(shape, seed, dtype), 1.5), order=order)
    assert found.verdict is not Verdict.WRONG, str(found)
    if dtype is gradwright.float64:
        assert found.verdict is Verdict.VERIFIED, str(found)


@settings(max_examples=60 if WHOLE else 12)
@given(some=pieces, shape=shapes, seed=st.integers(0, 1000), mixed=st.booleans(),
       k=st.sampled_from([0.5, 1.01, 3.25, 10.0]))
def test_a_wrong_factor_is_always_found(some, shape, seed, mixed, k):
    found = diagnose(chain(some, k, mixed, factor=k), (point(shape, seed, gradwright.float64), k))
    assert found.verdict is Verdict.WRONG, str(found)
    assert found.reason == "factor", str(found)
    assert "= `k`" in found.hypotheses[0].sentence, str(found)
