"""What a crafted pickle asks of the functions that build tensors: nothing outside their memory, nothing but data."""

from __future__ import annotations

import io
import pickle  # noqa: TID251 - what is loaded here was made here

import numpy as np
import pytest

import gradwright as gw
from gradwright.base.errors import FileError
from gradwright.serialization.checkpoint.opcodes import read
from gradwright.serialization.checkpoint.rebuild import Kind, Rebuild, Storage

MEMORY = np.arange(6, dtype=np.float32).view(np.uint8)


class Call:
    def __init__(self, name, *arguments):
        self.name, self.arguments = name, arguments


def rebuilt(name, *arguments):
    """What a pickle gives that calls ``name`` with these arguments, of which STORAGE stands for the storage."""
    out = Rebuild()
    content = pickle.dumps(("STORAGE", *arguments), 2)
    found = [Storage(MEMORY, "float32", [0]) if a == "STORAGE" else a for a in read(io.BytesIO(content), out.find)]
    return out.find(name)(*found)


@pytest.mark.parametrize(("offset", "size", "stride"), [
    (0, (7,), (1,)), (6, (1,), (1,)), (0, (2,), (6,)), (-1, (1,), (1,)), (0, (2,), (-1,)), (2**62, (1,), (1,)),
    (0, (2**40, 2**40), (1, 1)), (0, (1,), (2**62,)), (0, ("a",), (1,)),
])  # fmt: skip
def test_no_tensor_reaches_beyond_its_memory(offset, size, stride):
    if (offset, size, stride) == (0, (1,), (2**62,)):
        size = (2,)
    with pytest.raises((ValueError, TypeError, OverflowError)):
        rebuilt("torch._utils._rebuild_tensor_v2", offset, size, stride, False, {})


def test_a_tensor_lies_in_a_storage_alone():
    posing = gw.zeros(2)
    posing.memory, posing.counter = None, [0]  # without a buffer, the memory would be what was there before
    with pytest.raises(ValueError, match="lies in a Tensor, which is no storage"):
        Rebuild().find("torch._utils._rebuild_tensor_v2")(posing, 0, (1000,), (1,), False, {})


def test_a_few_bytes_negated_do_not_fill_the_memory():
    marks = [False, {}, {"neg": True}]
    assert rebuilt("torch._utils._rebuild_tensor_v2", 1, (3,), (0,), *marks).tolist() == [-1, -1, -1]
    with pytest.raises(FileError, match="has more entries than its storage"):
        rebuilt("torch._utils._rebuild_tensor_v2", 1, (10**12,), (0,), *marks)


def test_within_it_every_layout_is_had():
    found = rebuilt("torch._utils._rebuild_tensor_v2", 1, (2, 2), (2, 1), True, {})
    assert found.tolist() == [[1, 2], [3, 4]]
    assert found.requires_grad
    assert rebuilt("torch._utils._rebuild_tensor", 0, (3,), (0,)).tolist() == [0, 0, 0]


@pytest.mark.parametrize("name", ["array", "requires_grad", "__class__", "_version", "grad_fn", "add"])
def test_attributes_of_the_class_are_not_set(name):
    build = Rebuild().find("torch._tensor._rebuild_from_type_v2")
    with pytest.raises(ValueError, match=f"sets the attribute '{name}'"):
        build(gw.zeros, Kind("torch.Tensor"), (2,), {name: 1})


@pytest.mark.parametrize("name", [
    "builtins.eval", "builtins.getattr", "builtins.print", "torch.load", "torch.hub.load", "torch.nn.Linear",
    "gradwright.load", "numpy.load", "torch.float7", "torch.storage._load_from_bytes",
])
def test_other_names_are_refused(name):
    with pytest.raises(FileError, match=f"GLOBAL {name} was not an allowed global"):
        Rebuild().find(name)


@pytest.mark.parametrize("name", ["torch.float8_e4m3fn", "torch.quint8"])
def test_dtypes_that_gradwright_has_not_are_named(name):
    with pytest.raises(FileError, match=f"gradwright has no {name}"):
        Rebuild().find(name)


def test_sizes_alone_make_no_bytes():
    for size in (10**12, gw.tensor(10**12), np.int64(10**12)):
        with pytest.raises(ValueError, match="a bytearray of a size"):
            Rebuild().find("builtins.bytearray")(size)
