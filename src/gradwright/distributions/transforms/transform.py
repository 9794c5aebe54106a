"""What a transform is; inverses, compositions, and transforms of whole events."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Sequence
from typing import Any

from gradwright.base.dtypes import Size
from gradwright.distributions import constraints
from gradwright.distributions.utils import sum_rightmost
from gradwright.face.shape import broadcast_shapes


class Transform:
    """A map y = f(x) with the logarithm of its volume change, log |det dy/dx|.

    One of your own has ``domain`` and ``codomain`` (constraints), `_call`, and if ``bijective``, `_inverse` and
    `log_abs_det_jacobian`. It need not be called with tensors that require grad.

    Args:
        cache_size: 1 to remember the last x and y, so that the inverse of y is that x, exactly and at no cost; else 0.

    >>> import gradwright as gw
    >>> class Doubled(gw.distributions.Transform):
    ...     domain = codomain = gw.distributions.constraints.real
    ...     bijective = True
    ...     def _call(self, x):
    ...         return 2 * x
    ...     def _inverse(self, y):
    ...         return y / 2
    >>> Doubled().inv(gw.tensor(4.0))
    tensor(2.)
    """

    bijective: Any = False
    domain: Any
    codomain: Any

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._remember(cache_size)
        super().__init__()  # of a class that a user derives from this and another

    def _remember(self, cache_size: int) -> None:
        self._cache_size = cache_size
        self._cached_x_y: tuple[Any, Any] = (None, None)
        self._inv: Any = None

    @property
    def event_dim(self) -> int:
        """How many dims an event has before and after; ValueError if these differ."""
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> Transform:
        """The inverse, whose own inverse is this."""
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = _InverseTransform(self)
            self._inv = weakref.ref(inverse)
        return inverse

    @property
    def sign(self) -> Any:
        """1 where it increases and -1 where it decreases, of one that does either."""
        raise NotImplementedError(f"{type(self).__name__} has no sign")

    def with_cache(self, cache_size: int = 1) -> Transform:
        """The same transform with another ``cache_size``."""
        if self._cache_size == cache_size:
            return self
        other = copy.copy(self)
        other._remember(cache_size)
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_inv": None}

    def __call__(self, x: Any) -> Any:
        """The value of the map at ``x``."""
        if not self._cache_size:
            return self._call(x)
        old, y = self._cached_x_y
        if x is not old:
            y = self._call(x)
            self._cached_x_y = x, y
        return y

    def _inv_call(self, y: Any) -> Any:
        if not self._cache_size:
            return self._inverse(y)
        x, old = self._cached_x_y
        if y is not old:
            x = self._inverse(y)
            self._cached_x_y = x, y
        return x

    def _call(self, x: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no _call()")

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no inverse")

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The log |det dy/dx| of each event, at x and y = f(x)."""
        raise NotImplementedError(f"{type(self).__name__} has no log_abs_det_jacobian()")

    def forward_shape(self, shape: Any) -> Any:
        """The shape of f(x) for an x of this one."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of x for an f(x) of this one."""
        return shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class Same(Transform):
    """A transform that is equal to all of its class."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    __hash__ = None  # type: ignore[assignment]


class _InverseTransform(Transform):
    """The inverse of another, which remembers for both."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(transform._cache_size)
        self._forward = transform

    domain = property(lambda self: self._forward.codomain)
    codomain = property(lambda self: self._forward.domain)
    bijective = property(lambda self: self._forward.bijective)
    sign = property(lambda self: self._forward.sign)
    inv = property(lambda self: self._forward)

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self._forward.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._forward == other._forward

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, x: Any) -> Any:
        return self._forward._inv_call(x)

    def _inv_call(self, y: Any) -> Any:
        return self._forward(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -self._forward.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        return self._forward.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._forward.forward_shape(shape)

    def __repr__(self) -> str:
        return f"_InverseTransform({self._forward!r})"


class ComposeTransform(Transform):
    """Transforms applied one after another, the first of ``parts`` first.

    >>> import gradwright as gw
    >>> parts = [gw.distributions.AffineTransform(0.0, 2.0), gw.distributions.ExpTransform()]
    >>> t = gw.distributions.ComposeTransform(parts)
    >>> t(gw.tensor(0.0)), t.log_abs_det_jacobian(gw.tensor(0.0), gw.tensor(1.0)).exp()
    (tensor(1.), tensor(2.))
    """

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = None  # type: ignore[assignment]

    @constraints.dependent_property
    def domain(self) -> Any:
        """The first one's domain, with as many dims in an event as any of them needs."""
        if not self.parts:
            return constraints.real
        first = self.parts[0].domain
        need = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            need = max(need + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim)
        return constraints.independent(first, need - first.event_dim) if need > first.event_dim else first

    @constraints.dependent_property
    def codomain(self) -> Any:
        """The last one's codomain, with as many dims in an event as any of them makes."""
        if not self.parts:
            return constraints.real
        last = self.parts[-1].codomain
        need = self.parts[0].domain.event_dim
        for part in self.parts:
            need = max(need + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim)
        return constraints.independent(last, need - last.event_dim) if need > last.event_dim else last

    bijective = property(lambda self: all(part.bijective for part in self.parts))

    @property
    def sign(self) -> Any:
        sign = 1
        for part in self.parts:
            sign = sign * part.sign
        return sign

    @property
    def inv(self) -> Transform:
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv, inverse._inv = weakref.ref(inverse), weakref.ref(self)
        return inverse

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size)

    def __call__(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def _inv_call(self, y: Any) -> Any:
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        if not self.parts:
            return x.new_zeros(x.shape)
        places = [x]
        for part in self.parts[:-1]:
            places.append(part(places[-1]))
        places.append(y)
        total: Any = 0
        dims = self.domain.event_dim
        for part, before, after in zip(self.parts, places, places[1:], strict=False):
            total = total + sum_rightmost(part.log_abs_det_jacobian(before, after), dims - part.domain.event_dim)
            dims += part.codomain.event_dim - part.domain.event_dim
        return total

    def forward_shape(self, shape: Any) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        return "ComposeTransform(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


class IndependentTransform(Transform):
    """``base_transform`` of events that have ``reinterpreted_batch_ndims`` more dims: their volume changes add up.

    >>> import gradwright as gw
    >>> t = gw.distributions.IndependentTransform(gw.distributions.ExpTransform(), 1)
    >>> x = gw.tensor([1.0, 2.0])
    >>> t.log_abs_det_jacobian(x, t(x))
    tensor(3.)
    """

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return IndependentTransform(self.base_transform, self.reinterpreted_batch_ndims, cache_size)

    @constraints.dependent_property
    def domain(self) -> Any:
        """That of the base, with more dims in an event."""
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @constraints.dependent_property
    def codomain(self) -> Any:
        """That of the base, with more dims in an event."""
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    bijective = property(lambda self: self.base_transform.bijective)
    sign = property(lambda self: self.base_transform.sign)

    def _enough(self, value: Any, dims: int) -> Any:
        if (value.ndim if hasattr(value, "ndim") else len(value)) < dims:
            raise ValueError("Too few dimensions on input")
        return value

    def _call(self, x: Any) -> Any:
        return self.base_transform(self._enough(x, self.domain.event_dim))

    def _inverse(self, y: Any) -> Any:
        return self.base_transform.inv(self._enough(y, self.codomain.event_dim))

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Any) -> Any:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


identity_transform = ComposeTransform([])
"""The transform that leaves all as it is."""


def broadcast_to_parameters(shape: Any, *parameters: Any) -> Size:
    """The shape of an elementwise map's result, whose parameters are numbers or tensors."""
    return Size(broadcast_shapes(shape, *[getattr(p, "shape", ()) for p in parameters]))
