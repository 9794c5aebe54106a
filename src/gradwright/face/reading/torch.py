"""Reading arguments: tensors, dims, sizes and dtypes as PyTorch's functions take them, with errors that name them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, wraps
from typing import Any, TypeVar

import numpy as np

from gradwright import backends
from gradwright.backends.devices import device_of, place
from gradwright.backends.quiet import quietly
from gradwright.base import dtypes
from gradwright.base.errors import kind, no_tensor
from gradwright.base.source_line import warn
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.levels import below
from gradwright.engine.numbers import is_whole, number
from gradwright.engine.view import catch_up
from gradwright.face.reading.common import NUMBER, axis_reader, beside, cast, common_dtype, taken
from gradwright.face.reading.keywords import names_of, unexpected
from gradwright.ops.declare import Op

one_dim = axis_reader(
    "dim",
    "Dimension out of range (expected to be in range of [-{n}, {last}], but got {index}): "
    "argument '{argument}' of {function}()",
    least=1,
)


def tensor_arg(function: str, value: Any, argument: str = "input", position: int = 1) -> Any:
    """``value`` if it is a tensor; TypeError naming function and argument if not."""
    if isinstance(value, TensorBase):
        if value._view is not None:
            catch_up(value)
        return value
    raise TypeError(f"{function}(): argument '{argument}' (position {position}) must be Tensor, not {no_tensor(value)}")


def tensor_list(
    function: str, values: Any, argument: str = "tensors", empty: type[Exception] = RuntimeError
) -> list[Any]:
    """A sequence of tensors, checked one by one.

    Raises TypeError naming function and argument, or `empty` if there are none.
    """
    if not isinstance(values, (tuple, list)):
        got = kind(values)
        raise TypeError(f"{function}(): argument '{argument}' (position 1) must be tuple of Tensors, not {got}")
    items = list(values)
    for v in items:
        if not isinstance(v, TensorBase):
            i = next(i for i, v in enumerate(items) if not isinstance(v, TensorBase))
            raise TypeError(f"{function}(): expected Tensor as element {i} in argument '{argument}', but got {kind(v)}")
    if not items:
        raise empty(f"{function}(): expected a non-empty list of Tensors")
    return items


def dims(function: str, dim: Any, ndim: int) -> tuple[int, ...] | None:
    """Dims for a reduction: None for all (an empty tuple counts as all), else a tuple without repeats."""
    if dim is None:
        return None
    if not isinstance(dim, (tuple, list)):
        axis = one_dim(function, dim, ndim)
        return (axis,) if ndim else None
    if not dim:
        return None
    many = tuple([one_dim(function, d, ndim) for d in dim])
    if len(set(many)) < len(many):
        raise RuntimeError(f"{function}(): dim {many[0]} appears multiple times in the list of dims")
    return many if ndim else None


def sizes(function: str, given: tuple[Any, ...], needed: str = "") -> tuple[int, ...]:
    """Sizes given as ``f(2, 3)`` or ``f((2, 3))``; as ``f()`` unless they are ``needed``, by that name."""
    if needed and not given:
        raise TypeError(f"{function}() missing 1 required positional argument: {needed!r}")
    if len(given) == 1 and isinstance(given[0], (tuple, list)):
        given = tuple(given[0])
    for n in given:
        if n.__class__ is not int:
            break
    else:
        return given
    for n in given:
        if not (is_whole(n) or (isinstance(n, bool) and n is not given[0])):  # as PyTorch, which looks at the first
            raise TypeError(f"{function}(): argument 'size' must be ints or a tuple of ints, but got {kind(n)}")
    return tuple([n.__index__() for n in given])


def to_dtype(x: Any, d: Any) -> Any:
    """``x`` as another dtype, recorded; ``x`` itself if it has it already. Warns of an imaginary part that is lost."""
    target = dtypes.of(d)
    if x.array.dtype is target.dtype or (own := dtypes.of(x.array.dtype)) is target:
        return x
    if own.is_complex and not target.is_complex and target is not dtypes.boolean:
        warn("Casting complex values to real discards the imaginary part")
    return cast(x, target)


def destination(args: tuple[Any, ...], dtype: Any, device: Any) -> tuple[Any, Any, bool]:
    """The dtype and the device, or None, that the arguments of ``to`` ask for; whether their second flag asks to copy.

    Raises RuntimeError for a device that there is not, TypeError for a second dtype.
    """
    flags = [a for a in args if isinstance(a, bool)]
    wanted = [d for d in (dtype,) if d is not None]
    for a in args:
        if isinstance(a, TensorBase):
            wanted.append(a.array.dtype)
            device = device_of(a.array)
        elif isinstance(a, (dtypes.dtype, np.dtype, type)) or type(a).__name__ == "dtype":  # PyTorch's own has a name
            wanted.append(a)
        elif a is not None and not isinstance(a, bool):
            device = a
    if len(wanted) > 1:
        raise TypeError(f"to() received an invalid combination of arguments: {len(wanted)} dtypes")
    return wanted[0] if wanted else None, None if device is None else place(device), flags[1:] == [True]


def result_type(*operands: Any) -> dtypes.dtype:
    """The dtype of an operation on tensors and numbers.

    Tensors with dims decide; 0-d tensors, and after them numbers, only raise the category (bool, int, float, complex).
    """
    return common_dtype(operands, weak=True)


def unmasked(function: str, array: Any) -> Any:
    """An array that is not NumPy's masked one; TypeError for that, since its mask would be lost."""
    if type(array).__name__ == "MaskedArray":
        raise TypeError(f"{function}(): got a NumPy masked array, whose mask tensors do not have: select with "
                        "gradwright.where(mask, ...), or see gradwright.masked")  # fmt: skip
    return array


