"""Memory formats: in which order the dims of a tensor lie in memory.

They are followed where arrays are NumPy's. Other libraries lay out their own memory, in row-major order as far as can
be told: there a format is checked, and changes nothing.
"""

from __future__ import annotations

from typing import Any

from gradwright.base.errors import kind
from gradwright.engine.memory import layout as placed

__all__ = [
    "channels_last", "channels_last_3d", "contiguous_format", "jagged", "layout", "memory_format", "preserve_format",
    "sparse_bsc", "sparse_bsr", "sparse_coo", "sparse_csc", "sparse_csr", "strided",
]  # fmt: skip


class memory_format:
    """How a tensor lies in memory: the type of four constants.

    ``contiguous_format`` is row-major order; ``channels_last``, for 4 dims, and ``channels_last_3d``, for 5, have dim 1
    innermost; ``preserve_format`` keeps the order that a tensor has.

    >>> import gradwright
    >>> x = gradwright.ones(2, 3, 4, 5).to(memory_format=gradwright.channels_last)
    >>> x.shape, x.stride()
    (torch.Size([2, 3, 4, 5]), (60, 1, 15, 3))
    """

    __slots__ = ("_name", "_order")

    def __init__(self, name: str, order: tuple[int, ...] = ()) -> None:
        self._name, self._order = name, order

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> str:
        return self._name


contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last", (0, 2, 3, 1))
channels_last_3d = memory_format("channels_last_3d", (0, 2, 3, 4, 1))


_FORMATS = contiguous_format, preserve_format, channels_last, channels_last_3d


def _checked(function: str, given: Any) -> memory_format:
    if not isinstance(given, memory_format):
        if type(given).__name__ == "memory_format":  # PyTorch's own has the name of one of these
            return next((f for f in _FORMATS if repr(f) == str(given)), contiguous_format)
        raise TypeError(f"{function}(): argument 'memory_format' must be torch.memory_format, not {kind(given)}")
    return given


def order_of(function: str, given: Any, ndim: int) -> tuple[int, ...] | None:
    """The dims as they lie in memory, outermost first, in a new tensor of a format; None in row-major order.

    Raises TypeError if it is no memory format, RuntimeError for one of another number of dims, and for
    ``preserve_format``, where there is nothing to preserve.
    """
    order = _checked(function, given)._order
    if given is preserve_format:
        raise RuntimeError(f"preserve memory format is unsupported by {function}(): expected {contiguous_format}, "
                           f"{channels_last} or {channels_last_3d}")  # fmt: skip
    if order and len(order) != ndim:
        raise RuntimeError(f"required rank {len(order)} tensor to use {given._name} format, but {function}() got "
                           f"one of rank {ndim}")  # fmt: skip
    return order or None


def order_like(function: str, given: Any, x: Any) -> tuple[int, ...] | None:
    """`order_of` for a tensor made from ``x``, whose order ``preserve_format``, and None, keep."""
    if given is not None and _checked(function, given) is not preserve_format:
        return order_of(function, given, x.array.ndim)
    array = placed(x)
    if array.flags.c_contiguous:
        return None
    return _dense_order(array.shape, [abs(step) for step in array.strides])


def _dense_order(shape: tuple[int, ...], strides: list[int]) -> tuple[int, ...]:
    """Dims by stride; of equal ones the longer is innermost; one of stride 0, expanded, stays where it is."""
    order = list(range(len(shape)))[::-1]
    for i in range(1, len(order)):
        here = i
        for before in range(i - 1, -1, -1):
            a, b = order[before], order[here]
            if not strides[a] or not strides[b]:
                continue
            if (strides[a], shape[a]) <= (strides[b], shape[b]):
                if strides[a] < strides[b]:
                    break
                continue
            order[before], order[here] = b, a
            here = before
    return tuple(order[::-1])


def lies_in(function: str, x: Any, given: Any) -> bool:
    """Whether the entries of a tensor lie without gaps in the order of a format; ``preserve_format`` is row-major."""
    array, order = placed(x), _checked(function, given)._order
    if order:
        return len(order) == array.ndim and bool(array.transpose(order).flags.c_contiguous)
    return bool(array.flags.c_contiguous)


def suggested(x: Any) -> memory_format:
    """The format that a tensor is taken to have, as PyTorch does by its strides: without gaps or with them.

    That is ``contiguous_format`` wherever it is not one with dim 1 innermost.
    """
    array = placed(x)
    found = (f for f in (channels_last, channels_last_3d) if len(f._order) == array.ndim and _inner(array, f))
    return next(found, contiguous_format)


def _inner(array: Any, given: memory_format) -> bool:
    shape, strides, least = array.shape, array.strides, 0
    if not array.size or not strides[1]:
        return False
    for dim in given._order[::-1]:
        if strides[dim] < least or (dim == 0 and least == strides[1]):
            return False
        least = strides[dim] * shape[dim]
    return True


class layout:
    """A layout: ``strided``, where each entry has a place that follows from its index, or one of few entries."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> str:
        return self._name


strided, jagged = layout("strided"), layout("jagged")
sparse_coo, sparse_csr, sparse_csc = layout("sparse_coo"), layout("sparse_csr"), layout("sparse_csc")
sparse_bsr, sparse_bsc = layout("sparse_bsr"), layout("sparse_bsc")
