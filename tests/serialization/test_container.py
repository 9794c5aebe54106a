"""The safetensors format: the package safetensors agrees, and hostile files are refused."""

import io
import json
import tracemalloc

import numpy as np
import pytest

from gradwright.errors import FileError
from gradwright.serialization import container

GOOD = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


def built(header, data=b"\0" * 8, length=None):
    """A file with this header, a text or what JSON says."""
    text = (header if isinstance(header, str) else json.dumps(header)).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


def read(content):
    return container.read(io.BytesIO(content))


def test_there_and_back():
    arrays = {"a": np.arange(3, dtype=np.uint8), "b": np.arange(4.0).reshape(2, 2).T, "c": np.array(1j, np.complex64)}
    file = io.BytesIO()
    container.write(file, arrays, "structure")
    back, structure = read(file.getvalue())
    assert structure == "structure"
    assert set(back) == {"a", "b", "c"}
    assert all((back[name] == a).all() and back[name].dtype == a.dtype and back[name].shape == a.shape
               for name, a in arrays.items())  # fmt: skip


def test_safetensors_agrees():
    safetensors = pytest.importorskip("safetensors")
    file = io.BytesIO()
    arrays = {"a": np.arange(3, dtype=np.int16), "b": np.ones((2, 0)), "c": np.array([3.0])}
    container.write(file, arrays, "é\\")
    parts = dict(safetensors.deserialize(file.getvalue()))
    assert {name: (p["dtype"], p["shape"], len(p["data"])) for name, p in parts.items()} == {
        "a": ("I16", [3], 6), "b": ("F64", [2, 0], 0), "c": ("F64", [1], 8),
    }  # fmt: skip
    foreign = pytest.importorskip("safetensors.numpy").save({"x": np.ones(2)})
    assert read(foreign).arrays["x"].tolist() == [1, 1]
    assert read(foreign).structure is None


def test_arrays_lie_at_multiples_of_their_item_size():
    file = io.BytesIO()
    container.write(file, {"a": np.ones(3, np.uint8), "b": np.ones(1), "c": np.ones(1, np.float16)}, "")
    content = file.getvalue()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    assert length % 8 == 0
    assert [header[name]["data_offsets"] for name in "bca"] == [[0, 8], [8, 10], [10, 13]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "cut short: 0 bytes"),
        (b"1234567", "cut short: 7 bytes"),
        (built({}, length=2**63), "no safetensors file"),
        (built({}, length=90_000_000), "no safetensors file"),
        (b"PK\x03\x04" + b"\0" * 100, "cut short, or no safetensors file|zip archive"),
        (b"\x80\x04" + b"a" * 100, "no safetensors file"),
        (built("nonsense"), "not the JSON of a safetensors file"),
        (built("\xff"), "bytes of data|not the JSON"),
        (built("[1]"), "expected a table of arrays"),
        (built({"__metadata__": {"a": 1}}, b""), "texts as metadata"),
        (built('{"a": NaN}'), "NaN is no JSON"),
        (built('{"a": {}, "a": {}}'), "it names 'a' twice"),
        (built("[" * 100_000 + "]" * 100_000), "nests too deeply"),
        (built('{"a": ' * 100_000 + "1" + "}" * 100_000), "nests too deeply"),
        (built('{"a": {"dtype": "F32", "shape": [' + "9" * 10_000 + '], "data_offsets": [0, 8]}}'), "header is not"),
        (built({"a": 1}), "should have dtype, shape and data_offsets"),
        (built({"a": {**GOOD, "more": 1}}), "should have dtype, shape and data_offsets"),
        (built({"a": {**GOOD, "dtype": "F8_E4M3"}}), "'F8_E4M3'; expected one of BOOL"),
        (built({"a": {**GOOD, "dtype": ["F32"]}}), "expected one of BOOL"),
        (built({"a": {**GOOD, "shape": [-2]}}), "no whole numbers"),
        (built({"a": {**GOOD, "shape": [2.0]}}), "no whole numbers"),
        (built({"a": {**GOOD, "shape": [True, 2]}}), "no whole numbers"),
        (built({"a": {**GOOD, "shape": "2"}}), "no whole numbers"),
        (built({"a": {**GOOD, "shape": [3]}}), "does not fill 8 bytes"),
        (built({"a": {**GOOD, "shape": [2**62, 2**62]}}), "does not fill 8 bytes"),
        (built({"a": {**GOOD, "shape": [10**12], "data_offsets": [0, 4 * 10**12]}}), "within the 8 bytes there are"),
        (built({"a": {**GOOD, "data_offsets": [0, 8, 8]}}), "no whole numbers"),
        (built({"a": {**GOOD, "data_offsets": [8, 0]}}), "expected it to begin at 0"),
        (built({"a": {**GOOD, "data_offsets": [4, 12]}}), "expected it to begin at 0"),
        (built({"a": GOOD, "b": GOOD}), "'b' is said to lie at 0 to 8; expected it to begin at 8"),
        (built({"a": GOOD, "b": {**GOOD, "data_offsets": [12, 20]}}, b"\0" * 20), "expected it to begin at 8"),
        (built({"a": GOOD}, b"\0" * 9), "9 bytes of data, but its header speaks of 8"),
        (built({"a": GOOD}, b"\0" * 7), "within the 7 bytes there are"),
        (built({"a": {**GOOD, "shape": [0, 2**70], "data_offsets": [0, 0]}}, b""), "a shape that cannot be"),
        (built({"a": {**GOOD, "shape": [1] * 100 + [2]}}), "a shape that cannot be"),
        (built({"__metadata__": {"gradwright": "{}"}}, b""), "header is damaged"),
    ],
)  # fmt: skip
def test_hostile_files_are_refused_without_taking_memory(content, message):
    tracemalloc.start()
    try:
        with pytest.raises(FileError, match=message):
            read(content)
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()


def test_damage_is_told_apart():
    file = io.BytesIO()
    container.write(file, {"a": np.ones(4)}, "structure")
    content = bytearray(file.getvalue())
    content[-1] ^= 1
    with pytest.raises(FileError, match="its data are damaged"):
        read(bytes(content))
    with pytest.raises(FileError, match="its header is damaged"):
        read(file.getvalue().replace(b'"structure"', b'"structurf"'))


def test_a_file_that_ends_while_it_is_read():
    class Shrinking(io.BytesIO):
        def readinto(self, buffer):
            self.truncate(self.tell() + 3)
            return super().readinto(buffer)

    with pytest.raises(FileError, match="it ended while it was read"):
        container.read(Shrinking(built({"a": GOOD})))


def test_a_header_too_large_to_be_read_is_not_written(monkeypatch):
    monkeypatch.setattr(container, "_LARGEST_HEADER", 1000)
    file = io.BytesIO()
    with pytest.raises(ValueError, match="a file has room for 1,000: turn large lists into tensors"):
        container.write(file, {}, "x" * 1000)
    assert not file.getvalue()
