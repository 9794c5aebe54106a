"""Traced arrays: arrays that know their place in a program. What is computed with them leaves a node each.

They are one more array library for each one there is, whose namespace runs that one's function at once and notes the
call: tracing is an ordinary run that leaves a record. Their arrays never change, so that tensors over them are written
by exchanging them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from gradwright.backends import Library, enter, is_array, library, to_host
from gradwright.backends.numpy import NUMPY
from gradwright.backends.quiet import quietly
from gradwright.base.cpython.deep import thread
from gradwright.base.source_line import here
from gradwright.compilation.node import (
    CHECK,
    CONSTANT,
    INDEX,
    INPUT,
    MOVE,
    PICK,
    VARIABLE,
    VIEWS,
    Node,
    Program,
    function,
)
from gradwright.compilation.watch.numbers import Numbers
from gradwright.ops.declare import Op


class Untraceable(Exception):  # noqa: N818 - no error: the function is run eagerly
    """The function is run eagerly instead, and this says why."""


class Notes:
    """A program while it is traced.

    Attributes:
        nodes: so far.
        name: the operation that runs.
        open: whether it is traced still.
        numbers: those that Python takes.
        bits: the counters of memory that is read in several dtypes, with their versions then.
        truthy: inputs that are a number other than 0 at every call.
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.name = ""
        self.open = True
        self.bits: list[tuple[Any, int]] = []
        self.truthy: set[Node] = set()
        self.numbers = Numbers(set(), is_on=False)
        self.thread = thread()
        self._constants: dict[int, Node] = {}

    @property
    def is_on(self) -> bool:
        """Whether it is this thread that is traced, still."""
        return self.open and thread() == self.thread

    def enter(self, op: str, args: tuple[Any, ...], kwargs: dict[str, Any], value: Any, by: Library = NUMPY) -> Node:
        """A new node; ``args`` are nodes and Python values."""
        node = Node(op, args, kwargs, value, here(2), self.name, library(value) if is_array(value) else by)
        self.nodes.append(node)
        return node

    def input(self, array: Any) -> Any:
        """A traced array that is an input of the program, with these values, which nobody writes meanwhile."""
        return self.traced(self.enter(INPUT, (), {}, np.asarray(array) if _is_numpys(array) else array))

    def traced(self, node: Node) -> Any:
        """The value of a node, an array, as a traced one."""
        return kind_of(node.library)(self, node)

    def constant(self, array: Any) -> Node:
        """A node with values that stay."""
        found = self._constants.get(id(array))
        if found is None:
            kept = array
            if _is_numpys(array):
                kept = np.array(array, order="K")
                kept.flags.writeable = False
            found = self._constants[id(array)] = self.enter(CONSTANT, (kept,), {}, kept)
            found.value = array  # which lives as long, and keeps its id
        return found

    def call(self, op: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any],
             by: Library = NUMPY) -> Any:  # fmt: skip
        """What a function of a library's namespace makes of arguments, traced arrays among them; traced.

        It is not once the run is over, nor in another thread, which may use tensors that are traced.
        """
        value = function(*mapped_values(args), **mapped_values(kwargs))
        if not self.is_on:
            return value
        return self.hold(self.enter(op, self.noted(args), self.noted(kwargs), value, by), value)

    def noted(self, value: Any) -> Any:
        """``value`` with nodes in place of arrays."""
        if isinstance(value, Traced):
            return value.node
        if isinstance(value, Node):
            return value
        if isinstance(value, np.ndarray):
            return value if value.dtype == object else self.constant(value)
        if is_array(value) and not isinstance(value, np.generic):
            return self.constant(value)
        if isinstance(value, (tuple, list)):
            return _like(value, [self.noted(v) for v in value])
        if isinstance(value, dict):
            return {k: self.noted(v) for k, v in value.items()}
        return value

    def hold(self, node: Node, value: Any) -> Any:
        """The value of a node, traced: an array, or several."""
        if is_array(value):
            if _may_vary(node.args[0] if node.op == PICK else node):
                self.check_shape(node)
            return self.traced(node)
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
        kept = np.array(to_host(x.node.value))
        if self.is_on:
            kept.flags.writeable = False
            self.enter(CHECK, (x.node, kept), {}, None)
        return kept

    def number(self, x: Traced, how: str) -> Any:
        """What Python is given by `item` or `tolist`: it, or a `Number` if it may be that it is only returned."""
        found = self.numbers.give(x.node) if self.is_on else None
        return getattr(self.read(x), how)() if found is None else found

    def check_bits(self, results: Sequence[Any]) -> None:
        """Raise `Untraceable` if memory is written that is read in several dtypes, or ``results`` share such memory."""
        if any(int(counter[0]) != version for counter, version in self.bits):
            raise Untraceable("memory that view(dtype) shows in another dtype is written: clone() it before the view")
        found = [_source(x.node) for x in results if self.bits and isinstance(x, Traced)]
        if any(bits and (node.op in (INPUT, CONSTANT) or sum(n is node for n, _ in found) > 1) for node, bits in found):
            raise Untraceable("what view(dtype) shows of something else is returned: clone() it")

    def program(self, inputs: Sequence[Traced], outputs: Sequence[Any], writes: Sequence[int | None]) -> Program:
        """The program of what was noted, with these outputs: traced arrays, or constants."""
        nodes = [self.noted(np.asarray(x) if isinstance(x, np.generic) else x) for x in outputs]
        return Program(self.nodes, [x.node for x in inputs], nodes, writes)


