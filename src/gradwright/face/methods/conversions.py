"""Conversions that are named after dtypes, in a class of their own, so that int is int where others are annotated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast

from gradwright.face.reading.torch import to_dtype

if TYPE_CHECKING:
    from gradwright.face.typing import MemoryFormat, Tensor


class _Conversion(Protocol):
    def __call__(self, *, memory_format: MemoryFormat | None = None) -> Tensor: ...
    def __get__(self, instance: Any, owner: Any) -> _Conversion: ...


def _converter(name: str) -> _Conversion:
    def convert(self: Any, *, memory_format: Any = None) -> Any:
        return to_dtype(self, name) if memory_format is None else self.to(dtype=name, memory_format=memory_format)

    convert.__doc__ = f"As {name}."
    return cast("_Conversion", convert)


class Conversions:
    """Conversions that are named after dtypes."""

    __slots__ = ()

    float, double, half, bfloat16 = map(_converter, ("float32", "float64", "float16", "bfloat16"))
    long, int, short, char, byte = map(_converter, ("int64", "int32", "int16", "int8", "uint8"))
    bool, cfloat, cdouble = map(_converter, ("bool", "complex64", "complex128"))
