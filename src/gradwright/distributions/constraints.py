"""Sets that parameters and draws lie in. ``check`` says of each event whether it does.

`gradwright.distributions.biject_to` and `transform_to` make transforms onto them.

>>> from gradwright.distributions import constraints
>>> constraints.positive.check(gw.tensor([-1.0, 2.0]))
tensor([False,  True])
>>> constraints.interval(0.0, 1.0).check(gw.tensor([0.5, 2.0]))
tensor([ True, False])
>>> constraints.simplex.check(gw.tensor([[0.25, 0.75], [0.5, 0.75]]))
tensor([ True, False])
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gradwright.base.lazy import lazy
from gradwright.face.functions.algebra.decompose import cholesky_ex, eigvalsh
from gradwright.face.functions.compare import isclose
from gradwright.face.functions.join import cat as _joined
from gradwright.face.functions.join import stack as _stacked
from gradwright.face.functions.reduce import norm

if TYPE_CHECKING:
    from gradwright.face.typing import Value

__all__ = [
    "Constraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property", "greater_than",
    "greater_than_eq", "independent", "integer_interval", "interval", "half_open_interval", "is_dependent",
    "less_than", "lower_cholesky", "lower_triangular", "MixtureSameFamilyConstraint", "multinomial", "nonnegative",
    "nonnegative_integer", "one_hot", "positive", "positive_semidefinite", "positive_definite", "positive_integer",
    "real", "real_vector", "simplex", "square", "stack", "symmetric", "unit_interval",
]  # fmt: skip

lazy(__name__)


class Constraint:
    """A set of numbers, vectors or matrices.

    Attributes:
        is_discrete: whether it has gaps.
        event_dim: how many of the last dims are one event: 0 for numbers, 1 for vectors, 2 for matrices.
    """

    is_discrete: Any = False
    event_dim: Any = 0

    def check(self, value: Any) -> Any:
        """Booleans of the shape of ``value`` less its event dims: which events satisfy the constraint."""
        raise NotImplementedError(f"{type(self).__name__} has no check()")

    def __repr__(self) -> str:
        return f"{type(self).__name__.lstrip('_')}()"


class _Bounded(Constraint):
    """Numbers between bounds: each comparison in ``tests`` holds between the value and the bound of that name."""

    tests: dict[str, Callable[[Any, Any], Any]] = {}

    def __init__(self, *bounds: Any, **named: Any) -> None:
        vars(self).update(zip(self.tests, bounds, strict=False), **named)
        if len(bounds) + len(named) != len(self.tests) or not vars(self).keys() == self.tests.keys():
            raise TypeError(f"{type(self).__name__.lstrip('_')}: expected {' and '.join(self.tests)}, but got "
                            f"{len(bounds)} bounds and {', '.join(named) or 'none'} by name")  # fmt: skip

    def check(self, value: Any) -> Any:
        holds = value % 1 == 0 if self.is_discrete else value == value
        for name, test in self.tests.items():
            holds = holds & test(value, getattr(self, name))
        return holds

    def __repr__(self) -> str:
        bounds = (f"{name}={_number(getattr(self, name))}" for name in self.tests)
        return f"{type(self).__name__.lstrip('_')}({', '.join(bounds)})"


def _number(bound: Any) -> Any:
    return bound if not hasattr(bound, "numel") or bound.ndim else bound.item()


def _bounded(name: str, base: type[_Bounded] = _Bounded, is_discrete: bool = False, **tests: Any) -> Any:
    """A class of numbers between bounds, with these tests or those of its base."""
    return type(name, (base,), {"__module__": __name__, "is_discrete": is_discrete, "tests": tests or base.tests})


_GreaterThan = _bounded("_GreaterThan", lower_bound=operator.gt)
_GreaterThanEq = _bounded("_GreaterThanEq", lower_bound=operator.ge)
_LessThan = _bounded("_LessThan", upper_bound=operator.lt)
_Interval = _bounded("_Interval", lower_bound=operator.ge, upper_bound=operator.le)
_HalfOpenInterval = _bounded("_HalfOpenInterval", lower_bound=operator.ge, upper_bound=operator.lt)
_IntegerInterval = _bounded("_IntegerInterval", _Interval, is_discrete=True)
_IntegerLessThan = _bounded("_IntegerLessThan", is_discrete=True, upper_bound=operator.le)
_IntegerGreaterThan = _bounded("_IntegerGreaterThan", _GreaterThanEq, is_discrete=True)


class _Dependent(Constraint):
    """A set that is known only once other things are; its ``is_discrete`` and ``event_dim`` may be."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._known = {"is_discrete": is_discrete, "event_dim": event_dim}

    def _ask(self, name: str) -> Any:
        if self._known[name] is NotImplemented:
            raise NotImplementedError(f".{name} cannot be determined statically")
        return self._known[name]

    is_discrete = property(lambda self: self._ask("is_discrete"))
    event_dim = property(lambda self: self._ask("event_dim"))

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> _Dependent:
        """The same, with more known of it."""
        return _Dependent(
            is_discrete=self._known["is_discrete"] if is_discrete is NotImplemented else is_discrete,
            event_dim=self._known["event_dim"] if event_dim is NotImplemented else event_dim,
        )

    def check(self, value: Any) -> Any:
        raise ValueError("Cannot determine validity of dependent constraint")