def _of_one_float(values: Sequence[Any]) -> list[Any] | None:
    """`operands` where that is quickly said: tensors of float32 or of float64, and small numbers; else None."""
    first = None
    for v in values:
        if first is None and isinstance(v, TensorBase):
            first = v.array
    if first is None or not ((d := first.dtype) is dtypes.float32.dtype or d is dtypes.float64.dtype):
        return None
    numpy = isinstance(below(first), np.ndarray)
    found = []
    for v in values:
        if isinstance(v, TensorBase) and v.array.dtype is d:
            found.append(v)
        elif numpy and v.__class__ in (float, int) and abs(v) < 1e15:
            found.append(wrap(d.type(v)))
        else:
            return None
    return found


def operands(op: Op, values: Sequence[Any], *, floating: bool = False) -> list[Any] | None:
    """The values as tensors of one dtype and library; None if one is neither tensor, number nor NumPy array."""
    if (plain := _of_one_float(values)) is not None:
        return plain
    tensors: list[Any] = []
    for v in values:
        if isinstance(v, np.ndarray):
            v = wrap(taken(unmasked(op.name, v)))
        elif not isinstance(v, (TensorBase, *NUMBER)):
            return None
        tensors.append(v)
    common = common_dtype(tensors, weak=True, floating=floating)
    held = dtypes.float32 if common in (dtypes.float16, dtypes.bfloat16) else common  # halves compute in float32
    first = next((below(v.array) for v in tensors if isinstance(v, TensorBase)), np.bool_())

    def converted(v: Any) -> Any:
        if isinstance(v, TensorBase):
            return to_dtype(v, common)
        number = np.array(v).astype(held.dtype)  # 300 wraps round in uint8
        return wrap(number) if isinstance(first, (np.ndarray, np.generic)) else beside(first, number.item(), held)

    try:
        return quietly(lambda: [converted(v) for v in tensors])  # 1e300 is inf in float32
    except OverflowError as e:
        raise OverflowError(f"{op.name}(): a number does not fit {common}: {e}") from None


