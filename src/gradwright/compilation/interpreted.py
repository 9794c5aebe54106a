"""A program run as it stands: call by call, by its library. What the other ways are measured by."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradwright.backends import Library, is_array, to_host
from gradwright.backends.numpy import NUMPY
from gradwright.backends.quiet import quietly
from gradwright.compilation.node import (
    CHECK,
    CONSTANT,
    HOST,
    INDEX,
    INPUT,
    MOVE,
    PICK,
    VARIABLE,
    Departed,
    Node,
    Runner,
)


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
            raise Departed(node, args[0])
        return None
    if node.op == MOVE:
        return args[1].hold(args[0])
    found = function(node.op, node.library)(*args, **kwargs)
    if node.op in VARIABLE and node.shape is not None and found.shape != node.shape:
        raise Departed(node, found)
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
