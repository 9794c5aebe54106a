"""Traced arrays: arrays that know their place in a program. What is computed with them leaves a node each.

They are one more array library for each one there is, whose namespace runs that one's function at once and notes the
call: tracing is an ordinary run that leaves a record. Their arrays never change, so that tensors over them are written
by exchanging them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, ClassVar

import numpy as np

from gradwright.backends import Library, enter
from gradwright.backends.numpy import NUMPY
from gradwright.backends.quiet import quietly
from gradwright.compilation.interpreted import function
from gradwright.compilation.node import INDEX, MOVE, Program
from gradwright.compilation.trace.notes import Noted, Notes
from gradwright.ops.declare import Op


class Traced(Noted):
    """An array with its place in a program; ``node.value`` are its values. It is never written.

    This class is of NumPy's arrays; `kind_of` makes those of others.
    """

    __slots__ = ("__weakref__",)
    by: ClassVar[Library] = NUMPY
    space: ClassVar[Any]
    __array_priority__ = 1000.0
    base, batch = None, False

    @property
    def plain(self) -> Any:
        """Its values, without that anybody reads them."""
        return self.node.value

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return self.node.shape

    @property
    def dtype(self) -> Any:
        """Its dtype."""
        return self.node.dtype

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.node.shape)

    @property
    def size(self) -> int:
        """How many entries it has."""
        return int(self.node.value.size)

    @property
    def itemsize(self) -> int:
        """Bytes of one entry."""
        return int(self.node.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        """Bytes of all entries."""
        return self.size * self.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """The distances of entries in memory, in bytes, as they lie in the traced run; of NumPy's alone."""
        return self.node.value.strides

    @property
    def device(self) -> Any:
        """The device, as the library says."""
        return self.node.value.device

    @property
    def real(self) -> Any:
        """The real parts."""
        return self.space.real(self)

    @property
    def imag(self) -> Any:
        """The imaginary parts."""
        return self.space.imag(self)

    @property
    def T(self) -> Any:
        """The axes in reverse order."""
        return self.space.permute_dims(self, tuple(range(self.ndim))[::-1])

    @property
    def mT(self) -> Any:
        """The last two axes exchanged."""
        return self.space.permute_dims(self, (*range(self.ndim - 2), self.ndim - 1, self.ndim - 2))

    def _apply(self, op: Op, arrays: Sequence[Any], static: dict[str, Any]) -> Any:
        return op.forward(self.space, *arrays, **static)

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """The values in another dtype."""
        return self.space.astype(self, dtype, copy=copy)

    def noted(self, new: Any) -> Any:
        """An array that takes the place of this one: what is no traced one is a constant."""
        if hasattr(new, "plain") or not self.notes.is_on:
            return new
        return self.notes.traced(self.notes.constant(new))

    def moved(self, to: Any) -> Any:
        """The values on another device, of whatever library."""
        return self.notes.call(MOVE, _moved, (self, to), {})

    def reshape(self, *shape: Any) -> Any:
        """The same entries in row-major order under another shape."""
        return self.space.reshape(self, shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)

    def copy(self) -> Any:
        """Itself: it does not change."""
        return self

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        if all(k is None or k is ... or isinstance(k, (int, np.integer, slice)) for k in parts):
            key = tuple(int(k) if isinstance(k, np.integer) else k for k in parts)
            value = self.node.value[key]
            if not self.notes.is_on:
                return value
            return self.notes.traced(self.notes.enter(INDEX, (self.node, key), {}, value))
        return self.notes.call("at_index", operator.getitem, (self, key), {}, self.by)

    def __len__(self) -> int:
        return len(self.node.value)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.notes.read(self), dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs.get("out") is not None:
            return getattr(ufunc, method)(*map(np.asarray, inputs), **kwargs)
        return _computed(NUMPY, ufunc.__name__, *inputs, **kwargs)

    def __bool__(self) -> bool:
        return bool(self.notes.read(self))

    def __int__(self) -> int:
        return int(self.notes.read(self))

    __index__ = __int__

    def __float__(self) -> float:
        return float(self.notes.read(self))

    def __complex__(self) -> complex:
        return complex(self.notes.read(self))

    def item(self, *at: Any) -> Any:
        """One number."""
        return self.notes.read(self).item(*at) if at else self.notes.number(self, "item")

    def tolist(self) -> Any:
        """The numbers in lists."""
        return self.notes.number(self, "tolist")

    def __pow__(self, other: Any) -> Any:
        return _power(self, other)

    def __rpow__(self, other: Any) -> Any:
        return _operated("power", "pow", other, self)

    def __repr__(self) -> str:
        return f"Traced(%{len(self.notes.nodes)}: {self.dtype} {list(self.shape)})"


_POWERS = {2: "square", 0.5: "sqrt", -1: "reciprocal", 1: "positive"}  # what NumPy's ``**`` calls for floats


def _moved(array: Any, to: Any) -> Any:
    return to.hold(array)


