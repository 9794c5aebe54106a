"""Datasets, and batches of samples."""

from collections import OrderedDict, namedtuple

import numpy as np
import pytest

import gradwright as gw
from gradwright.utils.data import (
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    default_collate,
    default_convert,
)
from gradwright.utils.data.dataset import batch_of, samples


def plain(x):
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    return [plain(v) for v in x] if isinstance(x, (list, tuple)) else x.tolist() if hasattr(x, "tolist") else x


def test_the_kinds(T, data):
    class Row(data.IterableDataset):
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            return iter(range(self.n))

        def __len__(self):
            return self.n

    tensors = data.TensorDataset(T.arange(6).reshape(3, 2), T.arange(3))
    assert plain(tensors[1]) == [[2, 3], 1]
    assert len(tensors) == 3
    stacked = data.StackDataset(tensors, "abc")
    assert plain(stacked[2]) == [[[4, 5], 2], "c"]
    assert data.StackDataset(a="abc", b=range(3))[1] == {"a": "b", "b": 1}
    joined = tensors + tensors
    assert isinstance(joined, data.ConcatDataset)
    assert [plain(joined[i])[1] for i in (0, 3, 5, -1, -6)] == [0, 0, 2, 2, 0]
    assert joined.cumulative_sizes == [3, 6]
    subset = data.Subset(joined, [5, 0])
    assert plain(subset[0])[1] == 2
    assert len(subset) == 2
    chained = Row(2) + Row(3)
    assert isinstance(chained, data.ChainDataset)
    assert list(chained) == [0, 1, 0, 1, 2]
    assert len(chained) == 5


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda T, d: d.TensorDataset(T.ones(2), T.ones(3)), AssertionError, "Size mismatch between tensors"),
        (lambda T, d: d.StackDataset(), ValueError, "At least one dataset should be passed"),
        (lambda T, d: d.StackDataset("ab", x="ab"), ValueError, "both types are given"),
        (lambda T, d: d.StackDataset("ab", "a"), ValueError, "Size mismatch between datasets"),
        (lambda T, d: d.StackDataset(a="ab", b="a"), ValueError, "Size mismatch between datasets"),
        (lambda T, d: d.ConcatDataset([]), AssertionError, "datasets should not be an empty iterable"),
        (lambda T, d: d.ConcatDataset([d.ChainDataset([])]), AssertionError, "does not support IterableDataset"),
        (lambda T, d: d.ConcatDataset(["ab"])[-3], ValueError, "absolute value of index should not exceed"),
        (lambda T, d: d.ConcatDataset(["ab"])[2], IndexError, "out of range"),
        (lambda T, d: list(d.ChainDataset(["ab"])), AssertionError, "ChainDataset only supports IterableDataset"),
        (lambda T, d: d.Dataset()[0], NotImplementedError, "Subclasses of Dataset should implement __getitem__."),
        (lambda T, d: d.random_split("abc", [1, 1]), ValueError, "Sum of input lengths does not equal the length"),
        (lambda T, d: d.random_split("abc", [1.5, -0.5]), ValueError, "Fraction at index 0 is not between 0 and 1"),
    ],
)
def test_checks(T, data, use, error, message):
    with pytest.raises(error, match=message):
        use(T, data)


def test_more_checks_than_pytorchs():
    for wrong in ([1, 2], np.ones(2)):
        with pytest.raises(TypeError, match=r"^TensorDataset: expected tensors, but got \w+: write torch.as_tensor"):
            TensorDataset(gw.ones(2), wrong)
    with pytest.raises(ValueError, match=r"^Expected lengths of at least 0, but got \[-1, 4\]"):
        gw.utils.data.random_split("abc", [-1, 4])


def test_fractions_are_no_indices(T, data):
    loader = data.DataLoader(data.TensorDataset(T.arange(3)), sampler=[0, 1.5], batch_size=2)
    with pytest.raises((TypeError, IndexError), match="float"):
        next(iter(loader))


def test_an_iterable_dataset_needs_an_iter():
    with pytest.raises(NotImplementedError, match="should implement __iter__"):
        iter(IterableDataset())


# -- splits --


