"""Kullback-Leibler divergences: a table of formulas by the classes of two distributions, which can be added to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwright.engine.source_line import warn

if TYPE_CHECKING:
    from gradwright.distributions.distribution import Distribution
    from gradwright.face.typing import Tensor

__all__ = ["kl_divergence", "register_kl"]

_Formula = Callable[[Any, Any], Any]
_KL_REGISTRY: dict[tuple[type, type], _Formula] = {}
_KL_MEMOIZE: dict[tuple[type, type], Any] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[_Formula], _Formula]:
    """Register the decorated function of p and q as their divergence, for these classes and classes made of them.

    Raises TypeError unless both are classes: those of distributions, or abstract ones that some of them belong to.

        >>> from gradwright.distributions import Normal, register_kl
        >>> class Mine(Normal): pass
        >>> @register_kl(Mine, Normal)
        ... def kl_mine_normal(p, q):
        ...     return p.loc - q.loc
    """
    for name, kind in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(kind, type):
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {kind}")

    def enter(formula: _Formula) -> _Formula:
        _KL_REGISTRY[type_p, type_q] = formula
        _KL_MEMOIZE.clear()
        return formula

    return enter


def _found(type_p: type, type_q: type) -> Any:
    """The formula of the nearest classes, nearest to p first. A RuntimeWarning if nearest to q first is another."""
    fits = [(p, q) for p, q in _KL_REGISTRY if issubclass(type_p, p) and issubclass(type_q, q)]
    if not fits:
        return NotImplemented
    first = min(fits, key=lambda pair: (_distance(type_p, pair[0]), _distance(type_q, pair[1])))
    other = min(fits, key=lambda pair: (_distance(type_q, pair[1]), _distance(type_p, pair[0])))
    if _KL_REGISTRY[first] is not _KL_REGISTRY[other]:
        warn(f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please "
             f"register_kl({first[0].__name__}, {other[1].__name__})", RuntimeWarning)  # fmt: skip
    return _KL_REGISTRY[first]


def _distance(kind: type, above: type) -> int:
    """How many classes there are between a class and one above it; more than all for an abstract one."""
    classes = kind.__mro__
    return classes.index(above) if above in classes else len(classes)


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The divergence E[log p(x) - log q(x)] of x drawn from p, one for each entry of the batch.

    It is infinite where p draws what q never does. NotImplementedError if no formula is registered for their classes.

        >>> from gradwright.distributions import Normal, kl_divergence
        >>> kl_divergence(Normal(1.0, 1.0), Normal(0.0, 1.0))
        tensor(0.5000)
    """
    kinds = type(p), type(q)
    if kinds not in _KL_MEMOIZE:
        _KL_MEMOIZE[kinds] = _found(*kinds)
    if _KL_MEMOIZE[kinds] is NotImplemented:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {kinds[0].__name__} and q type {kinds[1].__name__}: "
            "register_kl() adds one, or average p.log_prob(x) - q.log_prob(x) over x = p.rsample((n,))"
        )
    return _KL_MEMOIZE[kinds](p, q)
