"""Data types and what is known of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwright.base import dtypes
from gradwright.engine.base import TensorBase
from gradwright.face.reading import standard
from gradwright.face.xp.creation import moved

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike, DType, Number, Tensor

__all__ = ["astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type"]

_KINDS = {
    "bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu", "real floating": "f",
    "complex floating": "c", "numeric": "iufc",
}  # fmt: skip


def astype(x: Tensor, dtype: DType, /, *, copy: bool = True, device: DeviceLike = None) -> Tensor:
    """``x`` converted to ``dtype``; nothing flows back through whole numbers and booleans."""
    x = moved(standard.tensor("astype", x), device)
    return standard.cast(x, dtype) if copy else standard.as_dtype(x, dtype)


def _dtype(value: Any) -> dtypes.dtype:
    return dtypes.of(value.array.dtype if isinstance(value, TensorBase) else value)


def can_cast(from_: Tensor | DType, to: DType, /) -> bool:
    """Whether a tensor or dtype converts to the dtype ``to`` without loss, by promotion."""
    a, b = _dtype(from_), dtypes.of(to)
    return dtypes.promote_types(a, b) is b


def _kind(d: dtypes.dtype) -> str:
    """A letter for the kind, as NumPy has it."""
    return "f" if d.is_floating_point else d.dtype.kind


def isdtype(dtype: DType, kind: str | DType | tuple[str | DType, ...]) -> bool:
    """Whether ``dtype`` is of a kind: the name of one, a dtype, or a tuple of such.

    Raises ValueError for a name that is none.
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if not isinstance(kind, str):
        return dtypes.of(dtype) is dtypes.of(kind)
    if kind not in _KINDS:
        raise ValueError(f"isdtype(): kind must be one of {', '.join(_KINDS)}, but got {kind!r}")
    return _kind(dtypes.of(dtype)) in _KINDS[kind]


def result_type(*arrays_and_dtypes: Tensor | DType | Number) -> dtypes.dtype:
    """The dtype in which tensors, dtypes and Python numbers meet; numbers only raise the kind."""
    return standard.common_dtype("result_type", *arrays_and_dtypes)


def _limits(limits: Any) -> Any:
    limits.dtype = dtypes.of(limits.dtype)
    return limits


def finfo(type: Tensor | DType, /) -> dtypes.finfo:
    """Limits of a floating-point dtype: bits, eps, max, min, smallest_normal; of a complex one, those of its parts."""
    return _limits(dtypes.finfo(_dtype(type)))


def iinfo(type: Tensor | DType, /) -> dtypes.iinfo:
    """Limits of an integer dtype: bits, max, min."""
    return _limits(dtypes.iinfo(_dtype(type)))