def _is_numpys(array: Any) -> bool:
    return isinstance(array, (np.ndarray, np.generic)) or not is_array(array)


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
    """An array with its place in a program; ``node.value`` are its values. It is never written.

    This class is of NumPy's arrays; `kind_of` makes those of others.
    """

    __slots__ = ("__weakref__", "node", "notes")
    by: ClassVar[Library] = NUMPY
    space: ClassVar[Any]
    __array_priority__ = 1000.0
    base, batch = None, False
    plain: Any = property(attrgetter("node.value"), doc="Its values, without that anybody reads them.")
    shape: Any = property(attrgetter("node.shape"), doc="The length of each axis.")
    dtype: Any = property(attrgetter("node.dtype"), doc="Its dtype.")
    ndim: Any = property(lambda self: len(self.node.shape), doc="How many axes it has.")
    size: Any = property(lambda self: int(self.node.value.size), doc="How many entries it has.")
    itemsize: Any = property(lambda self: int(self.node.dtype.itemsize), doc="Bytes of one entry.")
    nbytes: Any = property(lambda self: self.size * self.itemsize, doc="Bytes of all entries.")
    strides: Any = property(attrgetter("node.value.strides"), doc="The distances of entries in memory, in bytes, as "
                            "they lie in the traced run; of NumPy's alone.")  # fmt: skip
    device: Any = property(attrgetter("node.value.device"), doc="The device, as the library says.")
    real: Any = property(lambda self: self.space.real(self), doc="The real parts.")
    imag: Any = property(lambda self: self.space.imag(self), doc="The imaginary parts.")

    def __init__(self, notes: Notes, node: Node) -> None:
        self.notes, self.node = notes, node

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

    def in_bits(self, dtype: Any, *counters: Any) -> Any:
        """The bits read as another dtype, if none of the two tensors, of these counters, is written afterwards."""
        self.notes.bits += [(counter, int(counter[0])) for counter in counters]
        return self.notes.call("ndarray.view", np.ndarray.view, (self, np.dtype(dtype)), {}, self.by)

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
        return self.node in self.notes.truthy or bool(self.notes.read(self))

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


def _source(node: Any) -> tuple[Any, bool]:
    """The node whose memory a value shows, and whether it shows it in another dtype."""
    bits = False
    while node.op in VIEWS:
        bits, node = bits or node.op == "ndarray.view", node.args[0]
    return node, bits


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
        found = attrgetter(f"{self._path}{name}")(self._by.xp)
        if f"{self._path}{name}" in ("linalg", "fft", "special"):
            made: Any = _Space(self._by, f"{name}.")
        elif name in _PURE:
            made = _of_dtypes(found)
        elif name == "may_hold" and self._by is not NUMPY:
            made = found  # it does not look
        elif name == "may_hold":
            look = _named(self._by, name)
            made = lambda condition, often=False: often or look(condition)
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
