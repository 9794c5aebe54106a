"""Which transform leads from all real numbers onto which constraint: what `biject_to` and `transform_to` begin with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwright.distributions import constraints
from gradwright.distributions.constraint_registry import ConstraintRegistry, biject_to, transform_to
from gradwright.distributions.transforms.elementwise import AffineTransform, ExpTransform, SigmoidTransform
from gradwright.distributions.transforms.events import (
    CorrCholeskyTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    SoftmaxTransform,
    StickBreakingTransform,
)
from gradwright.distributions.transforms.transform import (
    CatTransform,
    ComposeTransform,
    IndependentTransform,
    StackTransform,
    identity_transform,
)


def _both(*kinds: Any) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Register in both tables, for these constraints."""

    def enter(factory: Callable[[Any], Any]) -> Callable[[Any], Any]:
        for kind in kinds:
            biject_to.register(kind, factory)
            transform_to.register(kind, factory)
        return factory

    return enter


@_both(constraints.real)
def _real(constraint: Any) -> Any:
    return identity_transform


@_both(constraints.greater_than, constraints.greater_than_eq)
def _above(constraint: Any) -> Any:
    return ComposeTransform(
        [ExpTransform(), AffineTransform(constraint.lower_bound, 1)]
    )


@_both(constraints.less_than)
def _beneath(constraint: Any) -> Any:
    return ComposeTransform(
        [ExpTransform(), AffineTransform(constraint.upper_bound, -1)]
    )


@_both(constraints.interval, constraints.half_open_interval)
def _between(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and (low, high) == (0, 1):
        return SigmoidTransform()
    return ComposeTransform([SigmoidTransform(), AffineTransform(low, high - low)])


@_both(constraints.corr_cholesky)
def _correlation(constraint: Any) -> Any:
    return CorrCholeskyTransform()


for _table in (biject_to, transform_to):

    @_table.register(constraints.independent)
    def _independent(constraint: Any, table: ConstraintRegistry = _table) -> Any:
        return IndependentTransform(table(constraint.base_constraint), constraint.reinterpreted_batch_ndims)

    @_table.register(constraints.cat)
    def _cat(constraint: Any, table: ConstraintRegistry = _table) -> Any:
        return CatTransform([table(c) for c in constraint.cseq], constraint.dim, constraint.lengths)

    @_table.register(constraints.stack)
    def _stack(constraint: Any, table: ConstraintRegistry = _table) -> Any:
        return StackTransform([table(c) for c in constraint.cseq], constraint.dim)


biject_to.register(constraints.simplex, lambda constraint: StickBreakingTransform())
transform_to.register(constraints.simplex, lambda constraint: SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda constraint: LowerCholeskyTransform())
for _kind in (constraints.positive_definite, constraints.positive_semidefinite):
    transform_to.register(_kind, lambda constraint: PositiveDefiniteTransform())
