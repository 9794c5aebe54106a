"""Keep large buffers for reuse, where the C library is glibc.

By default glibc hands every freed block of a few MB back to the kernel, and the next operation pays for fresh pages:
at 1,000,000 elements that costs several times the arithmetic. With both thresholds raised, blocks of up to 32 MB are
kept and used again, and at most 256 MB of freed memory stays with the process. Both must be raised together.
``GRADWRIGHT_MALLOC=0`` in the environment leaves the allocator alone; elsewhere than glibc nothing is done.
"""

from __future__ import annotations

import ctypes
import os

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # glibc's malloc.h


def keep_large_buffers() -> bool:
    """Raise glibc's thresholds; True if that was done."""
    if os.environ.get("GRADWRIGHT_MALLOC") == "0":
        return False
    try:
        libc = ctypes.CDLL(None)
        libc.gnu_get_libc_version  # noqa: B018 - only glibc has it
        mallopt = libc.mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(_MMAP_THRESHOLD, 32 << 20) and mallopt(_TRIM_THRESHOLD, 256 << 20))
