"""Constraints: what satisfies them, what they are called, and those that depend on more."""

from typing import Any

import pytest

import gradwright as gw
from gradwright.distributions import constraints

NAN = float("nan")
CHECKS: list[tuple[Any, Any, Any]] = [
    (constraints.real, [1.0, NAN], [True, False]),
    (constraints.positive, [1.0, 0.0, NAN], [True, False, False]),
    (constraints.nonnegative, [0.0, -1.0], [True, False]),
    (constraints.less_than(2.0), [1.0, 2.0], [True, False]),
    (constraints.unit_interval, [0.0, 1.0, 1.1], [True, True, False]),
    (constraints.half_open_interval(0, 1), [0.0, 1.0], [True, False]),
    (constraints.boolean, [0.0, 1.0, 0.5], [True, True, False]),
    (constraints.nonnegative_integer, [0.0, 1.5, -1.0], [True, False, False]),
    (constraints.positive_integer, [0.0, 2.0], [False, True]),
    (constraints.integer_interval(1, 3), [0.0, 2.0, 2.5, 3.0], [False, True, False, True]),
    (constraints.real_vector, [[1.0, 2.0], [1.0, NAN]], [True, False]),
    (constraints.simplex, [[0.4, 0.6], [0.4, 0.5], [-0.5, 1.5]], [True, False, False]),
    (constraints.one_hot, [[0.0, 1.0], [1.0, 1.0]], [True, False]),
    (constraints.multinomial(3), [[1.0, 2.0], [2.0, 2.0], [-1.0, 2.0]], [True, False, False]),
    (constraints.lower_triangular, [[[1.0, 0], [3, -4]], [[1, 2], [3, 4]]], [True, False]),
    (constraints.lower_cholesky, [[[1.0, 0], [3, 4]], [[1, 0], [3, -4]]], [True, False]),
    (constraints.corr_cholesky, [[[1.0, 0], [0.6, 0.8]], [[1, 0], [3, 4]]], [True, False]),
    (constraints.square, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], False),
    (constraints.symmetric, [[[1.0, 2], [2, 1]], [[1, 2], [3, 1]]], [True, False]),
    (constraints.positive_semidefinite, [[[1.0, 0], [0, 0]], [[1, 2], [2, 1]]], [True, False]),
    (constraints.positive_definite, [[[2.0, 1], [1, 2]], [[1, 2], [2, 1]]], [True, False]),
    (constraints.cat([constraints.positive, constraints.real], 0, [2, 1]), [-1.0, 1.0, -1.0], [False, True, True]),
    (constraints.stack([constraints.positive, constraints.real]), [-1.0, -1.0], [False, True]),
]


@pytest.mark.parametrize(("constraint", "value", "holds"), CHECKS, ids=lambda x: repr(x)[:30])
def test_what_satisfies_it(constraint: Any, value: Any, holds: Any) -> None:
    assert constraint.check(gw.tensor(value)).tolist() == holds


@pytest.mark.parametrize(("constraint", "value", "holds"), CHECKS, ids=lambda x: repr(x)[:30])
def test_pytorchs(constraint: Any, value: Any, holds: Any, torch: Any) -> None:
    names = vars(torch.distributions.constraints)
    name = next((n for n, c in vars(constraints).items() if c is constraint), None)
    if name is None:
        pytest.skip("made with arguments")
    theirs = names[name]
    assert repr(constraint) == repr(theirs)
    assert (constraint.event_dim, constraint.is_discrete) == (theirs.event_dim, theirs.is_discrete)
    assert theirs.check(torch.tensor(value)).tolist() == holds


def test_all_of_pytorchs_names(torch: Any) -> None:
    assert set(torch.distributions.constraints.__all__) <= set(constraints.__all__)


def test_dependent_ones() -> None:
    assert constraints.is_dependent(constraints.dependent)
    with pytest.raises(NotImplementedError, match=r"\.event_dim cannot be determined statically"):
        constraints.dependent.event_dim
    with pytest.raises(ValueError, match="Cannot determine validity of dependent constraint"):
        constraints.dependent.check(gw.zeros(()))
    known = constraints.dependent(event_dim=1)
    assert known.event_dim == 1
    assert known(is_discrete=True).is_discrete
    assert known(is_discrete=True).event_dim == 1


def test_independent_ones() -> None:
    matrix = constraints.independent(constraints.positive, 2)
    assert matrix.event_dim == 2
    assert matrix.check(gw.ones(3, 2, 2)).tolist() == [True] * 3
    with pytest.raises(ValueError, match=r"Expected value.dim\(\) >= 2 but got 1"):
        matrix.check(gw.ones(3))
    assert repr(matrix) == "IndependentConstraint(GreaterThan(lower_bound=0.0), 2)"


def test_bounds_by_name() -> None:
    assert repr(constraints.interval(lower_bound=0, upper_bound=2)) == "Interval(lower_bound=0, upper_bound=2)"
    assert constraints.interval(0, upper_bound=2).check(gw.tensor(1.0))
    for bounds, named in (((), {}), ((1,), {"lower_bound": 2}), ((1, 2, 3), {}), ((1,), {"upper": 2})):
        with pytest.raises(TypeError, match="Interval: expected lower_bound and upper_bound, but got"):
            constraints.interval(*bounds, **named)


def test_what_is_refused() -> None:
    with pytest.raises(AssertionError, match="expected a Constraint, but got 3"):
        constraints.MixtureSameFamilyConstraint(3)  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="expected Constraints, but got 3"):
        constraints.stack([constraints.real, 3])  # type: ignore[list-item]
    with pytest.raises(AssertionError, match="expected 1 lengths, but got 2"):
        constraints.cat([constraints.real], 0, [1, 2])
