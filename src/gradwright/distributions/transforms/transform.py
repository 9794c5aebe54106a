"""What a transform is; inverses, compositions, transforms of whole events, and several along one dim."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from gradwright.base.dtypes import Size
from gradwright.distributions import constraints
from gradwright.distributions.utils import sum_rightmost
from gradwright.engine.mode import is_grad_enabled
from gradwright.face.functions.join import cat, stack
from gradwright.face.functions.shape import broadcast_shapes
from gradwright.face.tensor import Tensor


class Transform:
    """A map y = f(x) with the logarithm of its volume change, log |det dy/dx|.

    One of your own has ``domain`` and ``codomain`` (constraints), `_call`, and if ``bijective``, `_inverse` and
    `log_abs_det_jacobian`. It need not be called with tensors that require grad.

    Args:
        cache_size: 1 to remember the last x and y, so that the inverse of y is that x, exactly and at no cost; else 0.
            Derivatives are those without a cache: of a sample, by what the map is made of, the inverse is computed, and
            so it is where x, y or a tensor among the attributes has been written to.

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

    _recorded = False

    def _remember(self, cache_size: int) -> None:
        self._cache_size = cache_size
        self._cached_x_y: tuple[Any, Any] = (None, None)
        self._made: dict[int, tuple[Any, Any]] = {}
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
        return {**vars(self), "_inv": None, "_cached_x_y": (None, None), "_made": {}}

    def __call__(self, x: Any) -> Any:
        """The value of the map at ``x``."""
        return self._other(x, 0, self._call) if self._cache_size else self._call(x)

    def _inv_call(self, y: Any) -> Any:
        return self._other(y, 1, self._inverse) if self._cache_size else self._inverse(y)

    def _other(self, given: Any, place: int, compute: Callable[[Any], Any]) -> Any:
        """The other one of the pair that is remembered, or of a new one if something has been written to since.

        A pair that was made without gradients, as by ``sample()``, knows nothing of what the map is made of.
        """
        pair, recorded = self._cached_x_y, is_grad_enabled()
        if given is not pair[place] or self._stale():
            other = compute(given)
            self._cached_x_y, self._recorded = (given, other) if place == 0 else (other, given), recorded
            self._made = self._seen()
            return other
        other = pair[1 - place]
        if not recorded or (self._recorded and given.requires_grad <= other.requires_grad):
            return other
        fresh = self._afresh(given, compute, pair[0])
        return other if fresh is None else other + (fresh - fresh.detach())  # that number, with its derivatives

    def _seen(self) -> dict[int, tuple[Any, Any]]:
        """What this is made of, and the pair that is remembered: how often each was written to, if it has a gradient.

        Beside that is the thing itself, which has to stay for its `id`.
        """
        found: dict[int, tuple[Any, Any]] = {}
        left: list[Any] = [self]
        while left:
            value = left.pop()
            if id(value) in found:
                continue
            if isinstance(value, Tensor):
                found[id(value)] = (value._version, value.requires_grad), value
            elif isinstance(value, (dict, list, tuple)):
                left += value.values() if isinstance(value, dict) else value
            elif isinstance(value, Transform) or hasattr(value, "arg_constraints"):  # a transform or a distribution
                found[id(value)] = None, value
                left += [part for name, part in vars(value).items() if name != "_made"]
            elif hasattr(value, "parameters"):
                left += value.parameters()
        return found

    def _stale(self) -> bool:
        seen = self._seen()
        return seen.keys() != self._made.keys() or any(self._made[i][0] != n for i, (n, _) in seen.items())

    def _afresh(self, given: Any, compute: Callable[[Any], Any], x: Any) -> Any:
        """What is computed of ``given``, unless it has no gradient either."""
        try:
            found = compute(given)
        except NotImplementedError as error:
            found = x if self._recorded else self._call(x)
            if found.requires_grad:
                raise NotImplementedError(
                    f"{error}, so the gradient by what it is made of is not known at a sample() that it remembers: "
                    "write rsample(), or define _inverse()"
                ) from None
        return found if found.requires_grad else None

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
    """A transform that is equal to all of its class that have the same in these attributes."""

    _compared: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        alike = isinstance(other, type(self)) or (isinstance(self, type(other)) and isinstance(other, Same))
        return alike and all(_equal(getattr(self, name), getattr(other, name)) for name in self._compared)

    __hash__ = None  # type: ignore[assignment]


class _InverseTransform(Same):
    """The inverse of another, which remembers for both."""

    _compared = ("_forward",)

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


class ComposeTransform(Same):
    """Transforms applied one after another, the first of ``parts`` first.

    >>> parts = [gw.distributions.AffineTransform(0.0, 2.0), gw.distributions.ExpTransform()]
    >>> t = gw.distributions.ComposeTransform(parts)
    >>> t(gw.tensor(0.0)), t.log_abs_det_jacobian(gw.tensor(0.0), gw.tensor(1.0)).exp()
    (tensor(1.), tensor(2.))
    """

    _compared = ("parts",)

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)

    @constraints.dependent_property
    def domain(self) -> Any:
        """The first one's domain, with as many dims in an event as any of them needs."""
        return _widest([(part.codomain, part.domain) for part in reversed(self.parts)])

    @constraints.dependent_property
    def codomain(self) -> Any:
        """The last one's codomain, with as many dims in an event as any of them makes."""
        return _widest([(part.domain, part.codomain) for part in self.parts])

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


