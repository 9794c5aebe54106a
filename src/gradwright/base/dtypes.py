"""dtypes and sizes under PyTorch's names; each dtype stands for one NumPy dtype."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from operator import index
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias, overload

import numpy as np

__all__ = [
    "Size", "bfloat16", "can_cast", "complex64", "complex128", "dtype", "finfo", "float16", "float32", "float64",
    "iinfo", "int8", "int16", "int32", "int64", "promote_types", "uint8", "uint16", "uint32", "uint64",
]  # fmt: skip

_DTypeLike: TypeAlias = "dtype | type | np.dtype[Any] | str"
BOOL, INT, FLOAT, COMPLEX = range(4)
_CATEGORY = {"b": BOOL, "i": INT, "u": INT, "f": FLOAT, "c": COMPLEX}


class dtype:
    """The element type of a tensor. ``np.dtype(gradwright.float32)`` works.

    Attributes: ``name``, ``itemsize`` in bytes, ``is_floating_point``, ``is_complex``, ``is_signed``.
    """

    __slots__ = ("category", "dtype", "name")

    dtype: np.dtype[Any]

    def __init__(self, name: str) -> None:
        self.name = name
        if name == "bfloat16":
            self.category = FLOAT
        else:
            self.dtype = np.dtype(name)
            self.category = _CATEGORY[self.dtype.kind]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name != "dtype":
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            try:
                import ml_dtypes  # noqa: PLC0415 - an extra, and slow to load
            except ImportError as e:
                raise ImportError("bfloat16 needs ml_dtypes: pip install ml_dtypes", name="ml_dtypes") from e
            self.dtype = np.dtype(ml_dtypes.bfloat16)
            _by_numpy[self.dtype] = self
            return self.dtype

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
        return self.category >= FLOAT or (self.category == INT and self.dtype.kind == "i")

    def to_complex(self) -> Any:
        """The complex dtype whose parts are of this one (of float32, for smaller ones); itself if complex."""
        return self if self.is_complex else complex_partner(self)

    def to_real(self) -> Any:
        """The dtype of the parts of a complex one; itself if real."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return of, (self.name,)


NAMES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip
_by_numpy = {d.dtype: d for d in map(dtype, NAMES)}


def of(like: Any) -> dtype:
    """The dtype that ``like`` names: one of ours, NumPy's, or Python's ``float``, ``int``, ``bool``, ``complex``.

    >>> of("float64"), of(int), of(float)
    (torch.float64, torch.int64, torch.float64)
    """
    if isinstance(like, dtype):
        return like
    if isinstance(like, np.dtype) and like in _by_numpy:
        return _by_numpy[like]
    if getattr(like, "name", getattr(like, "__name__", like)) == "bfloat16":
        return bfloat16
    plain = isinstance(like, (str, type, np.dtype))
    try:
        return _by_numpy[np.dtype(like if plain else str(like).rpartition(".")[2])]  # another library's: its name
    except (KeyError, TypeError, ValueError):
        known = ", ".join(d.name for d in _by_numpy.values())
        raise TypeError(f"dtype: expected one of {known}, but got {like!r}{_mend(like)}") from None


def _mend(like: Any) -> str:
    """What to write in place of NumPy's dtypes that none of ours is."""
    if not isinstance(like, np.dtype):
        return ""
    if not like.isnative:
        return f", of foreign byte order: write array.astype({like.newbyteorder('=').name!r})"
    return {
        "f": ": write array.astype('float64')", "c": ": write array.astype('complex128')",
        "O": ", Python's objects: make an array of numbers, all of one length, of them first",
        "M": ": write array.astype('int64'), the number of its units", "m": ": write array.astype('int64')",
        "U": ": text is no number, array.astype('float64') reads it", "S": ": array.astype('float64') reads numbers",
        "V": f", of fields: give one of them, as array[{(like.names or ('name',))[0]!r}].copy()",
    }.get(like.kind, "")  # fmt: skip


