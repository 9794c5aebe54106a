"""What this array namespace can do."""

from __future__ import annotations

from typing import Any

from gradwright.backends.devices import CPU, device
from gradwright.base import dtypes
from gradwright.face.xp.data_types import isdtype

__all__ = ["__array_namespace_info__"]

_NAMES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip
STANDARD = tuple(map(dtypes.of, _NAMES))


class __array_namespace_info__:
    """The inspection functions of the array API."""

    def capabilities(self) -> dict[str, Any]:
        """Boolean masks as indices and shapes that depend on values: both; any number of dimensions NumPy has."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> device:
        """The CPU."""
        return CPU

    def default_dtypes(self, *, device: Any = None) -> dict[str, dtypes.dtype]:
        """The dtypes of arrays made without naming one."""
        real = dtypes.default()
        return {"real floating": real, "complex floating": dtypes.complex_partner(real),
                "integral": dtypes.int64, "indexing": dtypes.int64}  # fmt: skip

    def devices(self) -> list[device]:
        """The CPU."""
        return [CPU]

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, dtypes.dtype]:
        """The standard's dtypes by name, those of a kind if one is named."""
        return {d.name: d for d in STANDARD if kind is None or isdtype(d, kind)}
