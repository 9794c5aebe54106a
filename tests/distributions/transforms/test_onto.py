"""Transforms onto constraints: what they make satisfies these, one to one where they say so."""

from typing import Any

import pytest

import gradwright as gw
from gradwright import distributions as D
from gradwright.distributions import constraints
from tests.distributions.close import close

BOUND = gw.tensor(0.5, dtype=gw.float64)
REACHED: list[tuple[Any, tuple[int, ...]]] = [
    (constraints.real, (3,)), (constraints.positive, (3,)), (constraints.greater_than(BOUND), (3,)),
    (constraints.nonnegative, (3,)), (constraints.less_than(-1.0), (3,)), (constraints.unit_interval, (3,)),
    (constraints.interval(-1.0, BOUND), (3,)), (constraints.half_open_interval(2, 3), (3,)),
    (constraints.simplex, (2, 3)), (constraints.corr_cholesky, (2, 6)), (constraints.real_vector, (2, 3)),
    (constraints.independent(constraints.positive, 1), (2, 3)), (constraints.lower_cholesky, (2, 3, 3)),
    (constraints.positive_definite, (2, 3, 3)), (constraints.positive_semidefinite, (2, 3, 3)),
    (constraints.cat([constraints.positive, constraints.unit_interval], 0, [1, 2]), (3,)),
    (constraints.stack([constraints.positive, constraints.unit_interval], 0), (2,)),
]  # fmt: skip


@pytest.mark.parametrize("table", [D.transform_to, D.biject_to], ids=["transform_to", "biject_to"])
@pytest.mark.parametrize(("constraint", "shape"), REACHED, ids=lambda x: repr(x)[:40])
def test_what_is_reached(table: Any, constraint: Any, shape: tuple[int, ...]) -> None:
    gw.manual_seed(0)
    try:
        t = table(constraint)
    except NotImplementedError:
        assert table is D.biject_to
        assert constraint.event_dim == 2
        return
    x = gw.randn(shape, dtype=gw.float64)
    y = t(x)
    assert constraint.check(y).all()
    if table is D.biject_to:
        assert t.bijective
        close(t.inv(y), x, 1e-8)
    assert t.inv(y).isfinite().all()
    close(t(t.inv(y)), y, 1e-8)
