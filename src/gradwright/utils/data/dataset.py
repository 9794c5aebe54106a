"""Datasets: what has samples by number, or in a row; how they are combined and split, and samples made a batch."""

from __future__ import annotations

import bisect
import itertools
import math
import operator
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, MutableSequence, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.engine.base import TensorBase, wrap
from gradwright.face import creation, random
from gradwright.face.functions.join import stack

if TYPE_CHECKING:
    from gradwright.face.typing import Generator, Tensor


_TENSOR_KINDS = "biufc"


def default_collate(batch: Any) -> Any:
    """A list of samples as one batch, with a new first dim.

    =============================  ===============================================================
    samples                        batch
    =============================  ===============================================================
    tensors, NumPy arrays          one tensor, stacked
    floats; ints; bools            one tensor of float64; int64; bool
    NumPy numbers                  one tensor of their dtype
    texts, bytes                   the list itself
    dicts (mappings)               a dict of the same keys, each value collated
    tuples                         a list with the first elements collated, the second elements, ...
    named tuples, lists            one of the same kind, likewise
    =============================  ===============================================================

    Raises TypeError for anything else, RuntimeError for tensors of unequal size and sequences of unequal length.

    >>> default_collate([({"x": 1.5}, "a"), ({"x": 2.5}, "b")])
    [{'x': tensor([1.5000, 2.5000], dtype=torch.float64)}, ('a', 'b')]
    """
    first = batch[0]
    if isinstance(first, TensorBase):
        joined = None if any(t.requires_grad for t in batch) else _stacked([t.array for t in batch])
        return _checked(batch) if joined is None else joined
    if isinstance(first, np.ndarray):
        if dtypes.kind(first.dtype) not in _TENSOR_KINDS:
            raise TypeError(_UNKNOWN.format(first.dtype))
        joined = _stacked(batch)
        return _checked([creation.as_tensor(b) for b in batch]) if joined is None else joined
    if isinstance(first, np.generic):
        return creation.as_tensor(np.array(batch))
    if isinstance(first, float):
        return creation.tensor(batch, dtype=dtypes.float64)
    if isinstance(first, int):
        return creation.tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return _rebuilt_mapping(first, {key: default_collate([sample[key] for sample in batch]) for key in first})
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError(f"each element in list of batch should be of equal size: {_MEND}")
        return _rebuilt_sequence(first, [default_collate(column) for column in zip(*batch, strict=True)])
    raise TypeError(_UNKNOWN.format(type(first)))


_UNKNOWN = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


_MEND = "pad or cut the samples, or give the DataLoader a collate_fn that makes a batch of them"


def _checked(tensors: Sequence[Any]) -> Any:
    """One tensor of tensors; RuntimeError if their sizes differ."""
    for i, t in enumerate(tensors):
        if t.shape != tensors[0].shape:
            raise RuntimeError(f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} at entry "
                               f"0 and {list(t.shape)} at entry {i}: {_MEND}")  # fmt: skip
    return stack(tensors)


def _stacked(arrays: Sequence[Any]) -> Any:
    """One tensor of arrays that are alike; None if they are not, or have no dims, or need a closer look."""
    shape, dtype = arrays[0].shape, arrays[0].dtype
    if not shape or any(type(a) is not np.ndarray or a.shape != shape or a.dtype != dtype for a in arrays):
        return None
    dtypes.of(dtype)
    return wrap(np.concatenate(arrays).reshape(len(arrays), *shape))


