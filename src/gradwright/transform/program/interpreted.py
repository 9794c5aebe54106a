"""A program run as it stands: call by call, by NumPy. What the other ways are measured by."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradwright.backends.numpy import namespace
from gradwright.backends.quiet import quietly
from gradwright.transform.program.node import (
    CHECK,
    CONSTANT,
    HOST,
    INDEX,
    INPUT,
    PICK,
    VARIABLE,
    Departed,
    Node,
    Runner,
)


def function(name: str) -> Any:
    """The function of NumPy's namespace that goes by a name with dots; "at_index" is an index with arrays."""
    return operator.getitem if name == "at_index" else operator.attrgetter(name)(namespace)


def same(a: Any, b: Any) -> bool:
    """Whether two arrays are equal in dtype, shape and all entries, NaN being equal to NaN."""
    a, b = np.asarray(a), np.asarray(b)
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
    found = function(node.op)(*args, **kwargs)
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
        return self.handed([np.array(values[node], order="K") for node in self.program.outputs], arrays)
