"""The zip that ``torch.save`` writes: of a pickle, and of the storages of its tensors."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np

from gradwright.base import dtypes
from gradwright.face.functions.views import row_major
from gradwright.serialization import plain
from gradwright.serialization.checkpoint.opcodes import Writer
from gradwright.serialization.checkpoint.rebuild import STORAGES

_STORAGE_OF = {dtype: name for name, dtype in STORAGES.items()}
LOCAL_HEADER = 30  # bytes before the name of an entry of a zip
_ALIGNMENT = 64  # of the storages within the file, so that they can be mapped into memory
_BUILT = {"OrderedDict": "collections.OrderedDict", "Counter": "collections.Counter", "Size": "torch.Size",
          "set": "builtins.set", "frozenset": "builtins.frozenset"}  # fmt: skip


class Content:
    """What is to be in a file: a pickle of the data, as `plain.Writer` has them, and the storages."""

    def __init__(self, obj: object) -> None:
        walk = plain.Writer()
        node = walk.node(obj)
        self._store = walk.store  # whose arrays the storages lie in
        self._storages, self._records = walk.store.as_they_lie()
        kinds: list[set[str]] = [set() for _ in self._storages]
        for record in self._records:
            kinds[record["in"]].add(record["dtype"])
        self._typed = [next(iter(names)) if len(names) == 1 and names <= _STORAGE_OF.keys() else None
                       for names in kinds]  # fmt: skip
        self.out = Writer()
        self.write(node)

    def to_file(self, file: Any, root: str) -> None:
        """Write the zip: the records as they are, each at a multiple of 64 bytes."""
        records = {"data.pkl": self.out.whole(), ".format_version": b"1", ".storage_alignment": b"%d" % _ALIGNMENT,
                   "byteorder": sys.byteorder.encode(), **{f"data/{i}": m for i, m in enumerate(self._storages)},
                   "version": b"3\n"}  # fmt: skip
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            for name, content in records.items():
                entry = zipfile.ZipInfo(f"{root}/{name}")  # dated 1980: the same data make the same file
                begin = archive.start_dir + LOCAL_HEADER + len(entry.filename.encode()) + 4
                padding = -begin % _ALIGNMENT
                entry.extra = b"FB" + padding.to_bytes(2, "little") + b"Z" * padding
                archive.writestr(entry, content)

    def write(self, node: Any) -> None:
        """Write one node."""
        out = self.out
        if node is None or isinstance(node, bool):
            out.constant(node)
        elif isinstance(node, int):
            out.integer(node)
        elif isinstance(node, float):
            out.number(node)
        elif isinstance(node, str):
            out.text(node)
        elif isinstance(node, list):
            self._list(node)
        else:
            (name, value), *more = node.items()
            self._tagged(name, value)
            for attribute, item in more:  # of a state_dict, the versions of its modules
                self.out.add(b"}")
                self._gathered([attribute, item], b"ub")

    def _gathered(self, nodes: Iterable[Any], opcodes: bytes, name: str | None = None) -> None:
        self.out.begin(name)
        for node in nodes:
            self.write(node)
        self.out.add(opcodes)

    def _list(self, nodes: list[Any]) -> None:
        self.out.add(b"]")
        self._gathered(nodes, b"e")

    def _tagged(self, name: str, value: Any) -> None:
        if name in ("tensor", "scalar"):
            if not self.out.again((name, value)):
                self._tensor(self._records[value], name == "scalar")
                self.out.keep((name, value))
        elif name in ("tuple", "Size", "set", "frozenset"):
            if name != "tuple":
                self.out.begin(_BUILT[name])
            self._gathered(value, b"t") if name in ("tuple", "Size") else self._list(value)
            if name != "tuple":
                self.out.add(b"tR")
        elif name == "dict":
            self.out.add(b"}")
            self._gathered(chain.from_iterable(value), b"u")
        elif name in _BUILT:
            self._gathered((), b"tR", _BUILT[name])
            self._gathered(chain.from_iterable(value), b"u")
        else:
            self._scalar(plain.data_of({name: value}, []))

    def _scalar(self, value: Any) -> None:
        if isinstance(value, int):
            self.out.integer(value)
        elif isinstance(value, float):
            self.out.number(value)
        elif isinstance(value, complex):
            self._gathered([value.real, value.imag], b"tR", "builtins.complex")
        elif isinstance(value, bytes):
            self._bytes(value)
        elif isinstance(value, dtypes.dtype):
            self.out.named(f"torch.{value.name}")
        else:
            self._gathered([str(value)], b"tR", "torch.device")

    def _bytes(self, value: bytes) -> None:
        self._gathered([value.decode("latin1"), "latin1"], b"tR", "_codecs.encode")

    def _tensor(self, record: dict[str, Any], scalar: bool) -> None:
        out, what = self.out, record["is"]
        state = record.get("attributes", {"dict": []})["dict"]
        if what == "ndarray":
            self._numpy(record, scalar)
        elif what == "Parameter":
            out.begin("torch._utils._rebuild_parameter" + ("_with_state" if state else ""))
            self._rebuilt(record, requires_grad=False)
            self.write(record["grad"])
            self.write({"OrderedDict": []})
            if state:
                self.write({"dict": state})
            out.add(b"tR")
        elif state or what == "Buffer":
            own = [["persistent", record["persistent"]], ["_is_buffer", True]] if what == "Buffer" else []
            out.begin("torch._tensor._rebuild_from_type_v2")
            out.named(self._builder(record))
            out.named("torch.Tensor")
            self._place(record, b"t", record["grad"])
            self.write({"dict": [*own, *state]})
            out.add(b"tR")
        else:
            self._rebuilt(record, record["grad"])

    def _rebuilt(self, record: dict[str, Any], requires_grad: bool) -> None:
        self.out.named(self._builder(record))
        self._place(record, b"tR", requires_grad)

    def _builder(self, record: dict[str, Any]) -> str:
        return f"torch._utils._rebuild_tensor_v{2 if self._typed[record['in']] else 3}"

    def _place(self, record: dict[str, Any], opcodes: bytes, requires_grad: bool) -> None:
        """The arguments that rebuild a tensor: its storage, offset, shape and strides, and what it requires."""
        out, typed = self.out, self._typed[record["in"]]
        out.begin()
        out.begin()
        out.text("storage")
        out.named("torch.storage.UntypedStorage" if typed is None else f"torch.{_STORAGE_OF[typed]}")
        size = len(self._storages[record["in"]]) // (1 if typed is None else dtypes.of(typed).itemsize)
        for part in (str(record["in"]), "cpu", size):
            self.write(part)
        out.add(b"tQ")
        step = dtypes.of(record["dtype"]).itemsize
        self.write(record["offset"] // step)
        self.write({"tuple": record["shape"]})
        empty = 0 in record["shape"]
        self.write({"tuple": row_major(record["shape"]) if empty else [n // step for n in record["strides"]]})
        self.write(requires_grad)
        self.write({"OrderedDict": []})
        if typed is None:
            out.named(f"torch.{record['dtype']}")
        out.add(opcodes)

    def _numpy(self, record: dict[str, Any], scalar: bool) -> None:
        """An array or number of NumPy's as it pickles them, which PyTorch reads with ``weights_only=False``."""
        dtype = dtypes.of(record["dtype"]).dtype
        array = np.ndarray(record["shape"], dtype, self._storages[record["in"]], record["offset"], record["strides"])
        if scalar:
            self.out.begin("numpy._core.multiarray.scalar")
            self._numpy_dtype(dtype)
            self._bytes(array.tobytes())
            self.out.add(b"tR")
            return
        self.out.begin("numpy._core.multiarray._reconstruct")
        self.out.named("numpy.ndarray")
        self.write({"tuple": [0]})
        self._bytes(b"b")
        self.out.add(b"tR")
        self.out.begin()
        self.write(1)
        self.write({"tuple": record["shape"]})
        self._numpy_dtype(dtype)
        self.write(False)
        self._bytes(array.tobytes())
        self.out.add(b"tb")

    def _numpy_dtype(self, dtype: Any) -> None:
        self._gathered([dtype.str[1:], False, True], b"tR", "numpy.dtype")
        self._gathered([3, dtype.str[0], None, None, None, -1, -1, 0], b"tb")