def remedy(given: dtype, wanted: dtype) -> str:
    """What to do about an input of another dtype than the parameters of a model, in PyTorch's words."""
    model = f", or convert model: model.to({given})" if given.category >= FLOAT else ""
    return f"Convert input: input.to({wanted}){model}"


def kind(d: Any) -> str:
    """NumPy's letter for the kind of any library's dtype; bfloat16, which to NumPy is no number, counts as a float."""
    letter: str = d.kind if isinstance(d, np.dtype) else of(d).dtype.kind
    return "f" if letter == "V" else letter


def nbytes(array: Any) -> int:
    """Bytes of the entries of an array of any library."""
    return math.prod(array.shape) * of(array.dtype).itemsize


def numpy_dtype(like: Any) -> np.dtype[Any]:
    """The NumPy dtype behind ``like`` (see `of`)."""
    return of(like).dtype


uint8, uint16, uint32, uint64 = (of(f"uint{n}") for n in (8, 16, 32, 64))
int8, int16, int32, int64 = (of(f"int{n}") for n in (8, 16, 32, 64))
float16, float32, float64 = (of(f"float{n}") for n in (16, 32, 64))
bfloat16 = dtype("bfloat16")
complex64, complex128, boolean = of("complex64"), of("complex128"), of("bool")

# The legacy class names that messages and `Tensor.type()` use.
LEGACY = {
    "float32": "FloatTensor", "float64": "DoubleTensor", "float16": "HalfTensor", "bfloat16": "BFloat16Tensor",
    "int64": "LongTensor", "int32": "IntTensor", "int16": "ShortTensor", "int8": "CharTensor", "uint8": "ByteTensor",
    "bool": "BoolTensor", "complex64": "ComplexFloatTensor", "complex128": "ComplexDoubleTensor",
}  # fmt: skip


def named(kind: Any) -> Any:
    """The dtype of a legacy class, such as ``FloatTensor``, or of its name "torch.FloatTensor"; else what is given."""
    if isinstance(kind, str):
        word = kind.removeprefix("torch.")
        return next((of(name) for name, legacy in LEGACY.items() if legacy == word), kind)
    found = getattr(kind, "dtype", None)
    return found if isinstance(kind, type) and isinstance(found, dtype) else kind


class _Default:
    dtype = float32


def default() -> dtype:
    """The floating dtype that creation functions use when none is named (float32 unless it was set)."""
    return _Default.dtype


def set_default(d: _DTypeLike) -> None:
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


def promote_types(type1: _DTypeLike, type2: _DTypeLike) -> dtype:
    """The smallest dtype both fit in by PyTorch's rules: a float wins over any integer, whatever their widths.

    >>> promote_types(int64, float16), promote_types(float16, bfloat16)
    (torch.float16, torch.float32)

    Raises RuntimeError for uint64 and a signed integer: there is none. (PyTorch promotes no uint16, uint32 and uint64.)
    """
    a, b = of(type1), of(type2)
    if a is b:
        return a
    if a.category < FLOAT <= b.category:
        return b
    if b.category < FLOAT <= a.category:
        return a
    if bfloat16 in (a, b):
        other = b if a is bfloat16 else a
        return float32 if other is float16 else other
    wider = of(np.promote_types(a.dtype, b.dtype))
    if wider.category > max(a.category, b.category):
        raise RuntimeError(f"promote_types: no integer dtype holds both {a} and {b}")
    return wider


def can_cast(from_: _DTypeLike, to: _DTypeLike) -> bool:
    """Whether a conversion keeps the category, or raises it (bool, int, float, complex), as in-place results may."""
    return of(from_).category <= of(to).category


