"""The zip format of ``torch.save``, and the one that it wrote before PyTorch 1.6."""

from __future__ import annotations

import io
import os
import re
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from gradwright.backends.devices import CPU, device
from gradwright.base import dtypes
from gradwright.base.errors import FileError
from gradwright.serialization.checkpoint.opcodes import globals_in, read
from gradwright.serialization.checkpoint.rebuild import STORAGES, Kind, Rebuild, Storage
from gradwright.serialization.checkpoint.writing import LOCAL_HEADER
from gradwright.serialization.container import mapping, reading

_ZIP = b"PK\x03\x04"
_MAGIC, _PROTOCOL = 0x1950A86A20F9469CFC6C, 1001


def is_checkpoint(first: bytes) -> bool:
    """Whether a file that begins so is one of PyTorch's."""
    return first.startswith(_ZIP) or re.match(rb"\x80[\x02-\x05](\x8a\x0a|\x95\x0d)", first) is not None


def load(file: Any, mapped: bool = False, to: device = CPU, trusting: bool = False) -> Any:
    """The data of a file of PyTorch's that is open for reading, from where it stands.

    Raises FileError where the file is damaged, UnsafeGlobalError where it names what it is not to.
    """
    rebuild = Rebuild(to, trusting)
    if file.read(4) == _ZIP:
        archive = _Archive(file, mapped)
        return read(archive.pickle(), rebuild.find, archive.storage)
    file.seek(-4, os.SEEK_CUR)
    return _load_legacy(file, rebuild.find)


def unsafe_globals(file: Any) -> list[str]:
    """The names in a file of PyTorch's that are not allowed."""
    pickle = _Archive(file, False).pickle() if file.read(4) == _ZIP else None
    if pickle is None:
        raise FileError("get_unsafe_globals_in_checkpoint() reads the zip files that PyTorch has written since 1.6")
    find, found = Rebuild().find, []
    for name in globals_in(pickle):
        try:
            find(name)
        except FileError:
            found.append(name)
    return found


class _Archive:
    """The records of a zip file, which lie in it as they are, and the storages among them."""

    def __init__(self, file: Any, mapped: bool) -> None:
        self._file = file
        try:
            self._entries = {entry.filename: entry for entry in zipfile.ZipFile(file).infolist()}
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, UnicodeDecodeError) as e:
            raise FileError(f"it is a zip archive that is cut short or damaged: {e}") from None
        roots = [name[: -len("data.pkl")] for name in self._entries if name.endswith("/data.pkl")]
        if len(roots) != 1:
            mend = ", as torch.jit.save writes: save the state_dict" if "constants.pkl" in str(self._entries) else ""
            raise FileError(f"it is a zip archive, and not of torch.save: it has {len(roots)} data.pkl{mend}")
        self._root = roots[0]
        self._take = mapping(file) if mapped else reading(file)
        self._size = file.seek(0, os.SEEK_END)
        if sum(entry.file_size for entry in self._entries.values()) > self._size:
            raise FileError("its records have more bytes than the file: it is damaged, or they are compressed or lie "
                            "across each other")  # fmt: skip
        self._mapped = mapped
        self._storages: dict[Any, Storage] = {}
        order = bytes(self._record("byteorder")) if f"{self._root}byteorder" in self._entries else b"little"
        if order not in (b"little", b"big"):
            raise FileError(f"its byte order is {order!r:.20}; expected little or big")
        self._swapped = order == b"big"

    def pickle(self) -> io.BytesIO:
        """The pickle, which refers to the storages."""
        return io.BytesIO(bytes(self._record("data.pkl")))

    def _record(self, name: str) -> Any:
        """The bytes of a record."""
        entry = self._entries.get(self._root + name)
        if entry is None:
            raise FileError(f"its record {self._root + name!r} is missing: it is cut short or damaged")
        if entry.compress_type != zipfile.ZIP_STORED or entry.compress_size != entry.file_size:
            raise FileError(f"its record {entry.filename!r} is compressed, which torch.save's never are")
        if entry.header_offset < 0 or entry.header_offset + LOCAL_HEADER + entry.file_size > self._size:
            raise FileError(f"its record {entry.filename!r} is cut short")
        local = self._take(entry.header_offset, LOCAL_HEADER)
        lengths = int(local[26]) + 256 * int(local[27]) + int(local[28]) + 256 * int(local[29])
        if bytes(local[:4]) != _ZIP:
            raise FileError(f"its record {entry.filename!r} is not where its table says: it is damaged")
        octets = self._take(entry.header_offset + LOCAL_HEADER + lengths, entry.file_size)
        if entry.CRC and not self._mapped and zlib.crc32(octets) != entry.CRC:  # without checksums, it is 0
            raise FileError(f"its record {entry.filename!r} is damaged: it does not match its checksum")
        return octets

    def storage(self, said: Any) -> Storage:
        """The storage of which the pickle says ``("storage", kind, key, location, entries)``."""
        what, kind, key, _, entries = said
        if what != "storage" or not isinstance(key, str):
            raise ValueError(f"it refers to a {what!r:.50} outside")
        if key not in self._storages:
            self._storages[key] = _storage(kind, lambda size: self._sized(key, size), entries, self._swapped)
        return self._storages[key]

    def _sized(self, key: str, size: int) -> Any:
        octets = self._record(f"data/{key}")
        if len(octets) != size:
            raise FileError(f"its record {self._root}data/{key} has {len(octets):,} bytes where the pickle speaks of "
                            f"{size:,}: it is cut short or damaged")  # fmt: skip
        return octets


