"""Pooling over one, two and three axes: by windows of a size, of a number that covers the input, or at random."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import inf, prod
from typing import TYPE_CHECKING, Any

from gradwright.backends.windows import Lattice
from gradwright.base import dtypes
from gradwright.base.errors import size as text
from gradwright.engine.apply import apply
from gradwright.face import creation, random
from gradwright.face.functions.join import cat
from gradwright.face.reading.require import within
from gradwright.face.reading.torch import tensor_arg
from gradwright.nn.functional.geometry import batched, family, per_axis
from gradwright.nn.functional.resize import averaged
from gradwright.ops import pool as _pool
from gradwright.ops import scatter as _scatter

if TYPE_CHECKING:
    from gradwright.face.typing import (
        AdaptiveAvgPool,
        AdaptiveMaxPool,
        AvgPool,
        Dims,
        FractionalMaxPool,
        Ints,
        LPPool,
        MaxPool,
        MaxPoolWithIndices,
        MaxUnpool,
        Tensor,
    )


__all__ = [
    "avg_pool1d", "avg_pool2d", "avg_pool3d", "lp_pool1d", "lp_pool2d", "lp_pool3d", "max_pool1d", "max_pool2d",
    "max_pool3d", "max_pool1d_with_indices", "max_pool2d_with_indices", "max_pool3d_with_indices", "max_unpool1d",
    "max_unpool2d", "max_unpool3d",
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d",
    "adaptive_max_pool3d", "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d_with_indices", "fractional_max_pool2d", "fractional_max_pool3d",
    "fractional_max_pool2d_with_indices", "fractional_max_pool3d_with_indices",
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


def _pooled(function: str, input: Any, n: int) -> tuple[Any, tuple[int, ...]]:
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


def _max_pool(n: int) -> MaxPool:
    def max_pool(input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, dilation: Ints = 1,
                 ceil_mode: bool = False, return_indices: bool = False) -> Any:  # fmt: skip
        """The largest entry of each window over {n} axes.

        (N, C, {size}) or (C, {size}) to (N, C, {size'}) or (C, {size'}). Each axis becomes
        L' = (L + 2 padding - dilation (kernel_size - 1) - 1) / stride + 1 long, rounded down, or up with ``ceil_mode``.
        Of equal entries the first has the slope.

        Args:
            input: the signals, images or volumes.
            kernel_size: entries in a window, one number or one for each axis; so are the next three.
            stride: from one window to the next; the size of the window if None.
            padding: how much lies around the input, of -inf; at most half a window.
            dilation: from one entry of a window to the next.
            ceil_mode: whether the last window may reach out, if it starts inside or before the input.
            return_indices: whether to return a pair: values, and their places, counted in row-major order within a
                plane, as `max_unpool{n}d` takes them.

        Raises RuntimeError for sizes that do not fit, booleans and complex numbers.

        >>> gw.nn.functional.max_pool{n}d(gw.tensor([1.0, 3.0, 2.0, 0.0]).expand(1, {fours}), 2).flatten()[:2]
        tensor([3., 2.])
        """
        function = f"max_pool{n}d"
        x, size = _pooled(function, input, n)
        lattice = _lattice(function, size, n, kernel_size, stride, padding, dilation, ceil_mode)
        y = apply(_OPERATIONS[_pool.max_windows, n], (x,), {"lattice": lattice})
        return (y, apply(_pool.places_in_windows, (x, y.detach()), {"lattice": lattice})) if return_indices else y

    return max_pool


def _with_indices(pool: Callable[..., Any]) -> MaxPoolWithIndices:
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
        """The mean of each window over {n} axes.

        (N, C, {size}) or (C, {size}) to (N, C, {size'}) or (C, {size'}). Each axis becomes
        L' = (L + 2 padding - kernel_size) / stride + 1 long, rounded down, or up with ``ceil_mode``.

        Args:
            input: the signals, images or volumes.
            kernel_size: entries in a window, one number or one for each axis; so are the next two.
            stride: from one window to the next; the size of the window if None.
            padding: how many zeros lie around the input; at most half a window.
            ceil_mode: whether the last window may reach out, if it starts inside or before the input.
            count_include_pad: whether the zeros count.
            divisor_override: by what the sums are divided instead of the number of entries; RuntimeError for 0.

        Raises RuntimeError for sizes that do not fit, booleans and complex numbers.

        >>> gw.nn.functional.avg_pool{n}d(gw.tensor([1.0, 3.0, 2.0, 0.0]).expand(1, {fours}), 2).flatten()[:2]
        tensor([2., 1.])
        """
        function = f"avg_pool{n}d"
        x, size = _pooled(function, input, n)
        lattice = _lattice(function, size, n, kernel_size, stride, padding, 1, ceil_mode)
        if divisor_override == 0:
            raise RuntimeError(f"{function}(): divisor must be not zero")
        lengths = _lengths(size, lattice, per_axis(function, "padding", padding, n), count_include_pad)
        return _mean_of(x, n, lattice, lengths if divisor_override is None else divisor_override)

    return avg_pool


def _mean_of(x: Any, n: int, lattice: Lattice, divisor: Any) -> Any:
    if not x.is_floating_point():
        return _mean_of(x.double(), n, lattice, divisor).trunc().to(x.dtype)
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
        """The p-norm of each window over {n} axes: (sum x**p)**(1/p); ``norm_type`` is p.

        Without absolute values: a sum below 0 counts as 0. With p inf the largest absolute value. Where the sum is 0,
        so is the slope for p = 1, and it is not a number for others. Other arguments and sizes are those of
        `avg_pool{n}d`. Raises RuntimeError for sizes that do not fit.

        >>> gw.nn.functional.lp_pool{n}d(gw.tensor([3.0, 0.0]).expand(1, {twos}), 1, 2).item() == 1.5 * 2**{n}
        True
        """
        entries = prod(per_axis(f"lp_pool{n}d", "kernel_size", kernel_size, n))
        if norm_type in (inf, -inf):
            sign = 1 if norm_type > 0 else -1
            return sign * _max_pool(n)(
                sign * tensor_arg(f"lp_pool{n}d", input).abs(), kernel_size, stride, 0, 1, ceil_mode
            )
        mean = _avg_pool(n)(tensor_arg(f"lp_pool{n}d", input) ** norm_type, kernel_size, stride, 0, ceil_mode)
        return (mean.sign() * mean.abs().relu() * entries) ** (1.0 / norm_type)

    return lp_pool


def _max_unpool(n: int) -> MaxUnpool:
    def max_unpool(input: Tensor, indices: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0,
                   output_size: Sequence[int] | None = None) -> Tensor:  # fmt: skip
        """Zeros with the entries of ``input`` at their places ``indices``, as `max_pool{n}d` returned them.

        Values and places (N, C, {size}) or (C, {size}). Each axis becomes L' = (L - 1) stride - 2 padding + kernel_size
        long, as that of the smallest input which pools to this one, unless ``output_size`` names another. Other
        arguments are those of `max_pool{n}d`.

        Raises RuntimeError for places of another dtype or shape or outside, ValueError for a size that does not fit.

        >>> values, places = gw.nn.functional.max_pool{n}d(gw.ones(1, {fours}), 2, return_indices=True)
        >>> gw.nn.functional.max_unpool{n}d(values, places, 2).shape
        torch.Size([1, {fours}])
        """
        function = f"max_unpool{n}d"
        x, size = _pooled(function, input, n)
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


def _adaptive(function: str, input: Any, output_size: Any, n: int) -> tuple[Any, tuple[int, ...], tuple[int, ...]]:
    """``input``, its size, and the size it is to have: where that is None, the axis stays as it is."""
    many = output_size if isinstance(output_size, (tuple, list)) else (output_size,) * n
    if many is output_size and n > 1 and tensor_arg(function, input).ndim <= n:
        raise ValueError(f"{function}(): Input dimension should be at least {n + 1}")
    x, size = _pooled(function, input, n)
    if len(many) != n:
        raise RuntimeError(f"{function}(): output_size must be {n} numbers, but got {output_size}")
    count = tuple(m if o is None else o for o, m in zip(many, size, strict=True))
    return x, size, per_axis(function, "output_size", count, n, 0)


def _shares(m: int, count: int) -> list[range]:
    """``count`` windows that cover ``m`` entries evenly."""
    return [range(o * m // count, -(-(o + 1) * m // count)) for o in range(count)]


def _even(size: tuple[int, ...], count: tuple[int, ...]) -> Lattice | None:
    """The windows of an adaptive pooling, where all are of one size."""
    if any(c == 0 or m % c for m, c in zip(size, count, strict=True)):
        return None
    kernel = tuple(m // c for m, c in zip(size, count, strict=True))
    return Lattice(kernel, kernel, (1,) * len(size), ((0, 0),) * len(size))


def _adaptive_avg_pool(n: int) -> AdaptiveAvgPool:
    def adaptive_avg_pool(input: Tensor, output_size: Dims | Sequence[int | None]) -> Tensor:
        """Means over windows that cover the input evenly: over {n} axes, to ``output_size``.

        (N, C, {size}) or (C, {size}) to (..., *output_size), one number or one for each axis; where it is None, the
        axis stays as it is. Window o of c over m entries is from o m // c to ceil((o + 1) m / c); windows may share
        entries.

        Raises RuntimeError or ValueError for sizes that do not fit.

        >>> gw.nn.functional.adaptive_avg_pool{n}d(gw.tensor([1.0, 2.0, 3.0]).expand(1, {threes}), 2).flatten()[:2]
        tensor([1.5000, 2.5000])
        """
        function = f"adaptive_avg_pool{n}d"
        x, size, count = _adaptive(function, input, output_size, n)
        lattice = _even(size, count)
        if lattice is not None:
            return _mean_of(x, n, lattice, prod(lattice.kernel))
        return averaged(x, [_shares(m, c) for m, c in zip(size, count, strict=True)])

    return adaptive_avg_pool


def _adaptive_max_pool(n: int) -> AdaptiveMaxPool:
    def adaptive_max_pool(input: Tensor, output_size: Dims | Sequence[int | None], return_indices: bool = False) -> Any:
        """The largest entries of windows that cover the input evenly: over {n} axes, to ``output_size``.

        With ``return_indices`` a pair: values and places, as `max_pool{n}d` gives them. Windows, shapes and errors are
        those of `adaptive_avg_pool{n}d`.

        >>> gw.nn.functional.adaptive_max_pool{n}d(gw.tensor([1.0, 2.0, 3.0]).expand(1, {threes}), 2).flatten()[:2]
        tensor([2., 3.])
        """
        function = f"adaptive_max_pool{n}d"
        x, size, count = _adaptive(function, input, output_size, n)
        lattice = _even(size, count)
        if lattice is not None:
            pool: Any = _max_pool(n)
            return pool(x, lattice.kernel, return_indices=return_indices)
        axes = []
        for m, c in zip(size, count, strict=True):
            windows = _shares(m, c)
            longest = max(map(len, windows), default=1)
            axes.append(creation.tensor([[min(w[0] + k, w[-1]) for k in range(longest)] for w in windows],
                                        dtype=dtypes.int64, device=x.device).reshape(c, longest))  # fmt: skip
        pair = _largest(x, axes, n)
        return pair if return_indices else pair[0]

    return adaptive_max_pool


def _largest(x: Any, axes: list[Any], n: int) -> tuple[Any, Any]:
    """The largest entry of each window and its place; ``axes`` holds, per axis, the indices (..., windows, entries)."""
    shape = x.array.shape
    lead, size = shape[:-n], shape[-n:]
    places: Any = 0
    for i, index in enumerate(axes):
        spread = [1] * (2 * n)
        spread[i], spread[n + i] = index.array.shape[-2:]
        places = places * size[i] + index.reshape(*index.array.shape[:-2], *spread)
    count = places.array.shape[-2 * n : -n]
    before, around = places.array.shape[: -2 * n], (prod(count), prod(places.array.shape[-n:]))
    places = places.reshape(*before, *around).expand(*lead, *around).reshape(prod(lead), *around)
    flat = x.reshape(prod(lead), prod(size))
    entries = flat.detach().gather(1, places.flatten(1)).reshape(places.shape)
    where = places.gather(2, entries.argmax(2, keepdim=True)).squeeze(2)
    return flat.gather(1, where).reshape(*lead, *count), where.reshape(*lead, *count)


def _fractional_max_pool(n: int) -> FractionalMaxPool:
    def fractional_max_pool(input: Tensor, kernel_size: Ints, output_size: Ints | None = None,
                            output_ratio: float | Sequence[float] | None = None, return_indices: bool = False,
                            _random_samples: Tensor | None = None) -> Any:  # fmt: skip
        """The largest entries of windows whose distances are random, over {n} axes.

        Graham, arXiv:1412.6071. (N, C, {size}) or (C, {size}) to (..., *output_size), windows of ``kernel_size``
        entries; with ``return_indices`` a pair, values and places. Window o starts at int((o + u) a) - int(u a), with
        a = (size - kernel) / (output size - 1); the last one ends where the input does. There is one u from 0 to 1 for
        each plane and axis: ``_random_samples`` of shape (N, C, {n}), drawn if not given. ``output_ratio`` gives the
        output size as a part of the input's, between 0 and 1.

        Raises ValueError if neither size nor ratio is given, RuntimeError for windows that do not fit.

        >>> gw.nn.functional.fractional_max_pool{n}d(gw.ones(1, {fours}), 2, output_size=2).shape
        torch.Size([1, {twos}])
        """
        function = f"fractional_max_pool{n}d"
        x, size = _pooled(function, input, n)
        lead = x.array.shape[:-n]
        kernel = per_axis(function, "kernel_size", kernel_size, n, 1)
        if output_size is None:
            if output_ratio is None:
                raise ValueError(f"{function} requires specifying either an output_size or an output_ratio")
            ratios = output_ratio if isinstance(output_ratio, (tuple, list)) else (output_ratio,) * n
            if len(ratios) != n:
                raise ValueError(f"{function} requires output_ratio to either be a single Int or tuple of Ints.")
            output_size = tuple(int(m * r) for m, r in zip(size, ratios, strict=True))
        count = per_axis(function, "output_size", output_size, n, 1)
        if any(c + k - 1 > m for c, k, m in zip(count, kernel, size, strict=True)):
            raise RuntimeError(f"{function}(): pool size {kernel} too large relative to input size {text(size)}")
        batch = lead if len(lead) == 2 else (1, *lead)
        u = random.rand(*batch, n, dtype=x.dtype, device=x.device) if _random_samples is None else _random_samples
        if u.array.shape[1:] != (batch[1], n) or u.array.shape[0] < batch[0]:
            raise RuntimeError(
                f"{function}(): Expect _random_samples of size {(*batch, n)}, but got {text(u.array.shape)}"
            )
        u = u[: batch[0]]
        axes = []
        for i, (m, k, c) in enumerate(zip(size, kernel, count, strict=True)):
            # Of two axes PyTorch takes the samples in reverse.
            sample = u[..., n - 1 - i if n == 2 else i].reshape(*lead, 1)
            start = sample.new_full((*lead, 1), m - k).long()
            if c > 1:
                steps = (m - k) / (c - 1)
                inner = ((creation.arange(c - 1, dtype=u.dtype, device=u.device) + sample) * steps).long()
                inner = inner - (sample * steps).long()
                start = cat([inner, start], -1)
            axes.append(start.unsqueeze(-1) + creation.arange(k, device=u.device))
        pair = _largest(x, axes, n)
        return pair if return_indices else pair[0]

    return fractional_max_pool


avg_pool1d, avg_pool2d, avg_pool3d = family("avg_pool{}d", _avg_pool)
lp_pool1d, lp_pool2d, lp_pool3d = family("lp_pool{}d", _lp_pool)
max_pool1d, max_pool2d, max_pool3d = family("max_pool{}d", _max_pool)
max_unpool1d, max_unpool2d, max_unpool3d = family("max_unpool{}d", _max_unpool)
max_pool1d_with_indices, max_pool2d_with_indices, max_pool3d_with_indices = map(
    _with_indices, (max_pool1d, max_pool2d, max_pool3d)
)
adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = family("adaptive_avg_pool{}d", _adaptive_avg_pool)
adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = family("adaptive_max_pool{}d", _adaptive_max_pool)
fractional_max_pool2d, fractional_max_pool3d = family("fractional_max_pool{}d", _fractional_max_pool, (2, 3))
adaptive_max_pool1d_with_indices, adaptive_max_pool2d_with_indices, adaptive_max_pool3d_with_indices = map(
    _with_indices, (adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d)
)
fractional_max_pool2d_with_indices, fractional_max_pool3d_with_indices = map(
    _with_indices, (fractional_max_pool2d, fractional_max_pool3d)
)
