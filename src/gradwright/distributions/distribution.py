"""What all distributions have: shapes, parameters that broadcast, checks of what is given, moments by name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gradwright.backends import namespace
from gradwright.base.changes import declares
from gradwright.base.dtypes import Size
from gradwright.base.errors import kind
from gradwright.base.source_line import warn
from gradwright.distributions.constraint_registry import transform_to
from gradwright.distributions.constraints import Constraint, is_dependent
from gradwright.distributions.utils import broadcast_all, either, lazy_property, sum_rightmost
from gradwright.engine.base import TensorBase
from gradwright.engine.calls import grad
from gradwright.engine.grad_mode import enable_grad, no_grad
from gradwright.engine.levels import below
from gradwright.face.tensor import Tensor


class Distribution:
    """A probability distribution over tensors of ``event_shape``, one for each entry of ``batch_shape``.

    A distribution of one's own has ``arg_constraints`` (what its parameters must satisfy, by attribute), ``support``,
    `log_prob`, and `rsample` if its draws are to have derivatives by the parameters, or else `sample`.

    Args:
        batch_shape: the shape of independent distributions, that of their parameters.
        event_shape: the shape of what one of them draws.
        validate_args: whether parameters, and values given to `log_prob` and others, are checked. By default they are,
            unless Python runs with -O; see `set_default_validate_args`.

    Raises ValueError if a parameter breaks its constraint.
    """

    has_rsample: Any = False
    has_enumerate_support: Any = False
    _validate_args: bool = __debug__
    _parts: Mapping[str, int] = {}
    """Of each attribute with the batch's dims, how many dims there are after them."""

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions made from now on check what they are given. ValueError unless True or False."""
        if value not in (True, False):
            raise ValueError(f"set_default_validate_args expects True or False, but got {value!r}")
        Distribution._validate_args = value
        declares()

    def __init__(self, batch_shape: Sequence[int] = (), event_shape: Sequence[int] = (),
                 validate_args: bool | None = None) -> None:  # fmt: skip
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()  # of a class that a user derives from this and another

    def _hold(self, validate_args: bool | None, **parameters: Any) -> None:
        """Keep numbers and tensors, broadcast to one shape, as attributes; that shape is the batch's."""
        names, values = list(parameters), broadcast_all(*parameters.values())
        self._keep(**dict(zip(names, values, strict=True)))
        Distribution.__init__(self, values[0].shape, validate_args=validate_args)

    def _hold_either(self, probs: Any, logits: Any, validate_args: bool | None, **others: Any) -> None:
        """The same with ``probs`` or ``logits``, whichever is given; the other is computed when asked for."""
        self._given = either(probs, logits)
        (param, *rest) = broadcast_all(probs if logits is None else logits, *others.values())
        self._keep(**{self._given: param}, **dict(zip(others, rest, strict=True)))
        Distribution.__init__(self, param.shape, validate_args=validate_args)

    def _keep(self, after: int = 0, **parts: Any) -> None:
        """Keep attributes with the batch's dims and ``after`` more; `expand` expands them."""
        self._parts = {**self._parts, **dict.fromkeys(parts, after)}
        vars(self).update(parts)

    def _check_parameters(self) -> None:
        try:
            constraints = self.arg_constraints
        except NotImplementedError:
            warn(f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or initialize "
                 "the distribution with `validate_args=False` to turn off validation.", UserWarning)  # fmt: skip
            return
        for name, constraint in constraints.items():
            lazy = isinstance(getattr(type(self), name, None), lazy_property) and name not in vars(self)
            if is_dependent(constraint) or lazy:
                continue
            self._check(name, constraint)

    def _check(self, name: str, constraint: Any) -> None:
        value = getattr(self, name)
        if not breaks(constraint, value):
            return
        made = "" if type(constraint) not in transform_to._registry else (
            f"\ntransform_to({type(self).__name__}.arg_constraints[{name!r}])(x) satisfies it for all real x"
        )  # fmt: skip
        raise ValueError(f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of "
                         f"distribution {self!r} to satisfy the constraint {constraint!r}, but found invalid "
                         f"values:\n{_shown(value)}{made}")  # fmt: skip

    def _validate_sample(self, value: Any) -> None:
        """ValueError if ``value`` is no tensor, does not broadcast to what is drawn, or lies outside the support."""
        if not isinstance(value, TensorBase):
            raise ValueError(f"The value argument to log_prob must be a Tensor, but got {kind(value)}")
        dims = len(self._event_shape)
        shape: Any = value.array.shape
        if (last := shape[len(shape) - dims :] if dims <= len(shape) else shape) != self._event_shape:
            raise ValueError(
                f"The right-most size of value must match event_shape: {Size(last)} vs {self._event_shape}."
            )
        expected = self._batch_shape + self._event_shape
        for i, j in zip(reversed(shape), reversed(expected), strict=False):
            if 1 not in (i, j) and i != j:
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {Size(shape)} vs {expected}."
                )
        try:
            support = self.support
        except NotImplementedError:
            warn(f"{type(self)} does not define `support` to enable sample validation. Please initialize the "
                 "distribution with `validate_args=False` to turn off validation.", UserWarning)  # fmt: skip
            return
        if breaks(support, value):
            raise ValueError(f"Expected value argument ({type(value).__name__} of shape {tuple(shape)}) to be within "
                             f"the support ({support!r}) of the distribution {self!r}, but found invalid values:\n"
                             f"{_shown(value)}")  # fmt: skip

    def _checked(self, value: Any) -> Any:
        """``value``, which `_validate_sample` has passed if this distribution checks."""
        if self._validate_args:
            self._validate_sample(value)
        return value

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """A new instance without parameters, for `expand`: ``_instance``, or one of the same class.

        NotImplementedError if that class is made otherwise than ``cls``, and has no expand() of its own.
        """
        if _instance is None and type(self).__init__ != cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom "
                                      "__init__ method must also define a custom .expand() method.")  # fmt: skip
        return self.__new__(type(self)) if _instance is None else _instance

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        """The same distributions with their parameters expanded to ``batch_shape``.

        RuntimeError if the batch does not expand to it.
        """
        if not self._parts:
            raise NotImplementedError(f"{type(self).__name__} has no expand()")
        return self._copy(batch_shape, _instance)

    def _copy(self, batch_shape: Sequence[int], _instance: Any) -> Any:
        """A distribution like this with its parts expanded; what was made of them is made anew when asked for."""
        ours = next(c for c in type(self).__mro__ if c.__module__.startswith("gradwright."))
        new = self._get_checked_instance(ours, _instance)
        shape = Size(batch_shape)
        made = {name for name in vars(self) if isinstance(getattr(type(self), name, None), lazy_property)}
        vars(new).update({n: v for n, v in vars(self).items() if n not in made or n in self._parts})
        for name, dims in self._parts.items():
            part = vars(self)[name]
            if isinstance(part, Distribution):
                vars(new)[name] = part.expand(shape + part.batch_shape[len(part.batch_shape) - dims :])
            else:
                vars(new)[name] = part.expand(shape + part.shape[part.ndim - dims :])
        new._batch_shape = shape
        return new

    @property
    def batch_shape(self) -> Size:
        """The shape of independent distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of what one of them draws."""
        return self._event_shape

    @property
    def arg_constraints(self) -> dict[str, Constraint]:
        """What each parameter must satisfy, by its name."""
        raise NotImplementedError(f"{type(self)} does not define arg_constraints")

    @property
    def support(self) -> Any:
        """The constraint that what is drawn satisfies."""
        raise NotImplementedError(f"{type(self)} does not define support")

    @property
    def mean(self) -> Tensor:
        """The mean."""
        raise NotImplementedError(f"{type(self)} does not implement mean")

    @property
    def mode(self) -> Tensor:
        """The value of highest probability (density)."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise NotImplementedError(f"{type(self)} does not implement variance")

    @property
    def stddev(self) -> Tensor:
        """The standard deviation, the square root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draws without history, of shape sample_shape + batch_shape + event_shape."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draws that have derivatives by the parameters, where ``has_rsample``."""
        raise NotImplementedError(f"{type(self).__name__} has no rsample(): use sample()")

    def sample_n(self, n: int) -> Tensor:
        """``n`` draws: `sample` of the shape (n,)."""
        warn("sample_n will be deprecated. Use .sample((n,)) instead", UserWarning)
        return self.sample((n,))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability (density) at ``value``."""
        raise NotImplementedError(f"{type(self).__name__} has no log_prob()")

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of what is not above ``value``."""
        raise NotImplementedError(f"{type(self).__name__} has no cdf()")

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile: where `cdf` is ``value``."""
        raise NotImplementedError(f"{type(self).__name__} has no icdf()")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values there are, along a new first dim; broadcast over the batch if ``expand``."""
        raise NotImplementedError(f"{type(self).__name__} has no enumerate_support()")

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        raise NotImplementedError(f"{type(self).__name__} has no entropy()")

    def perplexity(self) -> Tensor:
        """The exponential of the entropy."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape: Sequence[int] = ()) -> Size:
        return Size(sample_shape) + self._batch_shape + self._event_shape

    def _expanded(self, value: Any, expand: bool) -> Any:
        """Values along the first dim, shaped for `enumerate_support`."""
        shape = (-1, *(1,) * len(self._batch_shape), *self._event_shape)
        value = value.reshape(shape)
        return value.expand(-1, *self._batch_shape, *self._event_shape) if expand else value

    def __repr__(self) -> str:
        names = [name for name in self.arg_constraints if name in vars(self)]
        parts = [f"{name}: {_brief(vars(self)[name])}" for name in names]
        return f"{type(self).__name__}({', '.join(parts)})"


class ExponentialFamily(Distribution):
    """Distributions with p(x) = exp(<t(x), n> - F(n) + k(x)): their natural parameters n and log normaliser F.

    A class that has `_natural_params`, `_log_normalizer` and `_mean_carrier_measure` gets its entropy,
    F - <n, dF/dn> - E[k], from them, and `kl_divergence` between two of it.
    """

    _natural_params: Any
    _mean_carrier_measure: Any

    def _log_normalizer(self, *natural_params: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no log normaliser")

    def entropy(self) -> Tensor:
        if not hasattr(self, "_mean_carrier_measure"):
            raise NotImplementedError(f"{type(self).__name__} has no entropy()")
        value, terms = self._normalizer()
        result = value - self._mean_carrier_measure
        for n, slope in terms:
            result = result - sum_rightmost(n * slope, n.ndim - len(self._batch_shape))
        return result

    def _normalizer(self) -> tuple[Any, list[tuple[Any, Any]]]:
        """F at the natural parameters, and with each of these dF/dn: with history where they have one."""
        given = self._natural_params
        with enable_grad():
            params = [n if n.requires_grad else n.detach().requires_grad_() for n in given]
            value = self._log_normalizer(*params)
            slopes = grad([value.sum()], params, create_graph=True)
        if not any(n.requires_grad for n in given):
            value, slopes = value.detach(), tuple(s.detach() for s in slopes)
        return value, list(zip(given, slopes, strict=True))


def breaks(constraint: Any, value: Any) -> bool:
    """Whether an entry is known to break a constraint; inside a transform only what can be seen is."""
    holds = below(constraint.check(value).array)
    return bool(namespace(holds).any(~holds))


def _brief(value: Any) -> Any:
    if value.numel() != 1:
        return value.shape
    return value if value.ndim else value.item()


def _shown(value: Any) -> Any:
    return value.detach().item() if not value.ndim else value.detach()


LOG_2PI = math.log(2 * math.pi)