class _DependentProperty(property, _Dependent):
    """A constraint computed from the instance; on the class it is a dependent constraint."""

    def __init__(self, fn: Any = None, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        super().__init__(fn)
        _Dependent.__init__(self, is_discrete=is_discrete, event_dim=event_dim)

    def __call__(self, fn: Any) -> _DependentProperty:  # type: ignore[override]
        return _DependentProperty(fn, **self._known)


def is_dependent(constraint: object) -> bool:
    """Whether a constraint is known only once other things are."""
    return isinstance(constraint, _Dependent)


class _OfBase(Constraint):
    """What is made of a ``base_constraint``."""

    base_constraint: Constraint
    is_discrete = property(lambda self: self.base_constraint.is_discrete)
    event_dim = property(lambda self: self.base_constraint.event_dim)

    def check(self, value: Any) -> Any:
        """As of the class; ValueError if ``value`` has too few dims."""
        if value.ndim < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.ndim}")
        return self._holds(value)

    def _holds(self, value: Any) -> Any:
        raise NotImplementedError


class _IndependentConstraint(_OfBase):
    """Events of ``base_constraint``, of which the last ``reinterpreted_batch_ndims`` batch dims are one event."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims

    event_dim = property(lambda self: self.base_constraint.event_dim + self.reinterpreted_batch_ndims)

    def _holds(self, value: Any) -> Any:
        holds = self.base_constraint.check(value)
        n = self.reinterpreted_batch_ndims
        return holds.reshape((*holds.shape[: holds.ndim - n], -1)).all(-1)

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(_OfBase):
    """What lies in the support of each of the components, which are the last batch dim of ``base_constraint``."""

    def __init__(self, base_constraint: Constraint) -> None:
        if not isinstance(base_constraint, Constraint):
            raise AssertionError(f"expected a Constraint, but got {base_constraint!r}")
        self.base_constraint = base_constraint

    def _holds(self, value: Any) -> Any:
        return self.base_constraint.check(value.unsqueeze(value.ndim - self.event_dim)).all(-1)

    def __repr__(self) -> str:
        return f"MixtureSameFamilyConstraint({self.base_constraint!r})"


class _Boolean(Constraint):
    """0 and 1."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    """Vectors with one 1 and else 0."""

    is_discrete = True
    event_dim = 1

    def check(self, value: Any) -> Any:
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class _Real(Constraint):
    """All numbers but NaN."""

    def check(self, value: Any) -> Any:
        return value == value


class _Simplex(Constraint):
    """Vectors of numbers from 0 on that sum to 1, to within 1e-6."""

    event_dim = 1

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    """Vectors of counts that sum to ``upper_bound``."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Value) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class _Matrix(Constraint):
    event_dim = 2


