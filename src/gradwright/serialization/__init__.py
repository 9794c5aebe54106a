"""Saving and loading, in safetensors files and without pickle.

`public` has the two functions. They use `plain` (nested data as JSON, tensors as numbers that refer to records),
`memory` (the records: which array in the file holds a tensor, and how tensors share memory) and `container` (the
safetensors format itself, with checksums).
"""

from typing import TYPE_CHECKING

from gradwright.base.errors import FileError
from gradwright.base.lazy import lazy
from gradwright.serialization.public import load, save

__all__ = ["FileError", "load", "save"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__)
