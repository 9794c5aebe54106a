"""Formulas written down: run once on stand-ins, which note what is called on them.

A formula may use operators, ufuncs, and the few functions of `xp` that are made of such: choosing, clamping, zeros.
With the dtype of its arrays given, those of all values follow, and what is constant is computed. Whatever else it asks
for raises `NotNoted`, as does a branch on a value.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from gradwright.backends import elementary
from gradwright.backends.numpy import namespace
from gradwright.backends.quiet import quietly

OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "less": operator.lt, "greater": operator.gt, "less_equal": operator.le, "greater_equal": operator.ge,
    "equal": operator.eq, "not_equal": operator.ne, "negative": operator.neg, "bitwise_and": operator.and_,
    "bitwise_or": operator.or_, "bitwise_xor": operator.xor, "invert": operator.invert,
}  # fmt: skip
"""The ufuncs that are operators."""
_SWAPPED = ("add", "subtract", "multiply", "divide", "bitwise_and", "bitwise_or", "bitwise_xor")
_BOOL = np.dtype(bool)


class NotNoted(TypeError):  # noqa: N818 - it is no fault
    """A formula asks a stand-in for what cannot be noted."""


class Value:
    """A stand-in for an array or a number of a formula, which has a name.

    Attributes:
        notes: where what is called on it is noted.
        name: what it is called there.
        is_array: whether it stands for an array, be it one of no axes; else for one of Python's numbers.
        dtype: of an array; None where none was given to the notes.
    """

    __array_ufunc__ = None  # NumPy's numbers leave operators to it

    def __init__(self, notes: Notes, name: str, is_array: bool, dtype: Any = None) -> None:
        self.notes, self.name, self.is_array, self.dtype = notes, name, is_array, dtype

    def __bool__(self) -> bool:
        raise NotNoted("a branch on a value")

    __hash__ = object.__hash__

    def _apply(self, op: Any, arrays: Any, static: Mapping[str, Any]) -> Any:
        """An operation, called in a formula: its formula."""
        return op.forward(self.notes, *arrays, **static)


def _operator(name: str, swapped: bool = False) -> Callable[..., Value]:
    def noted(x: Value, *other: Any) -> Value:
        return x.notes.note(name, *((*other, x) if swapped else (x, *other)))

    return noted


for _name, _f in OPERATORS.items():
    setattr(Value, f"__{_f.__name__.strip('_')}__", _operator(_name))
    if _name in _SWAPPED:
        setattr(Value, f"__r{_f.__name__.strip('_')}__", _operator(_name, swapped=True))


class Notes:
    """The `xp` of a formula that is noted.

    Args:
        dtype: that of its floating-point arrays; None: any, and then nothing but `note` is asked of it.

    Attributes:
        constants: by name.
        numbers: the calls on numbers alone: the names of the result, the ufunc and the arguments.
        calls: those on arrays. Beside ufuncs there are "where", "copy", which chooses, too, but makes a number of
            numbers, and "clip".
        used: the numbers that these take.
    """

    def __init__(self, dtype: Any = None) -> None:
        self.dtype = dtype
        self.constants: dict[str, Any] = {}
        self.numbers: list[tuple[str, str, list[str]]] = []
        self.calls: list[tuple[str, str, list[str]]] = []
        self.used: dict[str, None] = {}
        self.dtypes: dict[str, Any] = {}

    def given(self, name: str, is_array: bool = True, dtype: Any = None) -> Value:
        """The stand-in for an argument."""
        self.dtypes[name] = dtype or self.dtype
        return Value(self, name, is_array, self.dtypes[name])

    def note(self, name: str, *given: Any) -> Value:
        """The result of a call, which is noted."""
        parts = [x if isinstance(x, Value) else self.constant(x) for x in given]
        is_array = any(x.is_array for x in parts)
        dtype = self._dtype(name, parts) if is_array and self.dtype else None
        if is_array and self.dtype and all(x.name in self.constants for x in parts):
            return self.constant(quietly(_function(name), *(self.constants[x.name] for x in parts)))
        out = Value(self, f"v{len(self.calls) + len(self.numbers)}", is_array, dtype)
        self.dtypes[out.name] = dtype
        if is_array:
            self.used |= dict.fromkeys(x.name for x in parts if not x.is_array)
        (self.calls if is_array else self.numbers).append((out.name, name, [x.name for x in parts]))
        return out

    def constant(self, value: Any) -> Value:
        """The stand-in for a number that is known: one of Python's, or, with a dtype given, of NumPy's in that."""
        is_array = isinstance(value, (np.generic, np.ndarray))
        if self.dtype and not (is_array and value.dtype in (self.dtype, _BOOL) and not value.ndim):
            if type(value) not in (int, float):
                raise NotNoted(f"a constant of {type(value)}")
            if math.isinf(quietly(self.dtype.type, value)) and not math.isinf(value):
                raise NotNoted("a constant that overflows")
        name = f"c{len(self.constants)}"
        self.constants[name] = value
        self.dtypes[name] = value.dtype if is_array else None
        return Value(self, name, is_array, value.dtype if is_array else None)

    def _dtype(self, name: str, parts: list[Value]) -> Any:
        """The dtype of a result: that which a loop of the ufunc for these arguments has."""
        types = [(x.dtype if x.is_array else self.dtype).char for x in parts]
        if name in CHOICES:
            if types[0] == "?" and types[1] == types[2]:
                return np.dtype(types[1])
        else:
            loops = [kinds for kinds in UFUNCS[name].types if kinds.startswith("".join(types) + "->")]
            if loops and loops[0][-1] in ("?", self.dtype.char) and loops[0][-2] == ">":
                return np.dtype(loops[0][-1])
        raise NotNoted(f"{name} of {types}")

    def __getattr__(self, name: str) -> Any:
        found = getattr(namespace, name, None)
        if isinstance(found, np.ufunc) and found is getattr(np, name):
            return partial(self.note, name)
        in_double = getattr(getattr(elementary, name, None), "in_double", None)
        if self.dtype == np.float64 and isinstance(in_double, np.ufunc):
            return partial(self.note, in_double.__name__)
        if isinstance(found, (type, float)) and self.dtype:  # a dtype, or pi
            return found
        raise NotNoted(f"xp.{name}")

    # -- functions of `xp` that are made of ufuncs --

    def where(self, condition: Any, x: Any, y: Any) -> Value:
        if self.dtype and isinstance(condition, Value) and not condition.is_array:
            condition = self.note("not_equal", condition, self.constant(self.dtype.type(0)))
        return self.note("where", condition, x, y)

    def clip(self, x: Any, min: Any = None, max: Any = None) -> Value:
        if min is None and max is None:
            raise NotNoted("clip without bounds")
        if min is None:
            return self.note("minimum", x, max)
        return self.note("maximum", x, min) if max is None else self.note("clip", x, min, max)

    def round(self, x: Any) -> Value:
        return self.note("rint", x)

    def zero(self, x: Value) -> Value:
        return self.constant(x.dtype.type(0))

    def zeros_like(self, x: Value) -> Value:
        return self._filled(x, 0)

    def ones_like(self, x: Value) -> Value:
        return self._filled(x, 1)

    def _filled(self, x: Value, number: int) -> Value:
        return self.note("where", self.constant(np.True_), self.constant(x.dtype.type(number)), x)

    def asarray(self, x: Value, *, copy: bool) -> Value:
        return self.note("where", self.constant(np.bool_(copy)), x, x)

    def astype(self, x: Value, dtype: Any) -> Value:
        if x.dtype != _BOOL or dtype != self.dtype:
            raise NotNoted("astype")
        return self.note("copy", x, self.constant(dtype.type(1)), self.constant(dtype.type(0)))

    def conj(self, x: Value) -> Value:
        return x

    def isdtype(self, dtype: Any, kind: Any) -> Any:
        return namespace.isdtype(dtype, kind)

    def finfo(self, dtype: Any) -> Any:
        return np.finfo(dtype)


CHOICES = ("where", "copy")
UFUNCS: dict[str, Any] = {name: f for name, f in vars(np).items() if isinstance(f, np.ufunc)}
"""The ufuncs by name."""
UFUNCS["clip"] = np._core.umath.clip  # type: ignore[attr-defined]


def _function(name: str) -> Callable[..., Any]:
    return np.where if name in CHOICES else UFUNCS[name]
