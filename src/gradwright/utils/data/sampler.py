"""Samplers: in which order, and in which batches, the samples of a dataset are drawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from gradwright.base import dtypes
from gradwright.face import creation, random

if TYPE_CHECKING:
    from gradwright.face.typing import Generator, Tensor

T_co = TypeVar("T_co", covariant=True)
_CHUNK = 32


class Sampler(Generic[T_co]):
    """Indices in a row: a subclass defines ``__iter__()`` and, if it can, ``__len__()``.

    >>> class Backwards(gw.utils.data.Sampler):
    ...     def __iter__(self):
    ...         return iter([2, 1, 0])
    >>> list(gw.utils.data.DataLoader([10, 20, 30], sampler=Backwards(), batch_size=None))
    [30, 20, 10]
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError("Subclasses of Sampler should implement __iter__.")


class SequentialSampler(Sampler[int]):
    """0, 1, 2 and so on, through the dataset.

    >>> list(gw.utils.data.SequentialSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


def _positive(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}={value}")
    return value


class RandomSampler(Sampler[int]):
    """The indices of a dataset in random order.

    Args:
        data_source: the dataset.
        replacement: whether each draw is from all of them; else no index comes again before all have come.
        num_samples: how many; as many as there are, unless given.
        generator: where the random numbers come from; else a new one, seeded from `gradwright.default_generator`.

    Raises TypeError and ValueError for arguments of the wrong kind, and for an empty dataset.

    >>> sorted(gw.utils.data.RandomSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source: Sized, replacement: bool = False, num_samples: int | None = None,
                 generator: Generator | None = None) -> None:  # fmt: skip
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        _positive("num_samples", self.num_samples)

    @property
    def num_samples(self) -> int:
        """How many indices it gives."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        generator = self.generator
        if generator is None:
            generator = random.Generator().manual_seed(draw_seed(None))
        n, size = len(self.data_source), _CHUNK if self.replacement else max(len(self.data_source), 1)
        for left in range(self.num_samples, -1, -size):  # to the end, as PyTorch: the generator goes on from there
            if self.replacement:
                yield from random.randint(n, (min(size, left),), generator=generator).tolist()
            else:
                yield from random.randperm(n, generator=generator).tolist()[:left]

    def __len__(self) -> int:
        return self.num_samples


def draw_seed(generator: Generator | None) -> int:
    """A random seed."""
    return int(random.random_(creation.zeros((), dtype=dtypes.int64), generator=generator).item())


class SubsetRandomSampler(Sampler[int]):
    """The given indices in random order.

    >>> sorted(gw.utils.data.SubsetRandomSampler([2, 5]))
    [2, 5]
    """

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for i in random.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """``num_samples`` of the indices 0 to ``len(weights) - 1``, drawn with probabilities in proportion to ``weights``.

    Raises ValueError for arguments of the wrong kind or weights that are not one-dimensional.

    >>> list(WeightedRandomSampler([0.0, 1.0, 0.0], 3))
    [1, 1, 1]
    """

    def __init__(self, weights: Sequence[float] | Tensor, num_samples: int, replacement: bool = True,
                 generator: Generator | None = None) -> None:  # fmt: skip
        self.num_samples = _positive("num_samples", num_samples)
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights = creation.as_tensor(weights, dtype=dtypes.float64)
        if self.weights.ndim != 1:
            raise ValueError("weights should be a 1d sequence but given weights have shape "
                             f"{tuple(self.weights.shape)}")  # fmt: skip
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        drawn = random.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """The indices of another sampler in lists of ``batch_size``; the last may be shorter, unless ``drop_last``.

    Raises ValueError for arguments of the wrong kind.

    >>> list(BatchSampler(range(5), batch_size=2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        self.sampler = sampler
        self.batch_size = _positive("batch_size", batch_size)
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        rest = iter(self.sampler)
        while batch := list(islice(rest, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        n: int = len(self.sampler)  # type: ignore[arg-type]
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)
