"""``FloatStorage`` and its family: memory of a dtype; and memory that is a file, ``from_file``."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwright.base import dtypes
from gradwright.face import creation
from gradwright.face.methods.storage import TypedStorage

__all__ = [
    "BoolStorage", "ByteStorage", "CharStorage", "DoubleStorage", "FloatStorage", "IntStorage", "LongStorage",
    "ShortStorage", "from_file",
]  # fmt: skip


class _OfDtype(type):
    """The class of `FloatStorage` and the like: every storage of that dtype is an instance."""

    dtype: Any

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, TypedStorage) and instance.dtype is cls.dtype


def _typed(word: str) -> Any:
    tensors = word.replace("Storage", "Tensor")
    dtype = dtypes.of(next(name for name, legacy in dtypes.LEGACY.items() if legacy == tensors))

    def new(cls: Any, *args: Any) -> TypedStorage:
        if len(args) > 1:
            raise TypeError(f"torch.{word}(): expected a size or a sequence, but got {len(args)} arguments")
        size = args[0] if args else 0
        return TypedStorage(creation.zeros(size, dtype=dtype) if isinstance(size, int) else creation.new(size, dtype))

    about = f"New memory of {dtype}: ``{word}(3)`` of a size, ``{word}([1, 2])`` of values. Each such is an instance."
    return _OfDtype(word, (), {"__new__": new, "dtype": dtype, "__doc__": about, "__module__": "torch"})


BoolStorage, ByteStorage, CharStorage, DoubleStorage, FloatStorage, IntStorage, LongStorage, ShortStorage = map(
    _typed, __all__[:-1]
)


def from_file(filename: Any, shared: bool | None = None, size: int = 0, *, dtype: Any = None, layout: Any = None,
              device: Any = None, pin_memory: bool = False) -> Any:  # fmt: skip
    """A tensor of ``size`` entries whose memory is that of a file, which is written with it if ``shared``.

    A shared file is made, or made longer, where it is too short; RuntimeError for another that is.
    """
    d = np.dtype((dtypes.default() if dtype is None else dtypes.of(dtype)).dtype)
    if shared:
        with open(filename, "ab") as file:
            file.truncate(max(file.tell(), size * d.itemsize))
    else:
        with open(filename, "rb") as file:
            there = file.seek(0, 2)
        if there < size * d.itemsize:
            raise RuntimeError(f"from_file(): {filename} has {there} bytes, fewer than the {size * d.itemsize} of "
                               f"{size} entries of {dtypes.of(d)}")  # fmt: skip
    if not size:
        return creation.zeros(0, dtype=d)
    array = np.memmap(filename, d, "r+" if shared else "c", shape=(size,))
    return creation.from_numpy(np.asarray(array))
