"""Pooling over one, two and three axes: of (C, *size) or (N, C, *size) to (..., *count)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import inf, prod
from typing import TYPE_CHECKING, Any

from gradwright.backends.windows import Lattice
from gradwright.base import dtypes
from gradwright.base.errors import size as text
from gradwright.engine.apply import apply
from gradwright.face.reading.require import within
from gradwright.face.reading.torch import tensor_arg
from gradwright.nn.functional.geometry import batched, family, per_axis
from gradwright.ops import pool as _pool
from gradwright.ops import scatter as _scatter

if TYPE_CHECKING:
    from gradwright.face.typing import AvgPool, Ints, LPPool, MaxPool, MaxPoolWithIndices, MaxUnpool, Tensor


__all__ = [
    "avg_pool1d", "avg_pool2d", "avg_pool3d", "lp_pool1d", "lp_pool2d", "lp_pool3d", "max_pool1d", "max_pool2d",
    "max_pool3d", "max_pool1d_with_indices", "max_pool2d_with_indices", "max_pool3d_with_indices", "max_unpool1d",
    "max_unpool2d", "max_unpool3d",
]  # fmt: skip

_OPERATIONS = {
    (op, n): op.variant(node.format(n))
    for op, node in (
        (_pool.max_windows, "MaxPool{}DWithIndicesBackward0"),
        (_pool.mean_windows, "AvgPool{}DBackward0"),
        (_scatter.scatter, "MaxUnpool{}DBackward0"),
    )
    for n in (1, 2, 3)
}


def _lattice(function: str, size: tuple[int, ...], n: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
             ceil_mode: bool) -> Lattice:  # fmt: skip
    """The windows of a pooling; with ``ceil_mode`` the last may reach out, if it starts inside or before the input."""
    kernel = per_axis(function, "kernel_size", kernel_size, n, 1)
    strides = kernel if stride is None or stride in ((), []) else per_axis(function, "stride", stride, n, 1)
    paddings, dilations = per_axis(function, "padding", padding, n, 0), per_axis(function, "dilation", dilation, n, 1)
    return _windows(function, size, kernel, strides, paddings, dilations, bool(ceil_mode))


@lru_cache(256)
def _windows(function: str, size: tuple[int, ...], kernel: tuple[int, ...], strides: tuple[int, ...],
             paddings: tuple[int, ...], dilations: tuple[int, ...], ceil_mode: bool) -> Lattice:  # fmt: skip
    around, counts = [], []
    for m, k, s, p, d in zip(size, kernel, strides, paddings, dilations, strict=True):
        span = d * (k - 1) + 1
        if p > span // 2:
            raise RuntimeError(
                f"{function}(): pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} "
                f"and dilation={d}"
            )
        count = (m + 2 * p - span + (s - 1 if ceil_mode else 0)) // s + 1
        count -= ceil_mode and (count - 1) * s >= m + p
        counts.append(count)
        around.append((p, (count - 1) * s + span - m - p))
    if min(counts) < 1:
        raise RuntimeError(
            f"{function}(): Given input size: {text(size)}. Calculated output size: {text(tuple(counts))}. "
            "Output size is too small"
        )
    return Lattice(kernel, strides, dilations, tuple(around))


def pooled(function: str, input: Any, n: int) -> tuple[Any, tuple[int, ...]]:
    """``input`` and its size, if it can be pooled."""
    batched(function, input, n)
    shape = input.array.shape
    if 0 in shape[-n - 1 :]:
        raise RuntimeError(
            f"{function}(): Expected input to have non-zero size for non-batch dimensions, but got {text(shape)}"
        )
    if dtypes.kind(input.array.dtype) in "bc":
        raise RuntimeError(f"{function}(): not implemented for {input.dtype}")
    return input, shape[-n:]


def max_pools(n: int) -> MaxPool:
    def max_pool(input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, dilation: Ints = 1,
                 ceil_mode: bool = False, return_indices: bool = False) -> Any:  # fmt: skip
        """The largest entry of each window over {n} axes; of equal ones the first has the slope.

        Args:
            input: (N, C, *size) or (C, *size).
            kernel_size: entries in a window, one number or one for each axis; so are the next three.
            stride: from one window to the next; the size of the window if None.
            padding: how much lies around the input, of -inf; at most half a window.
            dilation: from one entry of a window to the next.
            ceil_mode: whether the last window may reach out, if it starts inside or before the input.
            return_indices: whether to return a pair: values, and their places, counted in row-major order within a
                plane.

        Each axis becomes (L + 2 padding - dilation (kernel_size - 1) - 1) // stride + 1 long.

        Raises RuntimeError for sizes that do not fit, booleans and complex numbers.

        >>> import gradwright as gw
        >>> gw.nn.functional.max_pool{n}d(gw.ones(1, {fours}), 2).shape
        torch.Size([1, {twos}])
        """
        function = f"max_pool{n}d"
        x, size = pooled(function, input, n)
        lattice = _lattice(function, size, n, kernel_size, stride, padding, dilation, ceil_mode)
        y = apply(_OPERATIONS[_pool.max_windows, n], (x,), {"lattice": lattice})
        return (y, apply(_pool.places_in_windows, (x, y.detach()), {"lattice": lattice})) if return_indices else y

    return max_pool


def with_indices(pool: Callable[..., Any]) -> MaxPoolWithIndices:
    def with_indices(input: Tensor, *args: Any, **kwargs: Any) -> Any:
        return pool(input, *args, **{**kwargs, "return_indices": True})

    with_indices.__name__ = with_indices.__qualname__ = f"{pool.__name__}_with_indices"
    with_indices.__doc__ = f"""`{pool.__name__}` with ``return_indices=True``: values and their places, of int64.

