"""CUDA devices, which are JAX's: the questions that programs ask about them, in PyTorch's names.

Where JAX has no plugin for them, the answers need no JAX: there are none.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from gradwright.backends import devices, to_host
from gradwright.base.errors import OutOfMemoryError
from gradwright.base.lazy import lazy
from gradwright.face import random

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike

__all__ = [
    "OutOfMemoryError", "current_device", "device", "device_count", "empty_cache", "get_device_name",
    "get_device_properties", "init",
    "is_available", "is_bf16_supported", "is_initialized", "manual_seed", "manual_seed_all",
    "max_memory_allocated", "mem_get_info", "memory_allocated", "set_device", "synchronize",
]  # fmt: skip

lazy(__name__)


_initialized = False
"""What programs ask before they keep the states of random numbers on devices: all are drawn on the host."""


class _Properties(NamedTuple):
    name: str
    total_memory: int


def _native(number: Any) -> Any:
    """JAX's object of a device: the current one for None."""
    return devices.cuda(number).native


def is_available() -> bool:
    """Whether there is a CUDA device."""
    return bool(devices.there("cuda"))


def device_count() -> int:
    """How many there are."""
    return len(devices.there("cuda"))


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether there is a device; each computes with bfloat16."""
    return is_available()


def init() -> None:
    """Make JAX look for devices now, not at the first use of one; RuntimeError where there is none."""
    _native(None)


def is_initialized() -> bool:
    """Whether JAX has looked for devices and found one."""
    return devices.BROUGHT["cuda"] in sys.modules and is_available()


def current_device() -> int:
    """The number of the device that "cuda" means; RuntimeError where there is none."""
    return int(devices.cuda().index or 0)


def set_device(device: DeviceLike) -> None:
    """Make "cuda" mean this device (a number, a name, a device), which becomes JAX's default device. -1 does nothing.

    RuntimeError where there is none such, ValueError for a device that is no CUDA device.
    """
    if device != -1:
        one = devices.cuda(device)
        if one.type != "cuda":
            raise ValueError(f"Expected a cuda device, but got: {device}")
        jax: Any = one.library
        jax.make_default(one.native)


class device:
    """In a ``with`` block "cuda" means this device: a number, a name or a device. None and -1 change nothing."""

    def __init__(self, device: DeviceLike) -> None:
        self._wanted, self._before = device, -1

    def __enter__(self) -> device:
        if self._wanted is not None and self._wanted != -1:
            self._before = current_device()
            set_device(self._wanted)
        return self

    def __exit__(self, *_: object) -> None:
        set_device(self._before)


def get_device_name(device: DeviceLike = None) -> str:
    """What its maker calls it."""
    return str(_native(device).device_kind)


def get_device_properties(device: DeviceLike = None) -> Any:
    """Its ``name`` and ``total_memory``: the bytes that JAX may use there, 0 where JAX does not say."""
    return _Properties(get_device_name(device), mem_get_info(device)[1])


def synchronize(device: DeviceLike = None) -> None:
    """Wait until all that was asked of the device is done."""
    one = devices.cuda(device)
    to_host(one.library.xp.zeros((), device=one.native))


def _memory(device: Any) -> dict[str, int]:
    return (_native(device).memory_stats() or {}) if is_available() else {}


def memory_allocated(device: DeviceLike = None) -> int:
    """Bytes in use; 0 where JAX does not say, and where there is no device."""
    return _memory(device).get("bytes_in_use", 0)


def max_memory_allocated(device: DeviceLike = None) -> int:
    """The most bytes that have been in use; 0 where JAX does not say, and where there is no device."""
    return _memory(device).get("peak_bytes_in_use", 0)


def mem_get_info(device: DeviceLike = None) -> tuple[int, int]:
    """The bytes that JAX may still use, and all that it may; 0 where JAX does not say."""
    limit = (_native(device).memory_stats() or {}).get("bytes_limit", 0)
    return limit - min(memory_allocated(device), limit), limit


def empty_cache() -> None:
    """Nothing: memory that is free is JAX's to keep."""


def manual_seed(seed: int) -> None:
    """`gradwright.manual_seed`, where there is a device: there is one stream of random numbers for all of them."""
    if is_available():
        random.manual_seed(seed)


manual_seed_all = manual_seed
