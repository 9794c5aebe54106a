"""Saving and loading: safetensors files, and PyTorch's, of which nothing is run.

`public` has the two functions. They use `plain` (nested data as JSON, tensors as numbers that refer to records),
`memory` (the records: which array in the file holds a tensor, and how tensors share memory) and `container` (the
safetensors format itself, with checksums). `checkpoint` reads and writes PyTorch's files.
"""

from gradwright.base.errors import FileError, UnsafeGlobalError
from gradwright.base.lazy import lazy
from gradwright.serialization.checkpoint.safe_globals import (
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    safe_globals,
)
from gradwright.serialization.public import get_unsafe_globals_in_checkpoint, load, save

__all__ = [
    "FileError", "UnsafeGlobalError", "add_safe_globals", "clear_safe_globals", "get_safe_globals",
    "get_unsafe_globals_in_checkpoint", "load", "safe_globals", "save",
]  # fmt: skip

lazy(__name__)
