"""Pooling to a size that is asked for: windows that cover the input evenly, or lie at random."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from gradwright.backends.windows import Lattice
from gradwright.base import dtypes
from gradwright.base.errors import size as text
from gradwright.face import creation, random
from gradwright.face.join import cat
from gradwright.face.reading.torch import tensor_arg
from gradwright.nn.functional.geometry import family, per_axis
from gradwright.nn.functional.pool import max_pools, mean_of, pooled, with_indices
from gradwright.nn.functional.resize import averaged

if TYPE_CHECKING:
    from gradwright.face.typing import AdaptiveAvgPool, AdaptiveMaxPool, Dims, FractionalMaxPool, Ints, Tensor


__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d",
    "adaptive_max_pool3d", "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d_with_indices", "fractional_max_pool2d", "fractional_max_pool3d",
    "fractional_max_pool2d_with_indices", "fractional_max_pool3d_with_indices",
]  # fmt: skip


def _adaptive(function: str, input: Any, output_size: Any, n: int) -> tuple[Any, tuple[int, ...], tuple[int, ...]]:
    """``input``, its size, and the size it is to have: where that is None, the axis stays as it is."""
    many = output_size if isinstance(output_size, (tuple, list)) else (output_size,) * n
    if many is output_size and n > 1 and tensor_arg(function, input).ndim <= n:
        raise ValueError(f"{function}(): Input dimension should be at least {n + 1}")
    x, size = pooled(function, input, n)
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
        """Means over windows that cover the input evenly: over {n} axes, to ``output_size`` (None: as it is).

        Window o of c over m entries is from o m // c to ceil((o + 1) m / c); windows may share entries. Shape: (N, C,
        *size) or (C, *size) to (..., *output_size), one number or one for each axis.

        Raises RuntimeError or ValueError for sizes that do not fit.

        >>> import gradwright as gw
        >>> gw.nn.functional.adaptive_avg_pool{n}d(gw.ones(1, {fours}), 2).shape
        torch.Size([1, {twos}])
        """
        function = f"adaptive_avg_pool{n}d"
        x, size, count = _adaptive(function, input, output_size, n)
        lattice = _even(size, count)
        if lattice is not None:
            return mean_of(x, n, lattice, prod(lattice.kernel))
        return averaged(x, [_shares(m, c) for m, c in zip(size, count, strict=True)])

    return adaptive_avg_pool


def _adaptive_max_pool(n: int) -> AdaptiveMaxPool:
    def adaptive_max_pool(input: Tensor, output_size: Dims | Sequence[int | None], return_indices: bool = False) -> Any:
        """The largest entries of windows that cover the input evenly: over {n} axes, to ``output_size``.

        With ``return_indices`` a pair: values and places, as `max_pool{n}d` gives them. Windows, shapes and errors are
        those of `adaptive_avg_pool{n}d`.

        >>> import gradwright as gw
        >>> gw.nn.functional.adaptive_max_pool{n}d(gw.ones(1, {fours}), 2).shape
        torch.Size([1, {twos}])
        """
        function = f"adaptive_max_pool{n}d"
        x, size, count = _adaptive(function, input, output_size, n)
        lattice = _even(size, count)
        if lattice is not None:
            pool: Any = max_pools(n)
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
        """The largest entries of windows whose distances are random, over {n} axes (Graham, arXiv:1412.6071).

        Window o starts at int((o + u) a) - int(u a), with a = (size - kernel) / (output size - 1); the last one ends
        where the input does. There is one u from 0 to 1 for each plane and axis: ``_random_samples`` of shape (N, C,
        {n}), drawn if not given. ``output_ratio`` gives the output size as a part of the input's.

        Raises ValueError if neither size nor ratio is given, RuntimeError for windows that do not fit.

        >>> import gradwright as gw
        >>> gw.nn.functional.fractional_max_pool{n}d(gw.ones(1, {fours}), 2, output_size=2).shape
        torch.Size([1, {twos}])
        """
        function = f"fractional_max_pool{n}d"
        x, size = pooled(function, input, n)
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


adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = family("adaptive_avg_pool{}d", _adaptive_avg_pool)
adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = family("adaptive_max_pool{}d", _adaptive_max_pool)
fractional_max_pool2d, fractional_max_pool3d = family("fractional_max_pool{}d", _fractional_max_pool, (2, 3))
adaptive_max_pool1d_with_indices, adaptive_max_pool2d_with_indices, adaptive_max_pool3d_with_indices = map(
    with_indices, (adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d)
)
fractional_max_pool2d_with_indices, fractional_max_pool3d_with_indices = map(
    with_indices, (fractional_max_pool2d, fractional_max_pool3d)
)
