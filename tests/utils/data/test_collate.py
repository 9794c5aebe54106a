"""Batches of nested samples are PyTorch's."""

from __future__ import annotations

from collections import OrderedDict, namedtuple

import numpy as np
import pytest

import gradwright as gw
from gradwright.utils.data import default_collate, default_convert

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


def plain(x):
    """Nested data with tensors and arrays as their dtype and values."""
    if hasattr(x, "tolist"):
        return str(x.dtype), x.tolist()
    if isinstance(x, dict):
        return type(x).__name__, [(k, plain(v)) for k, v in x.items()]
    return (type(x).__name__, [plain(v) for v in x]) if isinstance(x, (list, tuple)) else x


@pytest.mark.parametrize("name", BATCHES)
def test_collate_and_convert_as_pytorch(name, torch):
    batch = BATCHES[name]
    assert plain(default_collate(batch)) == plain(torch.utils.data.default_collate(batch))
    assert plain(default_convert(batch)) == plain(torch.utils.data.default_convert(batch))


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
