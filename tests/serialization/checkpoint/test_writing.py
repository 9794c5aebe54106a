"""Files written as PyTorch does: it reads them with weights_only=True, and so does gradwright."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradwright as gw
from gradwright.serialization.checkpoint.writing import Content
from tests.serialization.checkpoint.data import CASES, told

OURS = {name: case for name, case in CASES.items() if name != "sparse"}


def data_of(case):
    data = OURS[case](gw)
    return data[:-1] if case == "scalars" else data  # without the bytearray


def written(data):
    file = io.BytesIO()
    Content(data).to_file(file, "archive")
    return file.getvalue()


@pytest.mark.parametrize("case", OURS)
def test_pytorch_reads_it_and_finds_the_same(torch, case):
    data = data_of(case)
    assert told(torch.load(io.BytesIO(written(data)), weights_only=True)) == told(data)


@pytest.mark.parametrize("case", OURS)
def test_gradwright_reads_it_and_finds_the_same(case):
    data = data_of(case)
    assert told(gw.load(io.BytesIO(written(data)))) == told(data)


def test_memory_is_shared_in_it(torch):
    content = written(CASES["shared"](gw))
    names = [n for n in zipfile.ZipFile(io.BytesIO(content)).namelist() if "/data/" in n]
    assert len(names) == 2
    found = torch.load(io.BytesIO(content))
    found[4].fill_(7)
    assert found[1].tolist() == [[0, 4, 8], [1, 7, 7], [2, 7, 7], [3, 7, 7]]
    assert found[5] is found[6]


def test_pytorch_maps_it(torch, tmp_path):
    path = tmp_path / "net.pt"
    path.write_bytes(written(CASES["trained"](gw)))
    assert told(torch.load(path, mmap=True)) == told(gw.load(path, mmap=True)) == told(gw.load(path))
    assert {(i.header_offset + 30 + len(i.filename) + len(i.extra)) % 64 for i in zipfile.ZipFile(path).filelist} == {0}


def test_the_same_data_make_the_same_file():
    assert written(CASES["trained"](gw)) == written(CASES["trained"](gw))


def test_numpy_values_are_read_where_weights_only_is_false(torch):
    content = written({"loss": np.float32(0.25), "ids": np.arange(6).reshape(2, 3).T})
    for load in (torch.load, gw.load):
        found = load(io.BytesIO(content), weights_only=False)
        assert found["loss"] == 0.25
        assert found["ids"].tolist() == [[0, 3], [1, 4], [2, 5]]


def test_entries_that_go_backwards_or_lie_across_others_are_stored_in_order():
    octets = np.arange(16, dtype=np.uint8)
    across = np.frombuffer(octets.data, np.float32, 3, 1)
    found = gw.load(io.BytesIO(written([octets[::-1], across, octets])), weights_only=False)
    assert [a.tolist() for a in found] == [[*range(15, -1, -1)], across.tolist(), [*range(16)]]


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary() |
    st.complex_numbers(allow_nan=False),
    lambda inner: st.lists(inner, max_size=4) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
))  # fmt: skip
def test_any_nested_data(torch, data):
    content = written(data)
    assert gw.load(io.BytesIO(content)) == data
    assert torch.load(io.BytesIO(content)) == data
