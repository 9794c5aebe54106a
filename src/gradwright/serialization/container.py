"""The safetensors format: eight bytes of length, a JSON header, and the arrays one after the other.

It is written and checked here rather than by the package safetensors, which would hold a file three times in memory,
reads no metadata from a stream and has no checksums; the tests hold the two against each other.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, NoReturn

import numpy as np

from gradwright.base import dtypes
from gradwright.base.errors import FileError

DTYPES = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "U16": "uint16", "I16": "int16", "U32": "uint32", "I32": "int32",
    "U64": "uint64", "I64": "int64", "F16": "float16", "BF16": "bfloat16", "F32": "float32", "F64": "float64",
    "C64": "complex64",
}  # fmt: skip
"""The dtypes that the format has. complex128 is not among them."""
_CODES = {name: code for code, name in DTYPES.items()}

_LARGEST_HEADER = 100_000_000  # the package safetensors accepts no larger one
_STRUCTURE, _HEADER_SUM, _DATA_SUM = "gradwright", "gradwright.header.crc32", "gradwright.data.crc32"


class Content(NamedTuple):
    """What a file holds: its arrays by name, and the text that `write` was given, or None if another program wrote."""

    arrays: dict[str, Any]
    structure: str | None


def _octets(array: Any) -> Any:
    """The bytes of a contiguous array."""
    return array.reshape(-1).view(np.uint8)


def _summary(table: dict[str, Any], structure: str) -> str:
    """A checksum of all that the header says."""
    return f"{zlib.crc32(json.dumps([sorted(table.items()), structure]).encode()):08x}"


# -- writing --


def write(file: Any, arrays: dict[str, Any], structure: str) -> None:
    """Write ``arrays`` and, as metadata, ``structure`` with checksums of it, of the header and of the data."""
    order = sorted(arrays, key=lambda name: -arrays[name].itemsize)  # so that each lies at a multiple of its item size
    parts = [np.asarray(arrays[name], order="C") for name in order]
    table, end, data_sum = {}, 0, 0
    for name, part in zip(order, parts, strict=True):
        begin, end = end, end + part.nbytes
        code = _CODES[dtypes.of(part.dtype).name]
        table[name] = {"dtype": code, "shape": list(part.shape), "data_offsets": [begin, end]}
        data_sum = zlib.crc32(_octets(part), data_sum)
    metadata = {"format": "pt", _STRUCTURE: structure, _HEADER_SUM: _summary(table, structure),
                _DATA_SUM: f"{data_sum:08x}"}  # fmt: skip
    header = json.dumps({"__metadata__": metadata, **table}, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    if len(header) > _LARGEST_HEADER:
        raise ValueError(f"save(): the data beside the tensors take {len(header):,} bytes, and a file has room for "
                         f"{_LARGEST_HEADER:,}: turn large lists into tensors")  # fmt: skip
    file.write(len(header).to_bytes(8, "little") + header)
    for part in parts:
        file.write(_octets(part).data)


# -- reading --


def json_of(text: Any) -> Any:
    """What a JSON text says; ValueError if it is none, nests too deeply, or names something twice."""
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("it nests too deeply") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"it names {next(n for n in names if names.count(n) > 1)!r} twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def read(file: Any, mapped: bool = False) -> Content:
    """The arrays in a file, and the structure that `write` was given.

    ``mapped``: the arrays are read from the disk when they are used, and written to in memory only; the checksum of
    the data is then left out, since it would read all of it.

    Raises FileError where the file is not as it should be, before memory is taken for an array that is not there.
    """
    start, size = file.tell(), file.seek(0, os.SEEK_END)
    file.seek(start)
    length = int.from_bytes(file.read(8), "little")
    table, metadata = _header(file, length, size - start)
    structure = _structure(table, metadata)
    take = mapping(file) if mapped else reading(file)
    arrays, data_sum = {}, 0
    for name, dtype, shape, begin, end in _layout(table, size - start - 8 - length):
        octets = take(start + 8 + length + begin, end - begin)
        data_sum = zlib.crc32(octets, data_sum) if structure is not None and not mapped else 0
        try:
            arrays[name] = octets.view(dtypes.of(dtype).dtype).reshape(shape)
        except ValueError as e:
            raise FileError(f"the array {name!r} has a shape that cannot be: {shape} ({e})") from None
    if structure is not None and not mapped and f"{data_sum:08x}" != metadata[_DATA_SUM]:
        raise FileError("its data are damaged: they do not match the checksum they were saved with")
    return Content({name: arrays[name] for name in table}, structure)


def _header(file: Any, length: int, size: int) -> tuple[dict[str, Any], dict[str, str]]:
    """The table of arrays and the metadata."""
    if size < 8 or length > min(size - 8, _LARGEST_HEADER):
        raise FileError(_foreign(length.to_bytes(8, "little")) if size >= 8 else f"it is cut short: {size} bytes")
    try:
        table = json_of(file.read(length).decode())
    except ValueError as e:
        raise FileError(f"its header is not the JSON of a safetensors file: {e}") from None
    metadata = table.pop("__metadata__", {}) if isinstance(table, dict) else None
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise FileError("its header is not that of a safetensors file: expected a table of arrays, with texts as "
                        "metadata")  # fmt: skip
    return table, metadata


def _foreign(first: bytes) -> str:
    """What a file that begins so, and not with the length of a header, may be."""
    return ("it is cut short, or no safetensors file (nor of torch.save since 0.4; a tar of before is read by PyTorch "
            "alone): its first 8 bytes should be the length of a header within it")  # fmt: skip


def _structure(table: dict[str, Any], metadata: dict[str, str]) -> str | None:
    """The checked structure; None where another program wrote the file."""
    ours = [key for key in (_STRUCTURE, _HEADER_SUM, _DATA_SUM) if key in metadata]
    if not ours:
        return None
    if len(ours) < 3 or _summary(table, metadata[_STRUCTURE]) != metadata[_HEADER_SUM]:
        raise FileError("its header is damaged: it does not match the checksum it was saved with")
    return metadata[_STRUCTURE]


def _layout(table: dict[str, Any], size: int) -> Iterator[tuple[str, str, list[int], int, int]]:
    """Each array's name, dtype, shape, begin and end, in the order of the data, which they fill without gaps."""
    rows = []
    for name, entry in table.items():
        if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
            raise FileError(f"the array {name!r} should have dtype, shape and data_offsets, but is {entry!r:.200}")
        code, shape, span = entry["dtype"], entry["shape"], entry["data_offsets"]
        if not isinstance(code, str) or code not in DTYPES:
            raise FileError(f"the array {name!r} has the dtype {code!r:.50}; expected one of {', '.join(DTYPES)}")
        if not _counts(shape) or not _counts(span) or len(span) != 2:
            raise FileError(f"the array {name!r} has a shape or offsets that are no whole numbers: {entry!r:.200}")
        rows.append((name, DTYPES[code], shape, *span))
    at = 0
    for name, dtype, shape, begin, end in sorted(rows, key=lambda row: row[3:]):
        if begin != at or end > size:
            raise FileError(f"the array {name!r} is said to lie at {begin} to {end}; expected it to begin at {at} and "
                            f"end within the {size} bytes there are: the file is cut short or damaged")  # fmt: skip
        if math.prod(shape) * dtypes.of(dtype).itemsize != end - begin:
            raise FileError(f"the array {name!r} of shape {shape} and dtype {dtype} does not fill {end - begin} bytes")
        yield name, dtype, shape, begin, end
        at = end
    if at != size:
        raise FileError(f"it has {size} bytes of data, but its header speaks of {at}: it is cut short or damaged")


def _counts(numbers: Any) -> bool:
    return isinstance(numbers, list) and all(type(n) is int and n >= 0 for n in numbers)


def reading(file: Any) -> Callable[[int, int], Any]:
    """What takes so many bytes from a place in a file: into memory."""
    def take(begin: int, size: int) -> Any:
        octets = np.empty(size, np.uint8)
        file.seek(begin)
        if file.readinto(octets) != size:
            raise FileError("it ended while it was read")
        return octets

    return take


def mapping(file: Any) -> Callable[[int, int], Any]:
    """What takes so many bytes from a place in a file: when they are used, and for changes in memory alone."""
    memory = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY), np.uint8)
    return lambda begin, size: memory[begin : begin + size]