def _power(x: Any, exponent: Any) -> Any:
    quick = x.dtype.kind in "fc" and type(exponent) in (int, float) and exponent in _POWERS and x.by is NUMPY
    return _computed(NUMPY, _POWERS[exponent], x) if quick else _operated("power", "pow", x, exponent)


_BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
    "mod": "remainder", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "left_shift", "rshift": "right_shift",
}  # fmt: skip
_TESTS = {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal",
}  # fmt: skip
_UNARY = {"neg": "negative", "abs": "absolute", "invert": "bitwise_invert", "pos": "positive"}


def _operated(name: str, own: str, *args: Any) -> Any:
    """What an operator makes of arguments: of NumPy's arrays its function ``name``, of others that of Python's."""
    by = next(a.by for a in args if isinstance(a, Traced))
    return _computed(by, name if by is NUMPY else f"operator.{own}", *args)


def _operator(name: str, own: str, swapped: bool = False) -> Callable[..., Any]:
    return lambda x, *other: _operated(name, own, *((*other, x) if swapped else (x, *other)))


for _name, _f in (_BINARY | _TESTS | _UNARY).items():
    setattr(Traced, f"__{_name}__", _operator(_f, f"{_name}_" if _name in ("and", "or") else _name))
for _name, _f in _BINARY.items():
    setattr(Traced, f"__r{_name}__", _operator(_f, f"{_name}_" if _name in ("and", "or") else _name, swapped=True))
Traced.__hash__ = object.__hash__  # type: ignore[method-assign]


def _notes_of(value: Any) -> Notes | None:
    """The notes of the first traced array in arguments."""
    if isinstance(value, Traced):
        return value.notes
    if isinstance(value, (tuple, list)):
        return next((n for v in value if (n := _notes_of(v)) is not None), None)
    if isinstance(value, dict):
        return _notes_of([*value.values()])
    return None


def _computed(by: Library, op: str, *args: Any, **kwargs: Any) -> Any:
    """What a function of a library's namespace, by its name with dots, makes of arguments, noted if any is traced."""
    f = function(op, by)
    notes = _notes_of(args) or _notes_of(kwargs)
    return f(*args, **kwargs) if notes is None else notes.call(op, f, args, kwargs, by)


_PURE = frozenset({
    "result_type", "isdtype", "finfo", "iinfo", "can_cast", "broadcast_shapes", "dtype",
})  # fmt: skip


class _Space:
    """The namespace of traced arrays: their library's, noted."""

    def __init__(self, by: Library, path: str = "") -> None:
        self._by, self._path = by, path

    @property
    def __name__(self) -> str:
        return str(self._by.xp.__name__)

    def __getattr__(self, name: str) -> Any:
        found = operator.attrgetter(f"{self._path}{name}")(self._by.xp)
        if f"{self._path}{name}" in ("linalg", "fft", "special"):
            made: Any = _Space(self._by, f"{name}.")
        elif name in _PURE:
            made = _of_dtypes(found)
        elif name == "may_hold" and self._by is not NUMPY:
            made = found  # it does not look
        elif found is np.power:
            made = _named(self._by, "power")  # the name that passes know
        elif callable(found) and not isinstance(found, type) and not hasattr(found, "dtype"):
            made = _named(self._by, f"{self._path}{name}")
        else:
            return found
        setattr(self, name, made)
        return made


def _of_dtypes(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: f(*[a.dtype if isinstance(a, Traced) else a for a in args])


def _named(by: Library, path: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return _computed(by, path, *args, **kwargs)

    call.__name__ = path
    return call


def _entered(cls: type[Traced], name: str) -> None:
    cls.space = _Space(cls.by)
    enter(Library(name, cls.space, outer=True, traces=True, host=True, to_host=np.asarray), cls)


@cache
def kind_of(by: Library) -> type[Traced]:
    """The class of a library's traced arrays."""
    if by is NUMPY:
        return Traced
    made: type[Traced] = type("Traced", (Traced,), {"by": by, "__slots__": ()})
    _entered(made, f"a traced run of {by.name}")
    return made


_entered(Traced, "a traced run")
space = Traced.space
Notes.kinds = staticmethod(kind_of)


def traced(f: Callable[..., Any], *arrays: Any) -> Program:
    """The program of a function of arrays, which it is called with; it returns an array or several.

    >>> import numpy as np
    >>> traced(lambda x, y: x * y + 1.0, np.ones(3), np.ones(3))
    %0 = input(): float64 [3]
    %1 = input(): float64 [3]
    %2 = multiply(%0, %1): float64 [3]
    %3 = add(%2, 1.0): float64 [3]
    return %3
    """
    notes = Notes()
    given = [notes.input(np.array(a)) for a in arrays]
    found = quietly(f, *given)
    notes.open = False
    outputs = list(found) if isinstance(found, (tuple, list)) else [found]
    return notes.program(given, outputs, [None] * len(outputs))
