"""Traced arrays: NumPy arrays that know their place in a program. What is computed with them leaves a node each.

They are one more array library, whose namespace runs NumPy's function at once and notes the call: tracing is an
ordinary run that leaves a record. Their arrays never change, so that tensors over them are written by exchanging them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from threading import get_ident
from typing import Any

import numpy as np

from gradwright.backends import register
from gradwright.backends.numpy import namespace as numpy_namespace
from gradwright.backends.quiet import quietly
from gradwright.engine.source_line import here
from gradwright.op import Op
from gradwright.transform.program.node import CHECK, CONSTANT, INDEX, INPUT, PICK, VARIABLE, Node, Program
from gradwright.transform.program.observing.numbers import Numbers


class Notes:
    """The nodes of a program while it is traced.

    Attributes:
        nodes: so far.
        name: the operation that runs.
        open: whether it is traced still.
        numbers: those that Python takes.
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.name = ""
        self.open = True
        self.numbers = Numbers(set(), is_on=False)
        self.thread = get_ident()
        self._constants: dict[int, Node] = {}

    @property
    def is_on(self) -> bool:
        """Whether it is this thread that is traced, still."""
        return self.open and get_ident() == self.thread

    def enter(self, op: str, args: tuple[Any, ...], kwargs: dict[str, Any], value: Any) -> Node:
        """A new node; ``args`` are nodes and Python values."""
        node = Node(op, args, kwargs, value, here(2), self.name)
        self.nodes.append(node)
        return node

    def input(self, array: Any) -> Traced:
        """A traced array that is an input of the program, with these values, which nobody writes meanwhile."""
        return Traced(self, self.enter(INPUT, (), {}, np.asarray(array)))

    def constant(self, array: Any) -> Node:
        """A node with values that stay."""
        found = self._constants.get(id(array))
        if found is None:
            kept = np.array(array, order="K")
            kept.flags.writeable = False
            found = self._constants[id(array)] = self.enter(CONSTANT, (kept,), {}, kept)
            found.value = array  # which lives as long, and keeps its id
        return found

    def call(self, op: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a function of NumPy's namespace makes of arguments, traced arrays among them; traced.

        It is not once the run is over, nor in another thread, which may use tensors that are traced.
        """
        value = function(*mapped_values(args), **mapped_values(kwargs))
        if not self.is_on:
            return value
        return self.hold(self.enter(op, self.noted(args), self.noted(kwargs), value), value)

    def noted(self, value: Any) -> Any:
        """``value`` with nodes in place of arrays."""
        if isinstance(value, Traced):
            return value.node
        if isinstance(value, Node):
            return value
        if isinstance(value, np.ndarray) and value.dtype != object:
            return self.constant(value)
        if isinstance(value, (tuple, list)):
            return _like(value, [self.noted(v) for v in value])
        if isinstance(value, dict):
            return {k: self.noted(v) for k, v in value.items()}
        return value

    def hold(self, node: Node, value: Any) -> Any:
        """The value of a node, traced: an array, or several."""
        if isinstance(value, (np.ndarray, np.generic)):
            if _may_vary(node.args[0] if node.op == PICK else node):
                self.check_shape(node)
            return Traced(self, node)
        if isinstance(value, (tuple, list)):
            parts = [self.hold(self.enter(PICK, (node, k), {}, v), v) for k, v in enumerate(value)]
            return _like(value, parts)
        self.enter(CHECK, (node, np.asarray(value)), {}, None)  # a bool or a number, on which Python decides
        return value

    def check_shape(self, node: Node) -> None:
        """Python goes by the shape of this value, which may be another one for other values."""
        self.enter(CHECK, (self.enter("shape", (node,), {}, node.shape), np.asarray(node.shape)), {}, None)

    def read(self, x: Traced) -> Any:
        """The values of a traced array, for Python to see: the program is as it is only while they stay these."""
        kept = np.array(x.node.value)
        if self.is_on:
            kept.flags.writeable = False
            self.enter(CHECK, (x.node, kept), {}, None)
        return kept

    def number(self, x: Traced, how: str) -> Any:
        """What Python is given by `item` or `tolist`: it, or a `Number` if it may be that it is only returned."""
        found = self.numbers.give(x.node) if self.is_on else None
        return getattr(self.read(x), how)() if found is None else found

    def program(self, inputs: Sequence[Traced], outputs: Sequence[Any], writes: Sequence[int | None]) -> Program:
        """The program of what was noted, with these outputs: traced arrays, or constants."""
        nodes = [self.noted(x if isinstance(x, (Traced, Node)) else np.asarray(x)) for x in outputs]
        return Program(self.nodes, [x.node for x in inputs], nodes, writes)


def _may_vary(node: Node) -> bool:
    """Whether the shape of a value follows from other values: of an index, if it holds a mask."""
    if node.op in ("at", "at_index"):
        return any(n.dtype == bool for n in list(node.nodes())[1:])
    return node.op in VARIABLE


def _like(value: Any, parts: list[Any]) -> Any:
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*parts)
    return type(value)(parts)


def mapped_values(value: Any) -> Any:
    """``value`` with the values of traced arrays in place of them."""
    if isinstance(value, Traced):
        return value.node.value
    if isinstance(value, (tuple, list)):
        return _like(value, [mapped_values(v) for v in value])
    if isinstance(value, dict):
        return {k: mapped_values(v) for k, v in value.items()}
    return value


class Traced:
    """An array with its place in a program; ``node.value`` are its values. It is never written."""

    __slots__ = ("__weakref__", "node", "notes")
    __array_priority__ = 1000.0
    base, batch = None, False

    def __init__(self, notes: Notes, node: Node) -> None:
        self.notes, self.node = notes, node

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
        """NumPy's dtype."""
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
        """The distances of entries in memory, in bytes, as they lie in the traced run."""
        return self.node.value.strides

    @property
    def device(self) -> Any:
        """NumPy's only device."""
        return self.node.value.device

    @property
    def real(self) -> Any:
        """The real parts."""
        return space.real(self)

    @property
    def imag(self) -> Any:
        """The imaginary parts."""
        return space.imag(self)

    @property
    def T(self) -> Any:
        """The axes in reverse order."""
        return space.permute_dims(self, tuple(range(self.ndim))[::-1])

    @property
    def mT(self) -> Any:
        """The last two axes exchanged."""
        return space.permute_dims(self, (*range(self.ndim - 2), self.ndim - 1, self.ndim - 2))

    def _apply(self, op: Op, arrays: Sequence[Any], static: dict[str, Any]) -> Any:
        return op.forward(space, *arrays, **static)

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """The values in another dtype."""
        return space.astype(self, dtype, copy=copy)

    def reshape(self, *shape: Any) -> Any:
        """The same entries in row-major order under another shape."""
        return space.reshape(self, shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)

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
            return Traced(self.notes, self.notes.enter(INDEX, (self.node, key), {}, value))
        return self.notes.call("at_index", operator.getitem, (self, key), {})

    def __len__(self) -> int:
        return len(self.node.value)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.notes.read(self), dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs.get("out") is not None:
            return getattr(ufunc, method)(*map(np.asarray, inputs), **kwargs)
        return _computed(ufunc.__name__, *inputs, **kwargs)

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
        return _computed("power", other, self)

    def __repr__(self) -> str:
        return f"Traced(%{len(self.notes.nodes)}: {self.dtype} {list(self.shape)})"


_POWERS = {2: "square", 0.5: "sqrt", -1: "reciprocal", 1: "positive"}  # what NumPy's ``**`` calls for floats


def _power(x: Any, exponent: Any) -> Any:
    quick = x.dtype.kind in "fc" and type(exponent) in (int, float) and exponent in _POWERS
    return _computed(_POWERS[exponent], x) if quick else _computed("power", x, exponent)


_BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
    "mod": "remainder", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "left_shift", "rshift": "right_shift",
}  # fmt: skip
_TESTS = {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal",
}  # fmt: skip
_UNARY = {"neg": "negative", "abs": "absolute", "invert": "bitwise_invert", "pos": "positive"}


