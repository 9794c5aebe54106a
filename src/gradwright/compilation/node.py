"""Programs: what a traced run leaves. A `Program` takes arrays and gives arrays; it changes nothing else.

Its nodes are calls of functions of `xp` on values that never change, in the order in which they were made. What a call
of a compiled function does beside (which tensors are read, written or made) is not in it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gradwright.backends import Library, is_array, to_host
from gradwright.backends.numpy import NUMPY
from gradwright.backends.quiet import quietly
from gradwright.base.source_line import Place

INPUT, CONSTANT, PICK, CHECK, HOST, INDEX, MOVE = "input", "constant", "pick", "check", "host", "getitem", "move"
"""The operations that are not functions of `xp`:

- ``input``: no arguments; the k-th array that the program is given is that of its k-th input.
- ``constant``: ``args = (array,)``, an array that nobody writes.
- ``getitem``: ``args = (x, key)``; a basic index (a view): ints, slices, None and Ellipsis alone.
- ``pick``: ``args = (node, k)``: the k-th of the results of a node that has several.
- ``check``: ``args = (x, expected)``: no value; `GuardFailed` is raised unless ``x`` equals ``expected``, a NumPy
  array, in all entries (NaN equals NaN), dtype and shape. ``x`` may also be a bool or a number that a function
  has returned.
- ``host``: ``args = (function, *values)``: what a Python function makes of the values: an array, or anything else.
- ``move``: ``args = (x, device)``: the same values on a `gradwright.device`.
"""
VARIABLE = frozenset({
    "at", "at_index", "bincount", "nonzero", "repeat", "unique_all", "unique_counts", "unique_inverse", "unique_values",
    "histogram", "argwhere", "extract",
})  # fmt: skip
"""Functions whose result may have another shape for other values; then `GuardFailed` is raised."""
VIEWS = frozenset({"reshape", "permute_dims", "broadcast_to", INDEX, "real", "imag", "linalg.diagonal", "flip",
                   "ndarray.view"})  # fmt: skip
"""Functions whose result may show the memory of their first argument."""


class Node:
    """One call.

    Attributes:
        op: the name of a function of its library's namespace, with dots (``"add"``, ``"linalg.inv"``), of a Python
            operator (``"operator.add"``), or one of those above.
        args, kwargs: its arguments: nodes, Python values, and tuples, lists and dictionaries of these.
        shape, dtype: of its value; None if that is no array.
        place: the user's line, or None.
        name: the operation of gradwright's that it is part of, such as "tanh", or "".
        value: what it was in the traced run; None once that is over.
        library: the array library that computes it.
    """

    __slots__ = ("args", "dtype", "kwargs", "library", "name", "number", "op", "place", "shape", "value")

    def __init__(self, op: str, args: tuple[Any, ...], kwargs: dict[str, Any], value: Any,
                 place: tuple[Any, int] | None = None, name: str = "", library: Library = NUMPY) -> None:  # fmt: skip
        self.op, self.args, self.kwargs, self.value, self.place, self.name = op, args, kwargs, value, place, name
        self.library = library
        known = is_array(value)
        self.shape: Any = value.shape if known else None
        self.dtype: Any = value.dtype if known else None
        self.number = 0

    def like(self, op: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, *, value: Any = None,
             shape: Any = None, dtype: Any = None) -> Node:  # fmt: skip
        """A new node that comes from where this one does, and has its shape and dtype, unless told."""
        made = Node(op, args, kwargs or {}, value, self.place, self.name, self.library)
        made.shape = self.shape if shape is None else tuple(shape)
        made.dtype = self.dtype if dtype is None else dtype
        made.number = self.number
        return made

    @property
    def line(self) -> str:
        """The user's line that it comes from."""
        return str(Place(*self.place)) if self.place else ""

    def nodes(self) -> Iterator[Node]:
        """Those among its arguments, wherever they stand in them; one as often as it stands there."""
        return iter(_nodes(self.kwargs, _nodes(self.args, [])))

    def with_args(self, change: Callable[[Node], Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Its arguments, with what ``change`` makes of each node in place of that node."""
        return mapped(self.args, change), mapped(self.kwargs, change)

    def __repr__(self) -> str:
        def short(node: Node) -> Any:
            return Name(f"%{node.number}")

        args, kwargs = self.with_args(short)
        given = ", ".join([*map(repr, args), *(f"{k}={v!r}" for k, v in kwargs.items())])
        kind = f": {self.dtype} {list(self.shape)}" if self.shape is not None else ""
        return f"%{self.number} = {self.op}({given}){kind}"


class Name(str):
    """Text that stands for a node where arguments are written."""

    __repr__ = str.__str__


def _nodes(value: Any, found: list[Node]) -> list[Node]:
    """The nodes in a tuple, list or dictionary, added to a list."""
    for v in value.values() if isinstance(value, dict) else value:
        if isinstance(v, Node):
            found.append(v)
        elif isinstance(v, (tuple, list, dict)):
            _nodes(v, found)
    return found


def mapped(value: Any, change: Callable[[Node], Any]) -> Any:
    """``value`` with what ``change`` makes of each node in it."""
    if isinstance(value, Node):
        return change(value)
    if isinstance(value, (tuple, list)):
        return type(value)([mapped(v, change) for v in value])
    if isinstance(value, dict):
        return {k: mapped(v, change) for k, v in value.items()}
    return value


class GuardFailed(Exception):  # noqa: N818 - no error: another program is taken
    """A value that Python had read in the traced run is another one now, so this program is not what would be done."""

    def __init__(self, node: Node, found: Any) -> None:
        super().__init__(node, found)
        self.node, self.found = node, found

    @property
    def number(self) -> str:
        """The kind of the value, as in NumPy's ``dtype.kind``; "" if it is no number that Python has read."""
        read = self.node.op == CHECK and self.node.args[0].op != "shape"
        return self.node.args[1].dtype.kind if read else ""


class Program:
    """Arrays in, arrays out.

    Attributes:
        nodes: all of them, arguments before those that take them.
        inputs: the nodes of its inputs.
        outputs: the nodes of its results.
        writes: for each output the number of the input whose memory gets its values, or None for one that is new memory
            at every call (which shares none with inputs, constants or other outputs).
    """

    def __init__(self, nodes: list[Node], inputs: list[Node], outputs: list[Node],
                 writes: Sequence[int | None]) -> None:  # fmt: skip
        self.nodes, self.inputs, self.outputs, self.writes = nodes, inputs, outputs, list(writes)
        for k, node in enumerate(nodes):
            node.number = k

    @property
    def library(self) -> Library:
        """The array library that it is of: NumPy, unless a node is computed by another one."""
        return next((node.library for node in self.nodes if node.library is not NUMPY), NUMPY)

    def users(self) -> dict[Node, list[Node]]:
        """For each node those that take it."""
        found: dict[Node, list[Node]] = {node: [] for node in self.nodes}
        for node in self.nodes:
            for one in dict.fromkeys(node.nodes()):
                found[one].append(node)
        return found

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.nodes)) + f"\nreturn {', '.join(f'%{n.number}' for n in self.outputs)}"