def default_convert(data: Any) -> Any:
    """NumPy arrays and numbers in nested data as tensors; everything else as it is.

    >>> import numpy as np
    >>> default_convert({"x": np.array([1, 2]), "name": "a"})
    {'x': tensor([1, 2]), 'name': 'a'}
    """
    if isinstance(data, (np.ndarray, np.generic)):
        return creation.as_tensor(data) if dtypes.kind(data.dtype) in _TENSOR_KINDS else data
    if isinstance(data, Mapping):
        return _rebuilt_mapping(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _rebuilt_sequence(data, [default_convert(part) for part in data])
    return data


def _rebuilt_mapping(like: Any, values: dict[Any, Any]) -> Any:
    """A mapping as ``like``, with what else it holds, of these values; a dict if it cannot be made so."""

    def changed() -> Any:
        out = copy(like)
        out.update(values)
        return out

    return _tried(changed if isinstance(like, MutableMapping) else lambda: type(like)(values), values)


def _rebuilt_sequence(like: Any, parts: list[Any]) -> Any:
    """A sequence as ``like`` of these parts; a list for a tuple, and if it cannot be made so."""

    def changed() -> Any:
        out = copy(like)
        out[:] = parts
        return out

    if isinstance(like, tuple):
        return type(like)(*parts) if hasattr(like, "_fields") else parts
    return _tried(changed if isinstance(like, MutableSequence) else lambda: type(like)(parts), parts)


def _tried(make: Callable[[], Any], otherwise: Any) -> Any:
    try:
        return make()
    except TypeError:
        return otherwise


T_co = TypeVar("T_co", covariant=True)


class Indexed(Protocol[T_co]):
    """A collection of samples by number."""

    def __getitem__(self, index: Any, /) -> T_co: ...


class Dataset(Generic[T_co]):
    """Samples by number: a subclass defines ``__getitem__(index)`` and, for most uses, ``__len__()``.

    Two more methods, if a subclass has them, make `DataLoader` faster:

    - ``__getitems__(indices)`` returns the list of these samples, fetched together;
    - ``__getbatch__(indices)`` returns them as one batch, just as `default_collate` would; it is called where that is
      the loader's ``collate_fn``. `TensorDataset` has it: one indexing operation in place of one for each sample.

    Neither is called on a class that inherits it but has a ``__getitem__`` of its own.

    ``a + b`` is the `ConcatDataset` of both.

    >>> class Squares(gw.utils.data.Dataset):
    ...     def __len__(self):
    ...         return 3
    ...     def __getitem__(self, index):
    ...         return index**2
    >>> list(gw.utils.data.DataLoader(Squares(), batch_size=3))
    [tensor([0, 1, 4])]
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[Any]) -> ConcatDataset[Any]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co]):
    """Samples in a row: a subclass defines ``__iter__()``.

    With several workers each iterates over it anew; `get_worker_info` tells one which part to yield, lest every sample
    come once from each. ``a + b`` is the `ChainDataset` of both.

    >>> class Squares(gw.utils.data.IterableDataset):
    ...     def __iter__(self):
    ...         return (k**2 for k in range(3))
    >>> list(gw.utils.data.DataLoader(Squares(), batch_size=3))
    [tensor([0, 1, 4])]
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")

    def __add__(self, other: Dataset[Any]) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])


def _nearest(dataset: Any, name: str) -> Any:
    """The method ``name`` of a dataset; None if it has none, or a class nearer to its own has only `__getitem__`."""
    for cls in type(dataset).__mro__:
        if name in vars(cls):
            return getattr(dataset, name)
        if "__getitem__" in vars(cls):
            return None
    return None


def samples(dataset: Any, indices: Sequence[Any], noting: Any = None) -> list[Any]:
    """The samples of these indices, together if the dataset can; ``noting.index`` is always the one being fetched."""
    together = _nearest(dataset, "__getitems__")
    if together:
        found = together(indices)
        if len(found) != len(indices):
            raise ValueError(f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(found)}: the "
                             f"__getitems__ of {type(dataset).__name__} should return one sample for each index")
        return found
    if noting is None:
        return [dataset[i] for i in indices]
    found = []
    for noting.index in indices:
        found.append(dataset[noting.index])
    noting.index = None
    return found


def batch_of(dataset: Any, indices: Sequence[Any], noting: Any = None) -> Any:
    """The batch that `default_collate` makes of these samples, in one operation if the dataset can."""
    at_once = _nearest(dataset, "__getbatch__")
    return at_once(indices) if at_once else default_collate(samples(dataset, indices, noting))


class TensorDataset(Dataset["tuple[Tensor, ...]"]):
    """Rows of tensors: sample ``i`` is ``(a[i], b[i], ...)``.

    Raises TypeError for what is no tensor, AssertionError if their first dims differ.

    >>> data = TensorDataset(gw.arange(4.0), gw.tensor([0, 1, 0, 1]))
    >>> len(data), data[1]
    (4, (tensor(1.), tensor(1)))
    """

    def __init__(self, *tensors: Tensor) -> None:
        for t in tensors:
            if not isinstance(t, TensorBase):
                raise TypeError(f"TensorDataset: expected tensors, but got {kind(t)}: write torch.as_tensor(...)")
        sizes = [len(t) for t in tensors]
        if any(n != sizes[0] for n in sizes):
            raise AssertionError(f"Size mismatch between tensors: they have {sizes} rows; expected equal numbers")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(t[index] for t in self.tensors)

    def __getbatch__(self, indices: Sequence[Any]) -> list[Any]:
        rows = np.fromiter(map(operator.index, indices), np.intp, len(indices))  # no fractions cut off
        return [t[rows] if t.requires_grad or not isinstance(t.array, np.ndarray) else wrap(t.array.take(rows, 0))
                for t in self.tensors]  # fmt: skip

    def __len__(self) -> int:
        return len(self.tensors[0])


