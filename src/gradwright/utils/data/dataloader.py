"""DataLoader: the batches of a dataset, one epoch after the other."""

from __future__ import annotations

import copy
import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice, repeat
from multiprocessing.context import BaseContext
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, overload

from gradwright.backends.generator import shared
from gradwright.utils.data.dataset import (
    Indexed,
    IterableDataset,
    T_co,
    batch_of,
    default_collate,
    default_convert,
    samples,
)
from gradwright.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler, draw_seed
from gradwright.utils.data.worker import END, Job, ProcessWorker, Team, ThreadWorker

if TYPE_CHECKING:
    import numpy as np

    from gradwright.face.typing import Generator, Tensor

    Entry: TypeAlias = Tensor | np.ndarray[Any, Any] | np.generic | float
    """The types that `default_collate` makes a tensor of."""


class Named(Protocol):
    """A named tuple, of which a batch is another, with the same names."""

    def _asdict(self) -> dict[str, Any]: ...


_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
_THREAD = "thread"


class _Noting:
    """A context manager that adds to an exception which sample was being fetched."""

    index: Any = None

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset

    def __enter__(self) -> _Noting:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if isinstance(error, Exception) and self.index is not None:
            error.add_note(f"DataLoader was fetching sample {self.index} of {type(self._dataset).__name__}")


def _by_number(dataset: Any, batched: bool, collate: Any) -> Callable[[Any], Any]:
    """A function that fetches the batch, or the sample, of given indices."""

    def fetch(index: Any) -> Any:
        with _Noting(dataset) as noting:
            if batched:
                if collate is default_collate:
                    return batch_of(dataset, index, noting)
                return collate(samples(dataset, index, noting))
            noting.index = index
            return collate(dataset[index])

    return fetch


def _in_a_row(dataset: Any, batched: bool, drop_last: bool, collate: Any) -> Callable[[Any], Any]:
    """A function that fetches the next batch, or sample, and at last END."""
    rest = iter(dataset)

    def fetch(places: Any) -> Any:
        if not batched:
            sample = next(rest, END)
            return END if sample is END else collate(sample)
        batch = list(islice(rest, len(places)))
        return END if not batch or (drop_last and len(batch) < len(places)) else collate(batch)

    return fetch


