"""Rules that write where they belong: the same numbers as the rule itself, without an array more than said."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradwright import native
from gradwright.backends.in_place import InPlace
from gradwright.backends.numpy import namespace
from gradwright.base.cpython.at_once import at_once

ARRAYS = ("p", "g", "m")


def check(rule, arrays=ARRAYS, **numbers):
    """Run a rule both ways; returns what was made of it."""
    draw = np.random.default_rng(0).standard_normal
    before = {name: draw(7).astype("float32") for name in arrays}
    expected = before | rule(namespace, **before, **{name: np.float32(x) for name, x in numbers.items()})
    made = InPlace(rule, arrays, tuple(numbers))
    after = {name: x.copy() for name, x in before.items()}
    spares = [np.full(7, np.nan, "float32") for _ in range(made.spares)]
    at_once(made.calls(np.dtype("float32"), *numbers.values())(*after.values(), *spares))
    for name in arrays:
        np.testing.assert_allclose(after[name], expected[name], rtol=1e-6, err_msg=made.text)
    in_c(made, before, after, numbers)
    return made


def in_c(made, before, after, numbers):
    """The core's form of the calls makes the same of the arrays, to the bit."""
    form = made.update(np.dtype("float32"), *numbers.values())
    assert (form is None) == (native.core is None)
    if form:
        p, g, *state = (x.copy() for x in before.values())
        form[0]([(p, *state)], [g], form[1])
        assert [x.tobytes() for x in (p, *state)] == [after[name].tobytes() for name in after if name != "g"]


def test_the_place_that_is_replaced_is_written():
    made = check(lambda xp, p, g, m, lr: {"p": p - lr * (0.5 * m + g), "m": 0.5 * m + g}, lr=0.1)
    assert made.spares == 1
    assert "(subtract, p, s0, p)" in made.text


def test_an_array_is_not_written_while_its_old_entries_are_needed():
    check(lambda xp, p, g, m: {"m": m + p, "p": m - g})
    check(lambda xp, p, g, m: {"p": p * g, "m": (m - p) * (m + p)})
    check(lambda xp, p, g, m: {"p": (p - g) / (m * p), "m": xp.sqrt(xp.abs(p))})


def test_arrays_that_change_places():
    check(lambda xp, p, g, m: {"p": m, "m": p})
    check(lambda xp, p, g, m: {"p": g, "m": g})
    check(lambda xp, p, g, m: {"p": p + g, "m": p})
    check(lambda xp, p, g, m: {"p": -g, "m": p + p})


def test_one_result_for_two_places():
    def rule(xp, p, g, m):
        both = p + g
        return {"p": both, "m": both}

    check(rule)


def test_functions_that_cannot_write():
    check(lambda xp, p, g, m: {"p": xp.where(g > 0, p, 0.0) + xp.where(m < 0.5, g, m)})
    check(lambda xp, p, g, m: {"p": xp.where(p > 0, g, p), "m": xp.where(m < 0.5, m, xp.where(p > 0, m, p))})
    check(lambda xp, p, g, m, n: {"p": p + xp.where(n > 2, g, 1.0)}, n=3.0)
    check(lambda xp, p, g, m, n: {"p": p + xp.where(n > 2, g, 1.0)}, n=1.0)


def test_numbers_are_computed_in_full():
    """1 - beta would have lost four digits in float32."""
    made = InPlace(lambda xp, p, g, beta: {"p": (1 - beta) * g}, ("p", "g"), ("beta",))
    p, g = np.ones((2, 3), "float32")
    at_once(made.calls(p.dtype, 0.99999)(p, g, *[np.empty_like(p)] * made.spares))
    np.testing.assert_allclose(p, 1e-5, rtol=1e-7)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from(["add", "maximum", "subtract"])),
                min_size=1, max_size=8), st.lists(st.integers(0, 10), min_size=2, max_size=2))  # fmt: skip
def test_any_rule(steps, outs):
    def rule(xp, p, g, m):
        values = [p, g, m]
        for i, j, name in steps:
            values.append(getattr(xp, name)(values[i % len(values)], values[j % len(values)]))
        return {"p": values[outs[0] % len(values)], "m": values[outs[1] % len(values)]}

    check(rule)


def test_a_branch_on_a_value_fails():
    with pytest.raises(TypeError):
        InPlace(lambda xp, p, g: {"p": p if float(g) else g}, ("p", "g"), ())
