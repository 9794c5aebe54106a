"""dtypes, devices and sizes under PyTorch's names; each dtype stands for one NumPy dtype."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

BOOL, INT, FLOAT, COMPLEX = range(4)
_CATEGORY = {"b": BOOL, "i": INT, "u": INT, "f": FLOAT, "c": COMPLEX}


class dtype:
    """The element type of a tensor. ``np.dtype(gradwright.float32)`` works.

    Attributes: ``name``, ``itemsize`` in bytes, ``is_floating_point``, ``is_complex``, ``is_signed``.
    """

    __slots__ = ("category", "dtype", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.dtype = np.dtype(name)
        self.category = _CATEGORY[self.dtype.kind]

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def is_floating_point(self) -> bool:
        return self.category == FLOAT

    @property
    def is_complex(self) -> bool:
        return self.category == COMPLEX

    @property
    def is_signed(self) -> bool:
        return self.dtype.kind in "ifc"

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return of, (self.name,)


_names = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"
)
_by_numpy = {d.dtype: d for d in map(dtype, _names.split())}


def of(like: Any) -> dtype:
    """The dtype that ``like`` names: one of ours, NumPy's, or Python's ``float``, ``int``, ``bool``, ``complex``.

    >>> of("float64"), of(int), of(float)
    (torch.float64, torch.int64, torch.float64)
    """
    if isinstance(like, dtype):
        return like
    plain = isinstance(like, (str, type, np.dtype))
    try:
        return _by_numpy[np.dtype(like if plain else str(like).rpartition(".")[2])]  # another library's: its name
    except (KeyError, TypeError):
        known = ", ".join(d.name for d in _by_numpy.values())
        raise TypeError(f"dtype: expected one of {known}, but got {like!r}") from None


def numpy_dtype(like: Any) -> np.dtype[Any]:
    """The NumPy dtype behind ``like`` (see `of`)."""
    return of(like).dtype


uint8, uint16, uint32, uint64 = (of(f"uint{n}") for n in (8, 16, 32, 64))
int8, int16, int32, int64 = (of(f"int{n}") for n in (8, 16, 32, 64))
float16, float32, float64 = (of(f"float{n}") for n in (16, 32, 64))
complex64, complex128, boolean = of("complex64"), of("complex128"), of("bool")

# The legacy class names that messages and `Tensor.type()` use.
LEGACY = {
    "float32": "FloatTensor", "float64": "DoubleTensor", "float16": "HalfTensor", "int64": "LongTensor",
    "int32": "IntTensor", "int16": "ShortTensor", "int8": "CharTensor", "uint8": "ByteTensor", "bool": "BoolTensor",
    "complex64": "ComplexFloatTensor", "complex128": "ComplexDoubleTensor",
}  # fmt: skip


class _Default:
    dtype = float32


def default() -> dtype:
    """The floating dtype that creation functions use when none is named (float32 unless it was set)."""
    return _Default.dtype


def set_default(d: Any) -> None:
    """Set the default floating dtype.

    Raises TypeError unless ``d`` is a floating-point dtype.
    """
    d = of(d)
    if not d.is_floating_point:
        raise TypeError(f"set_default_dtype: only floating-point types are supported as the default type, got {d}")
    _Default.dtype = d


def complex_partner(d: dtype) -> dtype:
    """complex64 for float32 and float16, complex128 for float64."""
    return complex128 if d is float64 else complex64


class Size(tuple[Any, ...]):
    """The shape of a tensor: a tuple that prints as PyTorch's and knows its number of elements."""

    __slots__ = ()

    def numel(self) -> Any:
        """The product of the sizes."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"


class device:
    """Where a tensor lives. Only ``cpu`` exists for now; another name raises RuntimeError.

    >>> device("cpu")
    device(type='cpu')
    """

    __slots__ = ("index", "type")
    type: str

    def __init__(self, type: Any = "cpu", index: Any = None) -> None:
        name = str(type) if isinstance(type, device) else type
        if not isinstance(name, str):
            raise TypeError(f"device: expected a string or a device, got {name!r}")
        if name.partition(":")[0] != "cpu":
            raise RuntimeError(f"gradwright has no device {name!r} yet: every tensor lives on 'cpu'")
        self.type = "cpu"
        self.index = index

    def __repr__(self) -> str:
        return "device(type='cpu')"

    def __str__(self) -> str:
        return "cpu"

    def __eq__(self, other: object) -> Any:
        return isinstance(other, device) and other.type == self.type

    def __hash__(self) -> Any:
        return hash(self.type)


CPU = device("cpu")
