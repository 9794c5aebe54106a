"""What a loader makes of the samples of datasets."""

from typing import Any, NamedTuple, assert_type

import gradwright as gw
from gradwright import Tensor
from gradwright.utils.data import DataLoader, Dataset, TensorDataset


class Digits(Dataset[tuple[Tensor, int]]):
    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return gw.ones(3), index


class Sample(NamedTuple):
    image: Tensor
    text: str


class Texts(Dataset[Sample]):
    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> Sample:
        return Sample(gw.ones(3), "a")


class Records(Dataset[dict[str, Tensor]]):
    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> dict[str, Tensor]:
        return {"x": gw.ones(3)}


for x, label in DataLoader(Digits(), batch_size=2, shuffle=True):
    assert_type(x, Tensor)
    assert_type(label, Tensor)
    right = (x.argmax(1) == label).sum()
    assert_type(right, Tensor)
    assert_type(x != 0, Tensor)
batch = next(iter(DataLoader(TensorDataset(gw.ones(4), gw.ones(4)))))
assert_type(batch, list[Tensor])
assert_type(next(iter(DataLoader([1.0, 2.0]))), Tensor)
assert_type(next(iter(DataLoader(Records()))), dict[str, Tensor])
named = next(iter(DataLoader(Texts())))
assert_type(named, Any)
print(named.image)
assert_type(next(iter(DataLoader(Digits(), collate_fn=len))), Any)
assert_type(next(iter(DataLoader(Digits(), batch_size=None))), Any)