_OF_8_BITS = {
    "float8_e4m3fn": (2.0**-3, 2.0**-6, 448.0), "float8_e4m3fnuz": (2.0**-3, 2.0**-7, 240.0),
    "float8_e5m2": (2.0**-2, 2.0**-14, 57344.0), "float8_e5m2fnuz": (2.0**-3, 2.0**-15, 57344.0),
}  # fmt: skip
"""Of PyTorch's dtypes of 8 bits: the distance from 1 to the next number, the smallest normal one, the largest."""


class finfo:
    """The limits of a floating-point dtype (of the parts of a complex one), as NumPy's `numpy.finfo` has them.

    Attributes: ``bits``, ``eps``, ``max``, ``min``, ``tiny``, ``smallest_normal``, ``resolution``, ``dtype`` (a name).

    >>> finfo(float32).eps
    1.1920928955078125e-07

    Raises TypeError for any other dtype.
    """

    def __init__(self, type: _DTypeLike | None = None) -> None:
        named = getattr(type, "__name__", "").rpartition(".")[2]
        if named in _OF_8_BITS:  # of which there are no tensors: programs ask before they take them
            self.eps, self.tiny, self.max = _OF_8_BITS[named]
            self.resolution, self.bits, self.min, self.smallest_normal = 1.0, 8, -self.max, self.tiny
            self.dtype = named
            return
        d = (default() if type is None else of(type)).to_real()
        if d.category != FLOAT:
            raise TypeError(f"torch.finfo() requires a floating point input type, got {d}. Use torch.iinfo for it")
        if d is bfloat16:
            self.eps, self.tiny, self.max = 2.0**-7, 2.0**-126, (2 - 2.0**-7) * 2.0**127
            self.resolution = 0.01
        else:
            info = np.finfo(d.dtype)
            self.eps, self.tiny, self.max = float(info.eps), float(info.tiny), float(info.max)
            self.resolution = 10.0**-info.precision
        self.bits, self.min, self.smallest_normal, self.dtype = 8 * d.itemsize, -self.max, self.tiny, d.name

    def __repr__(self) -> str:
        return (f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
                f"smallest_normal={self.tiny:g}, tiny={self.tiny:g}, dtype={self.dtype})")  # fmt: skip


class iinfo:
    """The limits of an integer dtype. Attributes: ``bits``, ``max``, ``min``, ``dtype`` (a name).

    >>> iinfo(int8)
    iinfo(min=-128, max=127, dtype=int8)

    Raises TypeError for any other dtype.
    """

    def __init__(self, type: _DTypeLike) -> None:
        d = of(type)
        if d.category != INT:
            raise TypeError(f"torch.iinfo() requires an integer input type, got {d}. Use torch.finfo for it")
        info = np.iinfo(d.dtype)
        self.bits, self.max, self.min, self.dtype = info.bits, info.max, info.min, d.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple that prints as PyTorch's and knows its number of elements.

    A tensor of one integer among the sizes becomes an int. Raises TypeError for what is no integer.
    """

    __slots__ = ()

    def __new__(cls, sizes: Iterable[SupportsIndex] = ()) -> Size:
        return size(n if type(n) is int else _integer(n, i) for i, n in enumerate(sizes))

    def numel(self) -> int:
        """The product of the sizes."""
        return math.prod(self)

    @overload
    def __getitem__(self, key: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, key: slice) -> Size: ...
    def __getitem__(self, key: Any) -> Any:
        part = tuple.__getitem__(self, key)
        return size(part) if isinstance(key, slice) else part

    def __add__(self, other: Any) -> Any:
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> Any:
        return Size(other) + self if isinstance(other, tuple) else NotImplemented

    def __mul__(self, n: SupportsIndex) -> Size:
        return size(tuple.__mul__(self, n))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"


def _integer(n: Any, at: int) -> Any:
    try:
        return n if isinstance(n, np.integer) else index(n)
    except TypeError:
        raise TypeError(f"torch.Size() takes an iterable of 'int' (item {at} is '{type(n).__name__}')") from None


size: Callable[[Iterable[int]], Size] = partial(tuple.__new__, Size)
"""A `Size` of what are integers, quickly."""