Places are counted in row-major order within a plane. Arguments and errors are those of `{pool.__name__}`.
"""
    return with_indices


def _avg_pool(n: int) -> AvgPool:
    def avg_pool(input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0,
                 ceil_mode: bool = False, count_include_pad: bool = True,
                 divisor_override: int | None = None) -> Tensor:  # fmt: skip
        """The mean of each window over {n} axes; ``stride`` is the size of the window if it is not given.

        The zeros around the input count, unless ``count_include_pad`` is False. The sums are divided by
        ``divisor_override`` if that is given. Other arguments, sizes and errors are those of `max_pool{n}d`;
        RuntimeError for a divisor of 0.

        >>> import gradwright as gw
        >>> gw.nn.functional.avg_pool{n}d(gw.ones(1, {fours}), 2).shape
        torch.Size([1, {twos}])
        """
        function = f"avg_pool{n}d"
        x, size = pooled(function, input, n)
        lattice = _lattice(function, size, n, kernel_size, stride, padding, 1, ceil_mode)
        if divisor_override == 0:
            raise RuntimeError(f"{function}(): divisor must be not zero")
        lengths = _lengths(size, lattice, per_axis(function, "padding", padding, n), count_include_pad)
        return mean_of(x, n, lattice, lengths if divisor_override is None else divisor_override)

    return avg_pool


def mean_of(x: Any, n: int, lattice: Lattice, divisor: Any) -> Any:
    if not x.is_floating_point():
        return mean_of(x.double(), n, lattice, divisor).trunc().to(x.dtype)
    return apply(_OPERATIONS[_pool.mean_windows, n], (x,), {"lattice": lattice, "divisor": divisor})


def _lengths(size: Any, lattice: Lattice, padding: Any, with_padding: bool) -> Any:
    """How many entries a window has along each axis, of the input (and its padding): one number if all are alike."""
    found: list[Any] = []
    for m, k, s, p, c in zip(size, lattice.kernel, lattice.stride, padding, lattice.count(size), strict=True):
        edge = p if with_padding else 0
        lengths = tuple(min(o * s - p + k, m + edge) - max(o * s - p, -edge) for o in range(c))
        found.append(lengths if len(set(lengths)) > 1 else lengths[0])
    return tuple(found) if any(isinstance(f, tuple) for f in found) else prod(found)


def _lp_pool(n: int) -> LPPool:
    def lp_pool(input: Tensor, norm_type: float, kernel_size: Ints, stride: Ints | None = None,
                ceil_mode: bool = False) -> Tensor:  # fmt: skip
        """The p-norm of each window over {n} axes, without absolute values: (sum x**p)**(1/p); ``norm_type`` is p.

        A sum below 0 counts as 0; with p inf the largest absolute value. Other arguments and sizes are those of
        `max_pool{n}d`. Raises RuntimeError for sizes that do not fit.

        >>> import gradwright as gw
        >>> gw.nn.functional.lp_pool{n}d(gw.ones(1, {fours}), 2, 2).shape
        torch.Size([1, {twos}])
        """
        entries = prod(per_axis(f"lp_pool{n}d", "kernel_size", kernel_size, n))
        if norm_type in (inf, -inf):
            sign = 1 if norm_type > 0 else -1
            return sign * max_pools(n)(
                sign * tensor_arg(f"lp_pool{n}d", input).abs(), kernel_size, stride, 0, 1, ceil_mode
            )
        mean = _avg_pool(n)(tensor_arg(f"lp_pool{n}d", input) ** norm_type, kernel_size, stride, 0, ceil_mode)
        return (mean.sign() * mean.abs().relu() * entries) ** (1.0 / norm_type)

    return lp_pool


def _max_unpool(n: int) -> MaxUnpool:
    def max_unpool(input: Tensor, indices: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0,
                   output_size: Sequence[int] | None = None) -> Tensor:  # fmt: skip
        """Zeros with the entries of ``input`` at their places ``indices``, as `max_pool{n}d` returned them.

        The size is that of the smallest input which pools to this one, unless ``output_size`` names another. Other
        arguments are those of `max_pool{n}d`.

        Raises RuntimeError for places of another dtype or shape or outside, ValueError for a size that does not fit.

        >>> import gradwright as gw
        >>> values, places = gw.nn.functional.max_pool{n}d(gw.ones(1, {fours}), 2, return_indices=True)
        >>> gw.nn.functional.max_unpool{n}d(values, places, 2).shape
        torch.Size([1, {fours}])
        """
        function = f"max_unpool{n}d"
        x, size = pooled(function, input, n)
        kernel = per_axis(function, "kernel_size", kernel_size, n)
        strides = kernel if stride is None else per_axis(function, "stride", stride, n)
        paddings = per_axis(function, "padding", padding, n)
        out = tuple((m - 1) * s + k - 2 * p for m, s, k, p in zip(size, strides, kernel, paddings, strict=True))
        if output_size is not None:
            wanted = tuple(output_size)[-n:] if len(output_size) == n + 2 else tuple(output_size)
            if len(wanted) != n:
                raise ValueError(
                    f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a length of "
                    f"'{len(output_size)}'"
                )
            for d, (w, o, s) in enumerate(zip(wanted, out, strides, strict=True)):
                if not o - s < w < o + s:
                    raise ValueError(f'invalid output_size "{wanted}" (dim {d} must be between {o - s} and {o + s})')
            out = wanted
        if min(out) < 0:
            raise ValueError(f"{function}(): output_size must contain non-negative dimensions, but got {out}")
        where = tensor_arg(function, indices, "indices", 2)
        if where.dtype is not dtypes.int64:
            raise RuntimeError(f"{function}(): elements in indices should be type int64 but got: {where.dtype}")
        shape = x.array.shape
        if where.array.shape != shape:
            raise RuntimeError(
                f"{function}(): Expected shape of indices to be same as that of the input tensor ({text(shape)}) but "
                f"got indices tensor with shape: {text(where.array.shape)}"
            )
        within(where.array, 0, prod(out) - 1, lambda _: (
            f"{function}(): Found an invalid max index (output volumes are of size {text(out)})"))  # fmt: skip
        planes = (prod(shape[:-n]), prod(size))
        args = x.new_zeros((planes[0], prod(out))), where.reshape(planes), x.reshape(planes)
        y = apply(_OPERATIONS[_scatter.scatter, n], args, {"axis": 1})
        return y.reshape(*shape[:-n], *out)

    return max_unpool


avg_pool1d, avg_pool2d, avg_pool3d = family("avg_pool{}d", _avg_pool)
lp_pool1d, lp_pool2d, lp_pool3d = family("lp_pool{}d", _lp_pool)
max_pool1d, max_pool2d, max_pool3d = family("max_pool{}d", max_pools)
max_unpool1d, max_unpool2d, max_unpool3d = family("max_unpool{}d", _max_unpool)
max_pool1d_with_indices, max_pool2d_with_indices, max_pool3d_with_indices = map(
    with_indices, (max_pool1d, max_pool2d, max_pool3d)
)
