"""Parts of batches."""

from __future__ import annotations

import pytest

import gradwright as gw
from gradwright.distributed import PartSampler
from gradwright.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset


def test_the_parts_are_the_batches() -> None:
    def batches() -> BatchSampler:
        return BatchSampler(RandomSampler(range(12), generator=gw.Generator().manual_seed(0)), 6, drop_last=True)

    parts = [list(PartSampler(batches(), rank, 3)) for rank in range(3)]
    assert [[k for part in these for k in part] for these in zip(*parts, strict=True)] == list(batches())
    assert len(PartSampler(batches(), 0, 3)) == 2
    loader = DataLoader(TensorDataset(gw.arange(12)), batch_sampler=PartSampler(batches(), 1, 3))
    assert [b[0].tolist() for b in loader] == parts[1]


def test_parts_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="batch 1, of 2 samples, does not divide among 4 processes"):
        list(PartSampler([[0, 1, 2, 3], [4, 5]], 0, 4))
    with pytest.raises(ValueError, match="rank 2 of 2 processes: expected 0 to 1"):
        PartSampler([], 2, 2)
