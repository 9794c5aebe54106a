"""Box proofs: the bound holds at points in the box, wrong rules are disproved, kinks are named."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradwright as gw
from gradwright.op import op
from gradwright.verify import prove, prove_on
from gradwright.verify.proof.box import lines, units
from gradwright.verify.proof.point import DISPROVED, NOT_PROVED, PROVED


def test_tanh_by_the_mean_value_form():
    found = prove_on(gw.tanh, (-2.0, 2.0), order=1, boxes=2000, goal=0.0)
    assert found.status == PROVED
    assert found.boxes == 2000
    assert 1e-5 < found.bound < 2.5e-5


def test_higher_orders_do_better():
    bounds = [prove_on(gw.tanh, (-2.0, 2.0), order=n, boxes=256, goal=0.0).bound for n in (1, 2, 4, 8)]
    assert all(a > 20 * b for a, b in pairwise(bounds))
    assert prove_on(gw.tanh, (-2.0, 2.0)).bound < 1e-12


def off(error):
    @op(kind="elementwise")
    def cube(xp, x):
        """A third power whose derivative is off by ``error`` times its own size."""
        return x * x * x

    return cube.vjp(x=lambda xp, g, x: g * 3 * x * x * (1 + error))


@pytest.mark.parametrize("error", [1.0, -1e-3, 1e-9])
def test_wrong_rules_are_disproved(error):
    found = prove_on(off(error), (-1.0, 2.0))
    assert found.status == DISPROVED
    assert 0 < found.least <= 12 * abs(error) * (1 + 1e-6)


def test_the_bound_is_no_smaller_than_an_error_that_is_there():
    tiny = 2.0**-51  # as small as one of a constant that is only a double
    found = prove_on(off(tiny), (1.0, 2.0), goal=1e-15)
    assert found.status == PROVED
    assert found.doubles
    assert found.bound >= 12 * tiny * (1 - 1e-9)


@pytest.mark.parametrize(("f", "at"), [(gw.relu, 0.0), (gw.abs, 0.0), (lambda x: gw.clamp(x, -9.0, 0.25), 0.25)])
def test_kinks_are_named_and_left_out(f, at):
    found = prove_on(f, (-1.0, 1.0))
    assert found.status == PROVED
    assert found.bound == 0.0
    (place,) = found.left
    low, high = (float(word.strip("[], ")) for word in place.split()[1:3])
    assert low <= at <= high
    assert high - low < 1e-3
    assert "is open" in place


def test_poles_are_named_and_left_out():
    (place,) = prove_on(gw.sqrt, (0.0, 1.0), boxes=300).left
    assert "pole" in place
    assert place.startswith("on [0, ")


def test_two_numbers():
    assert prove_on(gw.mul, (-1.0, 2.0), (0.0, 3.0)).bound == 0.0
    smooth = prove_on(gw.hypot, (1.0, 1.5), (1.0, 1.5), boxes=20, goal=1e-6)
    assert smooth.status == PROVED
    assert smooth.bound < 1e-3
    assert prove_on(gw.maximum, (0.0, 1.0), (0.0, 1.0), boxes=20).left[0].endswith("is open")


def test_arrays_and_other_arguments():
    low = np.array([0.0, 0.5])
    found = prove_on(lambda x, k: (x * x).sum() * k, (low, low + 0.1), 2.0, boxes=50)
    assert found.status == PROVED
    assert found.bound < 1e-20


@pytest.mark.parametrize(("f", "box", "words"), [
    (lambda x: gw.from_numpy(np.sin(x.numpy())), (0.0, 1.0), "reads numbers"),
    (gw.floor, (0.0, 3.0), "at a jump"),
    (lambda x: x / (x - x), (0.0, 1.0), "pole"),
    (lambda x: gw.exp(20 * x), (0.0, 5.0), "the bound is"),
])  # fmt: skip
def test_what_is_not_proved_says_why(f, box, words):
    found = prove_on(f, box, boxes=3, goal=0.0)
    assert found.status == NOT_PROVED
    assert words in found.reason


NOT_LINEAR = {
    "without g": lambda g: 0 * g + 1,
    "squared": lambda g: g * g,
    "halfway": lambda g: (g + 1) / 2,
    "a cube": lambda g: g + 1e-30 * g * g * g,
    "its size": lambda g: g.abs() if hasattr(g, "abs") else abs(g),
    "a root": lambda g: (g * g) ** 0.5,
    "its part": lambda g: gw.relu(g),
    "capped": lambda g: g.clamp(-1e30, 1e30),
    "a saturation": lambda g: gw.tanh(g) / gw.tanh(gw.ones_like(g)),
    "a wave": lambda g: gw.sin(6.283185307179586 * g) / 10 + g,
    "at one": lambda g: gw.where(g == 1, g, 2 * g),
    "at zero": lambda g: gw.where(g == 0, g + 1, g),
    "an offset": lambda g: g + (g - 1) * 1e-3,
}


def statuses(cotangent, forward, slope, box):
    """Of a Function whose backward takes the cotangent so: on a box of one number, on one of two, at a point."""

    class Ruled(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return forward(x)

        @staticmethod
        def backward(ctx, g):
            return cotangent(g) * slope(ctx.saved_tensors[0])

    two = prove_on(lambda x: Ruled.apply(x).sum(), (np.full(2, box[0]), np.full(2, box[1])), boxes=8)
    return {found.status for found in (prove_on(Ruled, box), two, prove(Ruled, gw.tensor([box[1]], dtype=gw.float64)))}


@pytest.mark.parametrize(("forward", "slope"), [(gw.sin, gw.cos), (lambda x: x * x, lambda x: 2 * x)])
@pytest.mark.parametrize("box", [(-1.0, 1.0), (0.25, 0.5)])
def test_what_is_right_for_cotangent_1_alone_is_not_proved(forward, slope, box):
    assert statuses(lambda g: g, forward, slope, box) == {PROVED}
    for name, cotangent in NOT_LINEAR.items():
        assert PROVED not in statuses(cotangent, forward, slope, box), name


@pytest.mark.parametrize("f", [gw.xlogy, gw.special.xlog1py, gw.mul])
def test_what_is_linear_is_proved_though_it_decides_on_the_cotangent_at_zero(f):
    assert prove_on(f, (0.5, 1.0), (0.5, 1.0), boxes=30)


def ruled(slope):
    @op(kind="elementwise")
    def sine(xp, x):
        """A sine."""
        return xp.sin(x)

    return sine.vjp(x=slope)


@pytest.mark.parametrize("slope", [
    lambda xp, g, x: xp.where(x > 0, g * xp.cos(x), g / (x - x)),
    lambda xp, g, x: xp.where(x > 0.9, g / (0.0 * x), g * xp.cos(x)),
    lambda xp, g, x: g * xp.cos(x) * xp.sqrt(x) / xp.sqrt(x),
])  # fmt: skip
def test_a_rule_that_is_infinite_on_a_part_is_not_proved(slope):
    found = prove_on(ruled(slope), (-1.0, 1.0), boxes=200)
    assert found.status == NOT_PROVED
    assert found.bound is None
    assert "within what is left" in found.reason


def test_bad_boxes_are_refused():
    with pytest.raises(ValueError, match="low <= high"):
        prove_on(gw.tanh, (2.0, 1.0))
    with pytest.raises(ValueError, match="expected a box"):
        prove_on(gw.tanh, gw.ones(2))


def test_one_variable_has_one_direction():
    assert lines(1, 8) == ([(1.0,)], 1.0)
    assert units(2) == [(1.0, 0.0), (0.0, 1.0)]


@pytest.mark.parametrize(("variables", "order"), [(2, 4), (2, 1), (3, 2)])
def test_directions_reach_the_sides_of_the_box(variables, order):
    found, factor = lines(variables, order)
    assert all(max(map(abs, d)) == 1.0 for d in found)
    assert 1.0 <= factor < 10.0


@given(st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_a_polynomial_is_nowhere_larger_than_the_factor_times_that_along_them(degree, seed):
    generator = np.random.default_rng(seed)
    powers = [p for p in product(range(degree + 1), repeat=2) if sum(p) == degree]
    weights = generator.normal(size=len(powers))

    def value(d):
        return abs(sum(w * np.prod(np.power(d, p)) for w, p in zip(weights, powers, strict=True)))

    found, factor = lines(2, 4)
    largest = max(map(value, found))
    assert all(value(d) <= factor * largest * (1 + 1e-12) for d in generator.uniform(-1, 1, (50, 2)))
