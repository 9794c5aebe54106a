"""Parts of a sparse tensor: what `SparseTensor` inherits."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from operator import index as whole
from typing import Any

from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.base.upward import above
from gradwright.face.functions.join import cat


class Parts:
    """Rows and other parts of a sparse tensor, with the history of its values."""

    _at: Any
    _held: Any
    _sorted: bool
    shape: Any

    def _made(self, at: Any, held: Any, shape: Any, coalesced: bool) -> Any:
        return type(self)(at, held, shape, coalesced)  # type: ignore[call-arg]

    def _nnz(self) -> int:
        return int(self._at.shape[1])

    def _indices(self) -> Any:
        return self._at

    def _values(self) -> Any:
        return self._held

    def _coalesced_(self, coalesced: bool) -> Any:
        """Say whether the indices are in order and differ; RuntimeError if that is said and they are not so."""
        if coalesced:
            self._checked_order("_coalesced_(True)", "leave it out, or call coalesce()")
        self._sorted = coalesced
        return self

    def _take(self, other: Any) -> None:
        """Become a copy of another one of the same size and layout, in the dtype and on the device of this one."""
        held = other._values().detach().to(self._held, copy=True).requires_grad_(self._held.requires_grad)
        self._at, self._held, self._sorted = other._indices().to(held.device, copy=True), held, other._sorted

    def _checked_order(self, who: str, mend: str) -> None:
        places = self._places()
        if not bool((places[1:] > places[:-1]).all()):
            raise RuntimeError(f"{who} says that indices are in order and differ, but these do not: {mend}")

    def _places(self) -> Any:
        """The indices as numbers of entries, row by row."""
        sizes = self.shape[: len(self._at)]
        if prod(sizes) >= 2**63:
            raise RuntimeError(f"a sparse tensor of size {tuple(self.shape)} has more places than int64 can number")
        place = self._at.new_zeros(self._nnz())
        for row, size in zip(self._at, sizes, strict=True):
            place = place * size + row
        return place

    def to_sparse_csr(self, dense_dim: int | None = None) -> Any:
        """The same matrix, stored by rows."""
        return above("by_rows")(self)

    def select(self, dim: int, index: int) -> Any:
        """What lies at ``index`` of a dim, which is gone; a `Tensor` if no indexed dim is left."""
        shape, k = list(self.shape), int(self._at.shape[0])
        if not -len(shape) <= dim < len(shape):
            raise IndexError(f"select(): dim {dim} of a sparse tensor with {len(shape)} dims")
        dim %= len(shape)
        size = shape.pop(dim)
        if not -size <= index < size:
            raise IndexError(f"select(): index {index} out of range for dim {dim} of size {size}")
        index %= size
        if dim >= k:
            return self._made(self._at, self._held.select(dim - k + 1, index), shape, self._sorted)
        here = (self._at[dim] == index).nonzero().squeeze(1)
        if k == 1:
            held = self._held[here]
            return held.any(0) if held.dtype is dtypes.boolean else held.sum(0, dtype=held.dtype)
        others = [d for d in range(k) if d != dim]
        return self._made(self._at[others][:, here], self._held[here], shape, self._sorted)

    def unbind(self, dim: int = 0) -> tuple[Any, ...]:
        """The parts at all indices of a dim."""
        return tuple(self.select(dim, i) for i in range(self.shape[dim]))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.unbind())

    def __getitem__(self, key: Any) -> Any:
        """``a[i]`` and ``a[i, j]``, of whole numbers."""
        part: Any = self
        for i in key if isinstance(key, tuple) else (key,):
            if not hasattr(i, "__index__") or isinstance(i, bool):
                raise TypeError(f"a sparse tensor takes whole numbers as indices, but got {kind(i)}: "
                                "to_dense() takes the others")  # fmt: skip
            part = part.select(0, whole(i))
        return part

    def unsqueeze(self, dim: int) -> Any:
        """The same with another dim of size 1, indexed if it comes before one that is."""
        shape, k = list(self.shape), int(self._at.shape[0])
        if not -len(shape) - 1 <= dim <= len(shape):
            raise IndexError(f"unsqueeze(): dim {dim} of a sparse tensor with {len(shape)} dims")
        dim %= len(shape) + 1
        shape.insert(dim, 1)
        if dim > k:
            return self._made(self._at, self._held.unsqueeze(dim - k + 1), shape, self._sorted)
        at = cat([self._at[:dim], self._at.new_zeros(1, self._at.shape[1]), self._at[dim:]])
        return self._made(at, self._held, shape, self._sorted)