def _operator(name: str, swapped: bool = False) -> Callable[..., Any]:
    return lambda x, *other: _computed(name, *((*other, x) if swapped else (x, *other)))


for _name, _f in (_BINARY | _TESTS | _UNARY).items():
    setattr(Traced, f"__{_name}__", _operator(_f))
for _name, _f in _BINARY.items():
    setattr(Traced, f"__r{_name}__", _operator(_f, swapped=True))
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


def _computed(op: str, *args: Any, **kwargs: Any) -> Any:
    """What a function of NumPy's namespace, by its name with dots, makes of arguments, noted if any is traced."""
    function = operator.attrgetter(op)(numpy_namespace)
    notes = _notes_of(args) or _notes_of(kwargs)
    return function(*args, **kwargs) if notes is None else notes.call(op, function, args, kwargs)


_PURE = frozenset({
    "result_type", "isdtype", "finfo", "iinfo", "can_cast", "broadcast_shapes", "dtype",
})  # fmt: skip


class _Space:
    """The namespace of traced arrays: NumPy's, noted."""

    def __init__(self, path: str = "") -> None:
        self._path = path

    def __getattr__(self, name: str) -> Any:
        found = operator.attrgetter(f"{self._path}{name}")(numpy_namespace)
        if f"{self._path}{name}" in ("linalg", "fft", "special"):
            made: Any = _Space(f"{name}.")
        elif name in _PURE:
            made = _of_dtypes(found)
        elif callable(found) and not isinstance(found, type):
            made = _named(f"{self._path}{name}")
        else:
            return found
        setattr(self, name, made)
        return made


def _of_dtypes(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: f(*[a.dtype if isinstance(a, Traced) else a for a in args])


def _named(path: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return _computed(path, *args, **kwargs)

    call.__name__ = path
    return call


space = _Space()
TRACED = register(space, Traced, name="a traced run", outer=True, host=True, views=False, writes=False,
                  to_host=np.asarray)  # fmt: skip


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