def _storage(kind: Any, take: Callable[[int], Any], entries: Any, swapped: bool = False) -> Storage:
    """The storage of so many entries of a kind, whose bytes ``take`` gives by their number."""
    if not isinstance(kind, Kind) or not isinstance(entries, int) or entries < 0:
        raise ValueError(f"it has a storage of {entries!r:.30} entries of {kind!r:.50}")
    name = STORAGES.get(kind.name)
    if name is None and kind.name != "UntypedStorage":
        raise FileError(f"it has a {kind.name}, a dtype which gradwright has not")
    size = 1 if name is None else dtypes.of(name).itemsize
    memory = take(entries * size)
    if swapped:
        if name is None:
            raise FileError("it is big-endian, and has tensors whose storage says no dtype: save it on another machine")
        memory = _swapped(memory, dtypes.of(name))
    return Storage(memory, name, [0])


def _swapped(memory: Any, dtype: dtypes.dtype) -> Any:
    word = dtype.itemsize // (2 if dtype.is_complex else 1)
    return np.ascontiguousarray(memory.reshape(-1, word)[:, ::-1]).reshape(-1)


# -- before 1.6 --


def _load_legacy(file: Any, find: Callable[[str], Any]) -> Any:
    """The data of the format of before: pickles of a number, a version, the machine and the data, then the storages.

    The storages come after the tensors that lie in them. So the pickle is read twice: for what there will be, and with
    what there is.
    """
    if _plain(file) != _MAGIC:
        raise FileError("it is a pickle, and not of torch.save: its first number is another")
    version, machine = _plain(file), _plain(file)
    if version != _PROTOCOL:
        raise FileError(f"it is of version {version!r:.20} of PyTorch's format of before 1.6; expected {_PROTOCOL}")
    begin = file.tell()
    size = file.seek(0, os.SEEK_END)
    file.seek(begin)
    storages: dict[str, Storage] = {}

    def storage(said: Any) -> Storage:
        what, kind, key, _, entries, view = said
        if what != "storage":
            raise ValueError(f"it refers to a {what!r:.50} outside")
        if key not in storages:
            storages[key] = _storage(kind, lambda n: _room(key, n, size), entries)
        return storages[key] if view is None else _part(storages[key], *view[1:])

    read(file, lambda name: found if isinstance(found := find(name), Kind) else _Blank, storage)
    names = _plain(file)
    if not isinstance(machine, dict) or not isinstance(names, list):
        raise FileError("it does not say which machine wrote it, or which storages it has: it is damaged")
    for key in names:
        _fill(file, key, storages, swapped=not machine.get("little_endian", True))
    file.seek(begin)
    return read(file, find, storage)


class _Blank:
    """What stands for every object but the storages while these are looked for."""

    def __new__(cls, *_: Any) -> _Blank:
        return super().__new__(cls)

    def take(self, *_: Any) -> None:
        """Take an item or a state, and do nothing with it."""

    append = extend = update = __setitem__ = __setstate__ = take


def _plain(file: Any) -> Any:
    """The next pickle, of numbers, texts, lists and dicts alone."""

    def find(name: str) -> Any:
        raise FileError(f"its pickle names {name} where there should be plain data")

    return read(file, find)


def _room(key: str, wanted: int, size: int) -> Any:
    if wanted > size:
        raise FileError(f"its storage {key!r} has {wanted:,} bytes, and the file {size:,}: it is cut short or damaged")
    return np.zeros(wanted, np.uint8)


def _part(storage: Storage, offset: int, entries: int) -> Storage:
    item = storage.itemsize
    memory = storage.memory[offset * item : (offset + entries) * item]
    return storage._replace(memory=memory)


def _fill(file: Any, key: str, storages: dict[str, Storage], swapped: bool) -> None:
    """Read the storage that comes next in the file: how many entries, and these."""
    if not isinstance(key, (str, int)) or key not in storages:
        raise FileError(f"it has a storage {key!r:.50} that no tensor lies in: it is damaged")
    storage = storages[key]
    count = int.from_bytes(file.read(8), "big" if swapped else "little")
    if count * storage.itemsize != len(storage.memory) or file.readinto(storage.memory) != len(storage.memory):
        raise FileError(f"its storage {key!r} has {count:,} entries in the file, which do not fill "
                        f"{len(storage.memory):,} bytes: it is cut short or damaged")  # fmt: skip
    if swapped and storage.dtype is not None:
        storage.memory[:] = _swapped(storage.memory, dtypes.of(storage.dtype))