@cache
def _range(d: dtypes.dtype) -> tuple[Any, Any]:
    """The least and the largest number a dtype takes; unsigned ones take negative numbers, modulo their size."""
    limits: Any = np.iinfo(d.dtype) if d.category is dtypes.INT else dtypes.finfo(d)
    return (limits.min or -limits.max), limits.max


def number_as(function: str, value: Any, dtype: Any) -> Any:
    """A number as a NumPy scalar of ``dtype``, with its fraction cut off for integers.

    Raises RuntimeError if it does not fit: 300 in uint8, 1j in float32, NaN in int64. (-255 fits uint8, as 1.)
    """
    d, value = dtypes.of(dtype), number(function, "value", value)
    if isinstance(value, (bool, np.bool_)) or d is dtypes.boolean:
        return np.bool_(value).astype(d.dtype)
    low, high = _range(d)
    if not hasattr(value, "imag"):
        raise TypeError(f"{function}(): argument 'value' must be Number, not {kind(value)}")
    parts = value.real, value.imag
    fits = all(low <= v <= high or (d.category >= dtypes.FLOAT and not math.isfinite(v)) for v in parts)
    if fits and d.is_complex:
        return d.dtype.type(value)
    if fits and not value.imag:
        value = value.real
        return d.dtype.type(value if d.is_floating_point or value >= 0 or d.is_signed else int(value) & high)
    raise RuntimeError(f"{function}(): value cannot be converted to type {d.name} without overflow")


# NumPy's argument names, which PyTorch takes for its own.
ALIASES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}


F = TypeVar("F", bound=Callable[..., Any])


def other_names(own: Sequence[str]) -> dict[str, str]:
    """The names in `ALIASES` that arguments with these names may be given by, too, each with what it stands for."""
    return {name: true for name, true in ALIASES.items() if true in own and name not in own}


def by_own_names(function: str, given: dict[str, Any], others: Mapping[str, str]) -> None:
    """Replace the ``others`` among the names of arguments; TypeError if one is given by both."""
    for name in others.keys() & given.keys():
        if others[name] in given:
            raise _twice(function, name, others[name])
        given[others[name]] = given.pop(name)


def _twice(function: str, name: str, true: str) -> TypeError:
    return TypeError(f"{function}(): '{name}' is another name of '{true}'; both given")


def numpy_names(function: F) -> F:
    """``function``, which then takes the names in `ALIASES` of its arguments, too; TypeError if one is given twice."""
    own = names_of(function) or ()
    names = other_names(own)
    known = frozenset(own)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not kwargs:
            return function(*args)
        if not known.issuperset(kwargs):
            by_own_names(function.__name__, kwargs, names)
            if own and not known.issuperset(kwargs):
                raise unexpected(function.__name__, kwargs, own, *names)
        return function(*args, **kwargs)

    return call  # type: ignore[return-value]


class _Unset(int):
    """A default that can be told from the same number given."""


FIRST = _Unset(0)


def one_name(function: str, dim: Any, axis: Any, unset: Any = FIRST) -> Any:
    """``dim``, or ``axis``, which is another name of it; TypeError if both are given."""
    if axis is None:
        return dim
    if dim is not unset:
        raise _twice(function, "axis", "dim")
    return axis


def older_form(function: str, argument: str, value: Any) -> None:
    """TypeError if ``argument`` is given by its name to a form of a function that takes it first, as a number."""
    if type(value) is not int or value != 1:
        raise TypeError(f"{function}(): '{argument}' is given twice, as the number before the tensors and by its "
                        "name; leave one of them out")  # fmt: skip


def number_beside(function: str, value: Any, x: Any) -> Any:
    """A number as a tensor of the dtype and library of ``x``; RuntimeError if it does not fit that dtype."""
    n = number_as(function, value, x.array.dtype)
    return wrap(n) if isinstance(below(x.array), (np.ndarray, np.generic)) else beside(x.array, n.item(), n.dtype)


def counted(x: Any, n: int) -> Any:
    """0, 1, ... n - 1 in the library and on the device of ``x``."""
    return wrap(backends.namespace(x.array).arange(n, device=x.array.device))
