"""The checks must be able to fail: each kind of mistake in a derivative is found, at the order where it is made."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright import backends
from gradwright.backends import strict
from gradwright.op import A, Op, Rule, Sample, op, table
from gradwright.verify.testing import check_derivatives, check_passes, check_portable

NUMPY = backends.namespace(np.zeros(()))
SAMPLE = Sample(A(2, 3, low=0.5))


def cube(slope: Any) -> Op:
    @op(kind="elementwise", samples=[SAMPLE])
    def cube(xp, x):
        return x * x * x

    return cube.vjp(x=slope)


def test_a_right_derivative_passes() -> None:
    check_derivatives(cube(lambda xp, g, x: g * (3 * x * x)), SAMPLE)


@pytest.mark.parametrize(
    "slope",
    [lambda xp, g, x: g * (2 * x * x), lambda xp, g, x: -g * (3 * x * x), lambda xp, g, x: g * (3.001 * x * x),
     lambda xp, g, x: 3 * x * x, lambda xp, g, x: g * g * (3 * x * x)],
    ids=["factor", "sign", "a thousandth", "without g", "not linear in g"],
)  # fmt: skip
def test_a_wrong_derivative_is_found(slope: Any) -> None:
    with pytest.raises(AssertionError, match=r"cube\(\(2, 3\)\): .* order 1 with respect to input 0 \(x\), entry"):
        check_derivatives(cube(slope), SAMPLE)


def test_a_derivative_that_cannot_be_differentiated_is_found() -> None:
    def slope(xp: Any, g: Any, x: Any) -> Any:
        plain = x.detach() if hasattr(x, "detach") else x
        return g * (3 * plain * plain)

    check_derivatives(cube(slope), SAMPLE, order=1)
    with pytest.raises(AssertionError, match="derivative of order 2"):
        check_derivatives(cube(slope), SAMPLE)


def test_a_wrong_third_derivative_is_found() -> None:
    @op(samples=[SAMPLE])
    def fifth(xp, x):
        return x * x * x * x * x / 5

    def bent(xp: Any, g: Any, x: Any) -> Any:
        if not hasattr(x, "detach"):
            return g * (x * x * x * x)
        y = x.detach()  # right to second order, wrong at the third
        return g * (y * y * y * y + 4 * y * y * y * (x - y))

    fifth.vjp(x=bent)
    check_derivatives(fifth, SAMPLE, order=2)
    with pytest.raises(AssertionError, match="derivative of order 3"):
        check_derivatives(fifth, SAMPLE)


FLAT = {
    "sign", "floor", "ceil", "round", "trunc", "floor_divide", "trunc_divide", ("copysign", "y"), ("nextafter", "y"),
}  # fmt: skip


SLOPES = [(n, a) for n, o in table.items() for a in o.rules if not FLAT & {n, (n, a)}]


@pytest.mark.parametrize(("name", "argument"), SLOPES)
def test_a_thousandth_too_much_in_any_formula_is_found(name: str, argument: str) -> None:
    right = table[name]
    rule = right.rules[argument]
    wrong = Rule(lambda xp, g, *saved: rule.fn(xp, g, *saved) * 1.001, rule.names)
    changed = replace(right, rules=right.rules | {argument: wrong})
    with pytest.raises(AssertionError, match=f"{name}.*order 1"):
        check_derivatives(changed, right.samples[-1 if argument == "along" else 0], order=1)


def test_passes_that_differ_are_found() -> None:
    def slope(xp: Any, g: Any, x: Any) -> Any:
        return g * (3 * x * x) if xp is gradwright.xp else g

    with pytest.raises(AssertionError, match="cube"):
        check_passes(cube(slope), SAMPLE)


def test_leaving_the_library_is_found() -> None:
    def slope(xp: Any, g: Any, x: Any) -> Any:
        return np.asarray(getattr(g, "array", g)) * 3.0

    with pytest.raises((AssertionError, TypeError, AttributeError)):
        check_portable(cube(slope), SAMPLE, strict.namespace)


def test_what_the_standard_lacks_is_found() -> None:
    @op(samples=[SAMPLE])
    def cuberoot(xp, x):
        return xp.cbrt(x)

    with pytest.raises(AttributeError, match="cbrt"):
        check_portable(cuberoot, SAMPLE, strict.namespace)


def test_widening_is_found() -> None:
    with pytest.raises(AssertionError, match="is of dtype float64, not float32"):
        check_portable(cube(lambda xp, g, x: xp.astype(g * (3 * x * x), xp.float64)), SAMPLE, NUMPY, dtype="float32")


def test_a_rule_that_is_not_linear_in_its_cotangent():
    @op(samples=[Sample(A(3))])
    def length(xp, x):
        return xp.sum(x * x)

    for wrong in (lambda xp, g, x: 2 * xp.abs(g) * x, lambda xp, g, x: (g + xp.abs(g)) * x):
        length.vjp(x=wrong)
        with pytest.raises(AssertionError):
            check_derivatives(length, length.samples[0])