@pytest.mark.parametrize("lengths", [[3, 7], [10], [0.5, 0.5], [0.3, 0.3, 0.4], [0.33, 0.33, 0.34], [0.26, 0.26, 0.48]])
def test_splits_are_of_the_lengths_pytorch_gives(T, data, lengths):
    parts = data.random_split(range(10), lengths, generator=T.Generator().manual_seed(1))
    expected = {(0.33, 0.33, 0.34): [4, 3, 3], (0.26, 0.26, 0.48): [3, 3, 4]}.get(tuple(lengths))
    assert [len(p) for p in parts] == (expected or [n if isinstance(n, int) else round(10 * n) for n in lengths])
    assert sorted(i for p in parts for i in p) == list(range(10))
    again = data.random_split(range(10), lengths, generator=T.Generator().manual_seed(1))
    assert [list(p) for p in again] == [list(p) for p in parts]


def test_an_empty_part_is_warned_of(T, data):
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0"):
        data.random_split(range(2), [0.9, 0.1])


# -- whole batches --

X, Y = gw.arange(12.0).reshape(6, 2), gw.arange(6)
TENSORS = TensorDataset(X, Y)


@pytest.mark.parametrize("indices", [[0], [5, 0, 5], [-1, 2], list(gw.tensor([1, 3]))], ids=str)
@pytest.mark.parametrize(
    "dataset",
    [
        TENSORS, Subset(TENSORS, [5, 4, 3, 2, 1, 0]), Subset(Subset(TENSORS, range(6)), [0, 0, 1, 1, 2, 2]),
        StackDataset(TENSORS, "abcdef"), StackDataset(a=TENSORS, b=range(6)), ConcatDataset([TENSORS, TENSORS]),
        Subset("abcdef", range(6)), TensorDataset(X.double().requires_grad_(), X[:, 0]),
        Subset(StackDataset(x=TENSORS, y=range(6)), range(6)),
    ],
    ids=lambda d: type(d).__name__,
)  # fmt: skip
def test_a_batch_is_the_samples_collated(dataset, indices):
    one_by_one = [dataset[i] for i in indices]
    assert plain(samples(dataset, indices)) == plain(one_by_one)
    assert plain(batch_of(dataset, indices)) == plain(default_collate(one_by_one))


def test_a_batch_has_memory_of_its_own_and_a_history():
    (x,) = batch_of(TensorDataset(X), range(6))
    x.zero_()
    assert X.sum() == 66
    leaf = gw.ones(3, 2, requires_grad=True)
    (x,) = batch_of(TensorDataset(leaf), [0, 0, 2])
    x.sum().backward()
    assert leaf.grad.tolist() == [[2, 2], [0, 0], [1, 1]]


def test_a_getitem_of_ones_own_is_not_passed_over():
    class Louder(TensorDataset):
        def __getitem__(self, index):
            return tuple(10 * x for x in super().__getitem__(index))

    class Part(Subset):
        def __getitem__(self, index):
            return super().__getitem__(index)[0] + 1

    assert plain(batch_of(Louder(Y), [1, 2])) == [[10, 20]]
    assert plain(batch_of(Subset(Louder(Y), [3]), [0])) == [[30]]
    assert plain(batch_of(Part(TENSORS, [3, 4]), [0, 1])) == [[7, 8], [9, 10]]


def test_the_protocols():
    class Together(Dataset):
        def __getitems__(self, indices):
            return [10 * i for i in indices]

    class Whole(Together):
        def __getbatch__(self, indices):
            return "batch"

    assert samples(Together(), [1, 2]) == [10, 20]
    assert batch_of(Together(), [1, 2]).tolist() == [10, 20]
    assert batch_of(Whole(), [1, 2]) == "batch"
    Together.__getitems__ = lambda self, indices: []
    with pytest.raises(ValueError, match=r"size mismatch. Expected 1, got 0: the __getitems__ of Together"):
        samples(Together(), [1])
    Together.__getitems__ = None
    Together.__getitem__ = lambda self, index: index
    assert samples(Together(), [1, 2]) == [1, 2]