class Runner:
    """A program made ready: what `plan`, `c` and `xla` are.

    ``runner(arrays)`` takes one array for each input, of the shape, dtype and strides that it had when the runner was
    made (0-d inputs are arrays, not scalars), and returns a list: for each output a new array, or None where
    ``program.writes`` names an input of NumPy's, which is written then. All writes are made after everything that can
    raise (checks, host calls, a library's errors): if it raises, nothing is written.

    One thread runs it at a time; its caller sees to that.

    Attributes:
        donates: the inputs of another library whose arrays are used up by a call: nobody else may hold them.
        done: what the call that has used them up gave, until its caller has taken it over and clears it.
        elsewhere: of the list of arrays that the last call was given, the only ones that may lie elsewhere now; None if
            that is not known.
    """

    donates: Sequence[int] = ()
    elsewhere: Sequence[int] | None = None
    done: list[Any]

    def __init__(self, program: Program) -> None:
        self.program, self.done = program, []

    def left(self) -> list[tuple[int, Any]]:
        """For inputs that were used up, what is to take their place, if nobody has taken it over."""
        return []

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        raise NotImplementedError

    def handed(self, values: list[Any], arrays: Sequence[Any]) -> list[Any]:
        """The results of a call for new arrays of all outputs: those for the memory of inputs are written there."""
        for k, at in enumerate(self.program.writes):
            if at is not None and isinstance(arrays[at], np.ndarray):
                arrays[at][...], values[k] = values[k], None
        return values


def function(name: str, library: Library = NUMPY) -> Any:
    """The function of a library's namespace that goes by a name with dots.

    "at_index" is an index with arrays, and what begins with "operator." one of Python's operators.
    """
    if name == "at_index" or name.startswith("operator."):
        return getattr(operator, "getitem" if name == "at_index" else name.partition(".")[2])
    return operator.attrgetter(name)(library.xp)


def on_host(value: Any) -> Any:
    """The values of an array or a number as an array of NumPy's, not to be written."""
    return np.asarray(to_host(value) if is_array(value) else value)


def same(a: Any, b: Any) -> bool:
    """Whether two arrays are equal in dtype, shape and all entries, NaN being equal to NaN."""
    a, b = on_host(a), on_host(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))


def compute(node: Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The value of a node for these arguments, values in place of nodes."""
    if node.op in (INDEX, PICK):
        return args[0][args[1]]
    if node.op == CONSTANT:
        return args[0]
    if node.op == HOST:
        return args[0](*args[1:])
    if node.op == CHECK:
        if not same(*args):
            raise GuardFailed(node, args[0])
        return None
    if node.op == MOVE:
        return args[1].hold(args[0])
    found = function(node.op, node.library)(*args, **kwargs)
    if node.op in VARIABLE and node.shape is not None and found.shape != node.shape:
        raise GuardFailed(node, found)
    return found


class Interpreted(Runner):
    """Call by call, keeping every value: for each node, it is what ``values`` has under it after a call."""

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        return quietly(self._run, arrays)

    def compute(self, node: Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The value of a node."""
        return compute(node, args, kwargs)

    def _run(self, arrays: Sequence[Any]) -> list[Any]:
        self.values = values = dict(zip(self.program.inputs, arrays, strict=True))
        for node in self.program.nodes:
            if node.op != INPUT:
                values[node] = self.compute(node, *node.with_args(values.__getitem__))
        return self.handed([taken(values[node]) for node in self.program.outputs], arrays)


def taken(value: Any) -> Any:
    """A value as an array that nobody else writes."""
    return np.array(value, order="K") if isinstance(value, (np.ndarray, np.generic)) else value
