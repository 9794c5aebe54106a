"""Transforms from all real numbers onto constrained sets: the smallest that are one-to-one, or any that reach all.

``biject_to(constraint)`` is bijective, as needed for changes of variables; ``transform_to(constraint)`` need not be,
as serves optimisation. Both are tables that can be added to with ``register``; what is in them from the beginning is
entered by `gradwright.distributions.transforms.onto`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwright.distributions import constraints

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
