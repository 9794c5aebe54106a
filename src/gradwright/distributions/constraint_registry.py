"""Transforms from all real numbers onto constrained sets: the smallest that are one-to-one, or any that reach all.

``biject_to(constraint)`` is bijective, as needed for changes of variables; ``transform_to(constraint)`` need not be,
as serves optimisation. Both are tables that can be added to with ``register``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwright.distributions import constraints, transforms

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """What makes a transform onto each class of constraints."""

    def __init__(self) -> None:
        self._registry: dict[type, Callable[[Any], Any]] = {}

    def register(self, constraint: Any, factory: Callable[[Any], Any] | None = None) -> Any:
        """Register ``factory(constraint)`` for a class of constraints, or that of one; without it, a decorator.

        Raises TypeError if that is no constraint.
        """
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        kind = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not isinstance(kind, type) or not issubclass(kind, constraints.Constraint):
            raise TypeError(
                f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}"
            )
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        """The transform onto ``constraint``; NotImplementedError if none is registered for its class."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to, transform_to = ConstraintRegistry(), ConstraintRegistry()


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
    return transforms.identity_transform


@_both(constraints.greater_than, constraints.greater_than_eq)
def _above(constraint: Any) -> Any:
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(constraint.lower_bound, 1)]
    )


@_both(constraints.less_than)
def _beneath(constraint: Any) -> Any:
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(constraint.upper_bound, -1)]
    )


@_both(constraints.interval, constraints.half_open_interval)
def _between(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform([transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)])


@_both(constraints.corr_cholesky)
def _correlation(constraint: Any) -> Any:
    return transforms.CorrCholeskyTransform()


for _table in (biject_to, transform_to):

    @_table.register(constraints.independent)
    def _independent(constraint: Any, table: ConstraintRegistry = _table) -> Any:
        return transforms.IndependentTransform(table(constraint.base_constraint), constraint.reinterpreted_batch_ndims)

    @_table.register(constraints.cat)
    def _cat(constraint: Any, table: ConstraintRegistry = _table) -> Any:
        return transforms.CatTransform([table(c) for c in constraint.cseq], constraint.dim, constraint.lengths)

    @_table.register(constraints.stack)
    def _stack(constraint: Any, table: ConstraintRegistry = _table) -> Any:
        return transforms.StackTransform([table(c) for c in constraint.cseq], constraint.dim)


biject_to.register(constraints.simplex, lambda constraint: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda constraint: transforms.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda constraint: transforms.LowerCholeskyTransform())
for _kind in (constraints.positive_definite, constraints.positive_semidefinite):
    transform_to.register(_kind, lambda constraint: transforms.PositiveDefiniteTransform())
