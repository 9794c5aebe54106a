"""The memory behind a tensor: ``x.storage()``, ``x.untyped_storage()``."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwright.backends.devices import CPU, device_of
from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.engine.base import TensorBase
from gradwright.engine.levels import below
from gradwright.engine.memory import writable

_FREED = "_freed"


class UntypedStorage:
    """The memory behind a tensor, as bytes: where it begins and how long it is.

    ``resize_(0)`` gives the memory back, as far as nobody else has it: the tensor keeps its shape, and its values are
    not numbers (0 in whole ones) until ``resize_`` to its size gives it other memory, or ``x.set_(y)`` that of y.
    """

    def __init__(self, owner: Any) -> None:
        if not isinstance(owner, TensorBase):
            raise TypeError(f"{type(self).__name__}(): expected a tensor, whose memory it is, but got {kind(owner)}")
        array = below(writable(owner))
        while isinstance(getattr(array, "base", None), np.ndarray):
            array = array.base
        self._array, self._owner = array, owner

    @property
    def device(self) -> Any:
        """Where it lies."""
        return device_of(self._owner.array)

    is_cuda = property(lambda self: self.device.type == "cuda", doc="Whether it lies on a CUDA device.")

    def data_ptr(self) -> int:
        """The address of its first byte; 0 of none."""
        if self.device != CPU:
            raise RuntimeError(f"data_ptr(): memory on {self.device} has no address that is known")
        return int(np.lib.array_utils.byte_bounds(self._array)[0]) if self._entries() else 0

    _data_ptr = data_ptr

    def _entries(self) -> int:
        freed = vars(self._owner).get(_FREED) is self._owner.array
        return 0 if freed else int(self._array.size)

    def nbytes(self) -> int:
        """How many bytes it has."""
        return self._entries() * int(self._array.dtype.itemsize)

    def size(self) -> int:
        """How many bytes it has."""
        return self.nbytes()

    def __len__(self) -> int:
        return self.size()

    def resize_(self, size: int) -> Any:
        """Give the memory back (0), or take other memory for the whole tensor; RuntimeError for any other size."""
        owner, each = self._owner, self.size() // max(1, self._entries()) or self._each()
        if size == self.size():
            return self
        if size == 0:
            nothing = np.zeros((), owner.array.dtype)
            if nothing.dtype.kind in "fc":
                nothing.fill(np.nan)
            owner.array = vars(owner)[_FREED] = np.broadcast_to(nothing, owner.array.shape)
        elif not self._entries() and size == owner.array.size * each:
            owner.array = np.empty(owner.array.shape, owner.array.dtype)
        else:
            raise RuntimeError(f"resize_(): memory is given back (0) or taken for the whole tensor, but got {size} for "
                               f"a tensor of {owner.array.size} entries: see Tensor.resize_")  # fmt: skip
        self._array = owner.array
        return self

    def _each(self) -> int:
        return int(self._array.dtype.itemsize)

    def tolist(self) -> list[int]:
        """Its bytes."""
        return list(np.ascontiguousarray(self._array).tobytes())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and other._array is self._array

    def __hash__(self) -> int:
        return id(self._array)


class TypedStorage(UntypedStorage):
    """The memory behind a tensor, as entries of its dtype."""

    @property
    def dtype(self) -> Any:
        """The dtype of its entries."""
        return dtypes.of(self._array.dtype)

    def size(self) -> int:
        """How many entries it has."""
        return self._entries()

    def _each(self) -> int:
        return 1

    def element_size(self) -> int:
        """Bytes of one entry."""
        return int(self._array.dtype.itemsize)

    def tolist(self) -> list[Any]:
        """Its entries."""
        return list(np.ravel(self._array, order="K").tolist())

    def untyped(self) -> UntypedStorage:
        """The same as bytes."""
        return UntypedStorage(self._owner)

    def __getitem__(self, index: Any) -> Any:
        return np.ravel(self._array, order="K")[index].item()


def is_storage(obj: object) -> bool:
    """Whether a value is a storage.

    >>> gw.is_storage(gw.ones(2).untyped_storage())
    True
    """
    return isinstance(obj, UntypedStorage)
