"""Tensor as something that lives on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright.backends import library
from gradwright.backends.devices import CPU, cuda, device, device_of

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike, MemoryFormat, Tensor


def readable(array: Any) -> Any:
    """An array whose numbers can be asked for: NumPy's of what another library holds; what stands for others' as is."""
    if array.__class__ is np.ndarray:
        return array
    one = library(array)
    return array if one.outer else one.to_host(array)


class Placed:
    """Where a tensor lives, and the ways to take it elsewhere."""

    __slots__ = ()
    array: Any
    to: Any

    @property
    def device(self) -> device:
        """Where it lives.

        >>> gw.ones(2).device
        device(type='cpu')
        """
        return device_of(self.array)

    @property
    def is_cpu(self) -> bool:
        """Whether it is on the CPU, as a NumPy array.

        >>> gw.ones(2).is_cpu
        True
        """
        return device_of(self.array) == CPU

    @property
    def is_cuda(self) -> bool:
        """Whether it is on a CUDA device.

        >>> gw.ones(2).is_cuda
        False
        """
        return device_of(self.array).type == "cuda"

    def get_device(self) -> int:
        """The number of its device; -1 for the CPU."""
        at = device_of(self.array)
        return -1 if at.index is None else at.index

    def cpu(self, *, memory_format: MemoryFormat | None = None) -> Tensor:
        """On the CPU, as a NumPy array; itself if it is there.

        >>> x = gw.ones(2)
        >>> x.cpu() is x
        True
        """
        return self.to(CPU, memory_format=memory_format)

    def cuda(self, device: DeviceLike = None, non_blocking: bool = False, *,
             memory_format: MemoryFormat | None = None) -> Tensor:  # fmt: skip
        """On the current CUDA device, or on that of this number; itself if it is there.

        RuntimeError where there is none.
        """
        return self.to(cuda(device), memory_format=memory_format)