def _widest(steps: Sequence[tuple[Any, Any]]) -> Any:
    """The last set of steps from one set to another, with as many dims in an event as these steps need."""
    if not steps:
        return constraints.real
    need, last = steps[0][0].event_dim, steps[-1][1]
    for before, after in steps:
        need = max(need + after.event_dim - before.event_dim, after.event_dim)
    return constraints.independent(last, need - last.event_dim) if need > last.event_dim else last


class IndependentTransform(Transform):
    """``base_transform`` of events that have ``reinterpreted_batch_ndims`` more dims: their volume changes add up.

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


def _equal(a: Any, b: Any) -> bool:
    same: Any = a == b
    return bool(same.all() if hasattr(same, "all") else same)


def broadcast_to_parameters(shape: Any, *parameters: Any) -> Size:
    """The shape of an elementwise map's result, whose parameters are numbers or tensors."""
    return Size(broadcast_shapes(shape, *[getattr(p, "shape", ()) for p in parameters]))


class _Joined(Transform):
    """Transforms of the pieces of a tensor along ``dim``."""

    transforms: list[Transform]
    dim: int

    def _given(self, tseq: Sequence[Transform], dim: int, cache_size: int) -> None:
        if wrong := [t for t in tseq if not isinstance(t, Transform)]:
            raise AssertionError(f"expected Transforms, but got {wrong[0]!r}")
        Transform.__init__(self, cache_size)
        self.transforms, self.dim = [t.with_cache(cache_size) for t in tseq], dim

    bijective = property(lambda self: all(t.bijective for t in self.transforms))

    @constraints.dependent_property
    def domain(self) -> Any:
        """The parts' domains."""
        return self._set([t.domain for t in self.transforms])

    @constraints.dependent_property
    def codomain(self) -> Any:
        """The parts' codomains."""
        return self._set([t.codomain for t in self.transforms])

    def _set(self, parts: list[Any]) -> Any:
        raise NotImplementedError

    def _pieces(self, x: Any) -> Sequence[Any]:
        raise NotImplementedError

    def _join(self, pieces: Sequence[Any]) -> Any:
        raise NotImplementedError

    def with_cache(self, cache_size: int = 1) -> Transform:
        other: Any = super().with_cache(cache_size)
        if other is not self:
            other.transforms = [t.with_cache(cache_size) for t in self.transforms]
        return other

    def _call(self, x: Any) -> Any:
        return self._join([t(piece) for t, piece in zip(self.transforms, self._pieces(x), strict=True)])

    def _inverse(self, y: Any) -> Any:
        return self._join([t.inv(piece) for t, piece in zip(self.transforms, self._pieces(y), strict=True)])


class CatTransform(_Joined):
    """Transforms of parts of these ``lengths`` (1 each) along ``dim``, one after another.

    >>> parts = [gw.distributions.ExpTransform(), gw.distributions.AffineTransform(0.0, 2.0)]
    >>> gw.distributions.CatTransform(parts, dim=0, lengths=[1, 2])(gw.tensor([0.0, 1.0, 2.0]))
    tensor([1., 2., 4.])
    """

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None,
                 cache_size: int = 0) -> None:  # fmt: skip
        self._given(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"expected {len(self.transforms)} lengths, but got {len(self.lengths)}")

    @property
    def event_dim(self) -> int:
        return max(t.event_dim for t in self.transforms)

    @property
    def length(self) -> int:
        """The length along ``dim``."""
        return sum(self.lengths)

    def _set(self, parts: list[Any]) -> Any:
        return constraints.cat(parts, self.dim, self.lengths)

    def _pieces(self, x: Any) -> Sequence[Any]:
        if x.shape[self.dim] != self.length:
            raise AssertionError(f"expected {self.length} entries along dim {self.dim}, but got {x.shape[self.dim]}")
        return x.split(self.lengths, self.dim)

    def _join(self, pieces: Sequence[Any]) -> Any:
        return cat(pieces, self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The volume change of each event; where ``dim`` is one of an event's dims, their sum."""
        parts = []
        for t, before, after in zip(self.transforms, self._pieces(x), self._pieces(y), strict=True):
            part = t.log_abs_det_jacobian(before, after)
            parts.append(sum_rightmost(part, self.event_dim - t.event_dim))
        dim = self.dim if self.dim < 0 else self.dim - x.ndim
        dim += self.event_dim
        if dim < 0:
            return cat(parts, dim)
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total


class StackTransform(_Joined):
    """Transforms of the slices along ``dim``.

    >>> parts = [gw.distributions.ExpTransform(), gw.distributions.AffineTransform(0.0, 2.0)]
    >>> gw.distributions.StackTransform(parts)(gw.tensor([0.0, 1.0]))
    tensor([1., 2.])
    """

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        self._given(tseq, dim, cache_size)

    def _set(self, parts: list[Any]) -> Any:
        return constraints.stack(parts, self.dim)

    def _pieces(self, x: Any) -> Sequence[Any]:
        if x.shape[self.dim] != len(self.transforms):
            raise AssertionError(
                f"expected {len(self.transforms)} slices along dim {self.dim}, but got {x.shape[self.dim]}"
            )
        return x.unbind(self.dim)

    def _join(self, pieces: Sequence[Any]) -> Any:
        return stack(pieces, self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return stack([t.log_abs_det_jacobian(before, after) for t, before, after in
                      zip(self.transforms, self._pieces(x), self._pieces(y), strict=True)], self.dim)  # fmt: skip
