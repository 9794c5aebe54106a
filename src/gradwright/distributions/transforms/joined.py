"""Several transforms along one dim of a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradwright.distributions import constraints
from gradwright.distributions.transforms.transform import Transform
from gradwright.distributions.utils import sum_rightmost
from gradwright.face.join import cat, stack


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

    >>> import gradwright as gw
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

    @constraints.dependent_property
    def domain(self) -> Any:
        """The parts' domains."""
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        """The parts' codomains."""
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)

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

    >>> import gradwright as gw
    >>> parts = [gw.distributions.ExpTransform(), gw.distributions.AffineTransform(0.0, 2.0)]
    >>> gw.distributions.StackTransform(parts)(gw.tensor([0.0, 1.0]))
    tensor([1., 2.])
    """

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        self._given(tseq, dim, cache_size)

    @constraints.dependent_property
    def domain(self) -> Any:
        """The slices' domains."""
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        """The slices' codomains."""
        return constraints.stack([t.codomain for t in self.transforms], self.dim)

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