Point = namedtuple("Point", "x y")
BATCHES = {
    "floats": [1.5, 2.5], "ints": [1, 2], "bools": [True, False], "texts": ["a", "b"], "bytes": [b"a"],
    "numpy numbers": [np.float32(1), np.float32(2)], "numpy bools": [np.True_], "numpy ints": [np.int16(3)],
    "arrays": [np.ones((2, 3), "f4"), np.zeros((2, 3), "f4")], "0-d arrays": [np.array(1.0), np.array(2.0)],
    "memory maps": [np.ones(2).view(np.memmap)], "dtypes": [np.ones(2, "i4"), np.ones(2, "i8")],
    "pairs": [(np.ones(2), 1), (np.ones(2), 2)], "lists": [[1.0, "a"], [2.0, "b"]], "deep": [[{"a": (1, [2.0])}]] * 3,
    "dicts": [{"x": 1, "y": 2.0}, {"x": 3, "y": 4.0}], "ordered": [OrderedDict(b=1, a=2)] * 2,
    "points": [Point(1, 2.0), Point(3, 4.0)], "ranges": [range(3), range(3)], "empty": [(), ()],
    "empty array": [np.ones((0, 2))],
}  # fmt: skip


def told(x):
    """Nested data with tensors and arrays as their dtype and values."""
    if hasattr(x, "tolist"):
        return str(x.dtype), x.tolist()
    if isinstance(x, dict):
        return type(x).__name__, [(k, told(v)) for k, v in x.items()]
    return (type(x).__name__, [told(v) for v in x]) if isinstance(x, (list, tuple)) else x


@pytest.mark.parametrize("name", BATCHES)
def test_collate_and_convert_as_pytorch(name, torch):
    batch = BATCHES[name]
    assert told(default_collate(batch)) == told(torch.utils.data.default_collate(batch))
    assert told(default_convert(batch)) == told(torch.utils.data.default_convert(batch))


@pytest.mark.parametrize("shape", [(), (3,), (2, 0)])
def test_tensors_are_stacked(T, data, shape):
    batch = data.default_collate([T.ones(shape), T.zeros(shape)])
    assert tuple(batch.shape) == (2, *shape)
    assert not batch.requires_grad
    leaf = T.ones(2, requires_grad=True)
    data.default_collate([leaf, leaf]).sum().backward()
    assert leaf.grad.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda T: [1j], TypeError, "batch must contain tensors, numpy arrays, numbers, dicts or lists; found"),
        (lambda T: [None], TypeError, "found <class 'NoneType'>"),
        (lambda T: [np.array(["a"])], TypeError, "found <U1"),
        (lambda T: [np.array([object()])], TypeError, "found object"),
        (lambda T: [[1, 2], [1]], RuntimeError, "each element in list of batch should be of equal size"),
        (lambda T: [T.ones(2), T.ones(3)], RuntimeError, "stack expects each tensor to be equal size"),
        (lambda T: [np.ones(2), np.ones(3)], RuntimeError, "stack expects each tensor to be equal size"),
        (lambda T: [{"a": 1}, {"b": 1}], KeyError, "a"),
    ],
)
def test_what_makes_no_batch(T, data, make, error, message):
    with pytest.raises(error, match=message):
        data.default_collate(make(T))


def test_arrays_that_tensors_cannot_hold():
    for array in (np.ones(2, ">f4"), np.ma.array([1.0, 2.0], mask=[True, False])):
        with pytest.raises(TypeError):
            default_collate([array, array])


def test_strange_containers_become_plain_ones():
    class Fixed(list):
        def __setitem__(self, *_):
            raise TypeError

    assert type(default_collate([Fixed([1])])) is list
    mapping = type("Attributed", (dict,), {})(a=1)
    mapping.note = "kept"
    assert default_collate([mapping, mapping]).note == "kept"
    assert type(default_convert({"a": gw.ones(1)})["a"]) is gw.Tensor


@pytest.mark.parametrize("batch", [[gw.ones(2), gw.ones(3)], [(np.ones(2), 1), (np.ones(3), 1)], [[1, 2], [1]]])
def test_samples_of_unequal_size_ask_for_a_collate_fn(batch):
    with pytest.raises(RuntimeError, match="pad or cut the samples, or give the DataLoader a collate_fn"):
        default_collate(batch)