class DataLoader(Generic[T_co]):
    """The batches of a dataset: each ``for`` over it is an epoch.

    Args:
        dataset: a `Dataset`, or anything with ``__getitem__`` and ``__len__``; or an `IterableDataset`.
        batch_size: samples in a batch; None for single samples, without a batch dim.
        shuffle: whether each epoch has another order.
        sampler: what gives the indices, in place of ``shuffle``.
        batch_sampler: what gives lists of indices, in place of ``batch_size``, ``shuffle``, ``sampler``, ``drop_last``.
        num_workers: how many workers fetch batches ahead; 0 fetches each when it is asked for.
        collate_fn: makes a batch of a list of samples; `default_collate`, or `default_convert` without batches.
        pin_memory: accepted; there is no memory to pin.
        drop_last: whether to leave out a last batch that is not full.
        timeout: how many seconds to wait for a batch from a worker; 0 for as long as it takes.
        worker_init_fn: called in each worker with its number.
        multiprocessing_context: how processes start (``"fork"``, ``"spawn"``, ``"forkserver"`` or a context), or
            ``"thread"``.
        generator: where the order of ``shuffle`` and the seed of the workers come from.
        prefetch_factor: how many batches each worker is ahead; 2 unless given.
        persistent_workers: whether workers go on living after an epoch. Those of a loop that was left early finish what
            they had been asked for, and it is thrown away.
        in_order: accepted; batches are always in order.

    **Workers** are processes: each has its own copy of the dataset and its own random numbers, and runs Python code at
    the same time as the others, which is what slow datasets need. They cost their start and a copy of each batch. With
    ``multiprocessing_context="thread"`` they are threads: no start, no copies, no pickling; right where the time goes
    into what lets other threads run (reading files, NumPy on large arrays, zlib), and where the dataset may be used by
    several threads. A dataset in memory is fastest with none: the rows of a `TensorDataset` are fetched a batch at a
    time (see `Dataset` for how yours can be).

    **Order and randomness.** The same ``generator`` seed gives the same batches in the same order with any number of
    workers. Random numbers drawn in a worker process (gradwright's, Python's, NumPy's) start anew for each batch from
    the epoch's seed and the batch's number: the same for any number of worker processes, but not as without. Where
    `gw.random.use("torch")` holds they start once in each process, as PyTorch's. Threads draw from the random numbers
    of the whole program, in no fixed order.

    An exception in a worker is raised here, of the same type, with the worker's traceback as message and the sample
    that failed; a worker that dies is a RuntimeError, as is a ``timeout``. Leaving the loop ends the workers.

    Raises ValueError for options that exclude each other, with PyTorch's words.

    >>> from gradwright.utils.data import TensorDataset
    >>> data = TensorDataset(gw.arange(5.0), gw.tensor([0, 1, 0, 1, 0]))
    >>> for x, y in DataLoader(data, batch_size=2):
    ...     print(x.tolist(), y.tolist())
    [0.0, 1.0] [0, 1]
    [2.0, 3.0] [0, 1]
    [4.0] [0]
    """

    _initialized = False

    @overload
    def __init__(
        self, dataset: Indexed[T_co], batch_size: int = 1, shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None, batch_sampler: Iterable[Sequence[Any]] | None = None,
        num_workers: int = 0, collate_fn: None = None, pin_memory: bool = False,
        drop_last: bool = False, timeout: float = 0, worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: BaseContext | str | None = None,
        generator: Generator | None = None, *, prefetch_factor: int | None = None, persistent_workers: bool = False,
        pin_memory_device: str = "", in_order: bool = True,
    ) -> None: ...  # fmt: skip
    @overload
    def __init__(
        self: DataLoader[Any], dataset: Indexed[Any], batch_size: int | None = 1, shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None, batch_sampler: Iterable[Sequence[Any]] | None = None,
        num_workers: int = 0, collate_fn: Callable[[list[Any]], Any] | None = None, pin_memory: bool = False,
        drop_last: bool = False, timeout: float = 0, worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: BaseContext | str | None = None,
        generator: Generator | None = None, *, prefetch_factor: int | None = None, persistent_workers: bool = False,
        pin_memory_device: str = "", in_order: bool = True,
    ) -> None: ...  # fmt: skip
    def __init__(
        self, dataset: Indexed[T_co], batch_size: int | None = 1, shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None, batch_sampler: Iterable[Sequence[Any]] | None = None,
        num_workers: int = 0, collate_fn: Callable[[list[Any]], Any] | None = None, pin_memory: bool = False,
        drop_last: bool = False, timeout: float = 0, worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: BaseContext | str | None = None,
        generator: Generator | None = None, *, prefetch_factor: int | None = None, persistent_workers: bool = False,
        pin_memory_device: str = "", in_order: bool = True,
    ) -> None:  # fmt: skip
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError("prefetch_factor option could only be specified in multiprocessing. Let num_workers > 0 "
                             "to enable multiprocessing, otherwise set prefetch_factor to None.")  # fmt: skip
        if prefetch_factor is not None and prefetch_factor < 0:
            raise ValueError("prefetch_factor option should be non-negative")
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
        self._iterable = isinstance(dataset, IterableDataset)
        if self._iterable:
            given = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
            for name, value in given.items():
                if value is not None:
                    raise ValueError(f"DataLoader with IterableDataset: expected unspecified {name} option, but got "
                                     f"{name}={value}")  # fmt: skip
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and "
                                 "drop_last")  # fmt: skip
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        held: Any = dataset
        if sampler is None:
            if self._iterable:
                sampler = repeat(None)  # as many places as one asks for
            else:
                sampler = RandomSampler(held, generator=generator) if shuffle else SequentialSampler(held)
        if batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        batched = batch_sampler is not None

        self.dataset, self.sampler, self.batch_sampler = held, sampler, batch_sampler
        self.batch_size, self.drop_last = batch_size, drop_last
        self.collate_fn = collate_fn or (default_collate if batched else default_convert)
        self.num_workers, self.worker_init_fn, self.timeout = num_workers, worker_init_fn, timeout
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.persistent_workers, self.generator = persistent_workers, generator
        self.pin_memory, self.pin_memory_device, self.in_order = pin_memory, pin_memory_device, in_order
        self.multiprocessing_context = _context(multiprocessing_context, num_workers)
        self._team: Team | None = None
        self._initialized = True

    def __setattr__(self, name: str, value: Any) -> None:
        if self._initialized and name in _FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @overload
    def __iter__(self: DataLoader[Named]) -> Iterator[Any]: ...
    @overload
    def __iter__(self: DataLoader[Entry]) -> Iterator[Tensor]: ...
    @overload
    def __iter__(self: DataLoader[tuple[Entry, ...]]) -> Iterator[list[Tensor]]: ...
    @overload
    def __iter__(self: DataLoader[dict[str, Tensor]]) -> Iterator[dict[str, Tensor]]: ...
    @overload
    def __iter__(self) -> Iterator[Any]: ...
    def __iter__(self) -> Iterator[Any]:
        seed = self._team.seed if self._team and shared.stream == "torch" else draw_seed(self.generator)
        return self._with_workers(seed) if self.num_workers else self._alone()

    def __len__(self) -> int:
        if not self._iterable:
            return len(self._indices)
        n: int = len(self.dataset)
        if self.batch_size is None:
            return n
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)

    @property
    def _indices(self) -> Any:
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def _fetcher(self) -> Callable[[Any], Callable[[Any], Any]]:
        """A function that makes, from the dataset, the one that fetches a batch."""
        batched = self.batch_sampler is not None
        if self._iterable:
            return partial(_in_a_row, batched=batched, drop_last=self.drop_last, collate=self.collate_fn)
        return partial(_by_number, batched=batched, collate=self.collate_fn)

    def _alone(self) -> Iterator[Any]:
        fetch = self._fetcher()(self.dataset)
        for index in self._indices:
            batch = fetch(index)
            if batch is END:
                return
            yield batch

    def _with_workers(self, seed: int) -> Iterator[Any]:
        team, self._team = self._team or self._new_team(seed), None  # another loop over this loader needs its own
        try:
            yield from team.batches(self._indices, seed)
        finally:
            if self.persistent_workers and self._team is None and team.is_whole:
                self._team = team
            else:
                team.close()

    def _new_team(self, seed: int) -> Team:
        context = self.multiprocessing_context or multiprocessing.get_context()
        threads = context == _THREAD
        start = ThreadWorker if threads else partial(ProcessWorker, context)
        workers, once = [], shared.stream == "torch"
        for i in range(self.num_workers):
            dataset = copy.copy(self.dataset) if threads and self._iterable else self.dataset
            workers.append(start(Job(dataset, self._fetcher(), self.worker_init_fn, i, self.num_workers, once)))
        return Team(workers, self.timeout, self.prefetch_factor or 0, seed)


def _context(given: Any, num_workers: int) -> Any:
    """The context for processes, ``"thread"``, or None for the platform's."""
    if given is None:
        return None
    if num_workers == 0:
        raise ValueError("multiprocessing_context can only be used with multi-process loading (num_workers > 0), but "
                         f"got num_workers={num_workers}")  # fmt: skip
    known = [*multiprocessing.get_all_start_methods(), _THREAD]
    if isinstance(given, str):
        if given not in known:
            raise ValueError(f"multiprocessing_context option should specify a valid start method in {known!r}, but "
                             f"got multiprocessing_context={given!r}")  # fmt: skip
        return given if given == _THREAD else multiprocessing.get_context(given)
    if not isinstance(given, BaseContext):
        raise TypeError("multiprocessing_context option should be a valid context object or a string specifying the "
                        f"start method, but got multiprocessing_context={given}")  # fmt: skip
    return given
