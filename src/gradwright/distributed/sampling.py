"""Which samples each process loads, so that all together have the batches of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from zlib import crc32

from gradwright.distributed.session import get_rank, get_world_size
from gradwright.utils.data import Sampler


class PartSampler(Sampler[list[int]]):
    """This process's part of each batch of another batch sampler, for ``DataLoader(..., batch_sampler=...)``.

    Process r of n takes the r-th of n equal parts of a batch, in its order; ``shard(..., local=True)`` puts them
    together again. So the batches, and with them the numbers, are those of one process.

    Args:
        batches: a batch sampler over the whole data, which gives the same batches in each process: its generator must
            have the same seed in all, as `gradwright.manual_seed` gives it. The first batch of each pass is compared.
        rank: which process this is; as `init` has it, unless given.
        world_size: how many there are.

    Raises ValueError for a batch that does not divide, RuntimeError if the first batches differ.

    >>> from gradwright.utils.data import BatchSampler
    >>> list(PartSampler(BatchSampler(range(8), 4, drop_last=True), rank=1, world_size=2))
    [[2, 3], [6, 7]]
    """

    def __init__(self, batches: Iterable[list[int]], rank: int | None = None, world_size: int | None = None) -> None:
        self.batches = batches
        self.rank = get_rank() if rank is None else rank
        self.world_size = get_world_size() if world_size is None else world_size
        if not 0 <= self.rank < self.world_size:
            raise ValueError(f"PartSampler: rank {self.rank} of {self.world_size} processes: expected 0 to "
                             f"{self.world_size - 1}")  # fmt: skip

    def __iter__(self) -> Iterator[list[int]]:
        for k, batch in enumerate(self.batches):
            if k == 0 and get_world_size() > 1:
                digest = crc32(repr(list(batch)).encode())
                import_module("gradwright.backends.jax_processes").agree(
                    f"a batch of {len(batch)} samples that begins with {list(batch[:3])}, checksum {digest:08x}",
                    "PartSampler takes parts of one batch: give the samplers of all processes the same seed",
                )
            part, rest = divmod(len(batch), self.world_size)
            if rest:
                raise ValueError(f"PartSampler: batch {k}, of {len(batch)} samples, does not divide among "
                                 f"{self.world_size} processes: take another batch size, or drop_last")  # fmt: skip
            yield list(batch[self.rank * part : (self.rank + 1) * part])

    def __len__(self) -> int:
        return len(self.batches)  # type: ignore[arg-type]