class _LowerTriangular(_Matrix):
    """Matrices that are 0 above the diagonal."""

    def check(self, value: Any) -> Any:
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(_LowerTriangular):
    """Lower-triangular matrices with a diagonal above 0."""

    def check(self, value: Any) -> Any:
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    """Such matrices with rows of length 1: L L' has a diagonal of 1."""

    def check(self, value: Any) -> Any:
        tolerance = 10 * value.shape[-1] * _eps(value)
        return super().check(value) & ((norm(value.detach(), dim=-1) - 1).abs() <= tolerance).all(-1)


def _eps(value: Any) -> float:
    return 2.0 ** (-23 if value.dtype.itemsize == 4 else -52)


class _Square(_Matrix):
    """Square matrices."""

    def check(self, value: Any) -> Any:
        if value.shape[-2] == value.shape[-1]:
            return self._holds(value)
        return value.new_zeros(value.shape[:-2]) == 1

    def _holds(self, value: Any) -> Any:
        """Whether square matrices satisfy it."""
        return value.new_ones(value.shape[:-2]) == 1


class _Symmetric(_Square):
    """Symmetric matrices, to within 1e-6."""

    def _holds(self, value: Any) -> Any:
        return isclose(value, value.mT, atol=1e-6).flatten(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without eigenvalues below 0."""

    def _holds(self, value: Any) -> Any:
        return super()._holds(value) & (eigvalsh(value.detach()) >= 0).all(-1)


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices with eigenvalues above 0."""

    def _holds(self, value: Any) -> Any:
        return super()._holds(value) & (cholesky_ex(value.detach()).info == 0)


class _Parts(Constraint):
    """Several constraints along a dim."""

    cseq: list[Constraint]
    dim: int
    is_discrete = property(lambda self: any(c.is_discrete for c in self.cseq))

    def _given(self, cseq: Sequence[Constraint], dim: int) -> None:
        if wrong := [c for c in cseq if not isinstance(c, Constraint)]:
            raise AssertionError(f"expected Constraints, but got {wrong[0]!r}")
        self.cseq, self.dim = list(cseq), dim

    event_dim = property(lambda self: max(c.event_dim for c in self.cseq))


class _Cat(_Parts):
    """Tensors joined along ``dim`` from parts of these ``lengths`` (1 each), one for each constraint."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None) -> None:
        self._given(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(f"expected {len(self.cseq)} lengths, but got {len(self.lengths)}")

    def check(self, value: Any) -> Any:
        pieces = value.split(self.lengths, self.dim)
        return _joined([c.check(piece) for c, piece in zip(self.cseq, pieces, strict=True)], self.dim)


class _Stack(_Parts):
    """Tensors stacked along ``dim``, one for each constraint."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        self._given(cseq, dim)

    @property
    def event_dim(self) -> int:
        own = super().event_dim
        return own + (self.dim + own < 0)

    def check(self, value: Any) -> Any:
        pieces = value.unbind(self.dim)
        return _stacked([c.check(piece) for c, piece in zip(self.cseq, pieces, strict=True)], self.dim)


dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
real = _Real()
real_vector = independent(real, 1)
positive, nonnegative = _GreaterThan(0.0), _GreaterThanEq(0.0)
nonnegative_integer, positive_integer = _IntegerGreaterThan(0), _IntegerGreaterThan(1)
greater_than, greater_than_eq, less_than = _GreaterThan, _GreaterThanEq, _LessThan
interval, half_open_interval, integer_interval = _Interval, _HalfOpenInterval, _IntegerInterval
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
simplex = _Simplex()
lower_triangular, lower_cholesky, corr_cholesky = _LowerTriangular(), _LowerCholesky(), _CorrCholesky()
square, symmetric = _Square(), _Symmetric()
positive_semidefinite, positive_definite = _PositiveSemidefinite(), _PositiveDefinite()
cat, stack = _Cat, _Stack