class StackDataset(Dataset[Any]):
    """Datasets of one length side by side: a sample is the tuple of theirs, or a dict for datasets given by name.

    Raises ValueError if there are none, some with and some without name, or their lengths differ.

    >>> StackDataset(image=["i0", "i1"], text=["t0", "t1"])[1]
    {'image': 'i1', 'text': 't1'}
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError("Supported either ``tuple``- (via ``args``) or ``dict``- (via ``kwargs``) like "
                             "input/output, but both types are given.")  # fmt: skip
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets: Any = args or kwargs
        self._parts = list(args or kwargs.values())
        if any(len(d) != len(self._parts[0]) for d in self._parts):
            raise ValueError("Size mismatch between datasets")

    def _joined(self, parts: list[Any]) -> Any:
        return tuple(parts) if isinstance(self.datasets, tuple) else dict(zip(self.datasets, parts, strict=True))

    def __getitem__(self, index: Any) -> Any:
        return self._joined([d[index] for d in self._parts])

    def __getitems__(self, indices: Sequence[Any]) -> list[Any]:
        columns = [samples(d, indices) for d in self._parts]
        return [self._joined(list(row)) for row in zip(*columns, strict=True)]

    def __getbatch__(self, indices: Sequence[Any]) -> Any:
        parts = [batch_of(d, indices) for d in self._parts]
        return parts if isinstance(self.datasets, tuple) else self._joined(parts)

    def __len__(self) -> int:
        return len(self._parts[0])


class ConcatDataset(Dataset[T_co]):
    """Datasets one after the other.

    Raises AssertionError if there are none, or one is an `IterableDataset`.

    >>> ConcatDataset([range(3), range(10, 12)])[3]
    10
    """

    def __init__(self, datasets: Iterable[Indexed[T_co]]) -> None:
        self.datasets: list[Any] = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(itertools.accumulate(map(len, self.datasets)))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> T_co:
        if idx < -len(self):
            raise ValueError("absolute value of index should not exceed dataset length")
        idx = idx + len(self) if idx < 0 else idx
        which = bisect.bisect_right(self.cumulative_sizes, idx)
        if which == len(self.datasets):
            raise IndexError(f"index {idx} is out of range for a ConcatDataset of length {len(self)}")
        return self.datasets[which][idx - (self.cumulative_sizes[which - 1] if which else 0)]


class ChainDataset(IterableDataset[Any]):
    """Iterable datasets one after the other. Raises AssertionError, when used, if one is none.

    >>> class Numbers(gw.utils.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter([1, 2])
    >>> list(gw.utils.data.ChainDataset([Numbers(), Numbers()]))
    [1, 2, 1, 2]
    """

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        self.datasets = datasets

    def _checked(self) -> Iterator[Any]:
        for d in self.datasets:
            if not isinstance(d, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield d

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self._checked())

    def __len__(self) -> int:
        return sum(len(d) for d in self._checked())


class Subset(Dataset[T_co]):
    """The samples of a dataset that have these indices, in their order.

    >>> data = gw.utils.data.Subset([10, 20, 30], [2, 0])
    >>> len(data), data[0]
    (2, 30)
    """

    def __init__(self, dataset: Indexed[T_co], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, idx: Any) -> T_co:
        return self.dataset[[self.indices[i] for i in idx] if isinstance(idx, list) else self.indices[idx]]

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        return samples(self.dataset, [self.indices[i] for i in indices])

    def __getbatch__(self, indices: Sequence[int]) -> Any:
        return batch_of(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Indexed[T_co], lengths: Sequence[float], generator: Generator | None = None
                 ) -> list[Subset[T_co]]:  # fmt: skip
    """A dataset split at random into parts of these lengths.

    Args:
        dataset: what is split.
        lengths: whole numbers with the sum ``len(dataset)``; or fractions with the sum 1, each of which gives its part
            rounded down, and the samples that are left over go one each to the first parts.
        generator: where the order comes from; the same one gives the same parts.

    Raises ValueError for lengths of another sum or below 0; warns of empty parts.

    >>> parts = random_split(range(10), [0.7, 0.2, 0.1], generator=gw.Generator().manual_seed(42))
    >>> [len(p) for p in parts], sorted(i for p in parts for i in p)
    ([7, 2, 1], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    held: Any = dataset
    n = len(held)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        for i, fraction in enumerate(lengths):
            if not 0 <= fraction <= 1:
                raise ValueError(f"Fraction at index {i} is not between 0 and 1")
        counts = [math.floor(n * fraction) for fraction in lengths]
        left = n - sum(counts)
        counts = [c + left // len(counts) + (i < left % len(counts)) for i, c in enumerate(counts)]
        for i in [i for i, c in enumerate(counts) if c == 0]:
            warnings.warn(f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=2)
    else:
        counts = list(lengths)  # type: ignore[arg-type]
    if min(counts, default=0) < 0:
        raise ValueError(f"Expected lengths of at least 0, but got {counts}")
    if sum(counts) != n:
        raise ValueError(f"Sum of input lengths does not equal the length of the input dataset! {counts} for {n}")
    order = random.randperm(n, generator=generator).tolist()
    ends = list(itertools.accumulate(counts))
    return [Subset(dataset, order[end - c : end]) for end, c in zip(ends, counts, strict=True)]
