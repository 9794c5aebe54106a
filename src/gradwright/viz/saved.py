"""What nodes keep for backward, as records."""

from __future__ import annotations

import functools
import reprlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradwright.backends import is_array, to_host
from gradwright.base.dtypes import nbytes, of
from gradwright.base.pages.markup import printable
from gradwright.debug.saved_values import is_packed, saved_values
from gradwright.engine.base import TensorBase
from gradwright.engine.node import Node
from gradwright.engine.nodes_of_ops import SAVED_AS, OpNode
from gradwright.engine.saved_hooks import Entry
from gradwright.function.ctx import BackwardNode
from gradwright.viz.records import Saved

_short = reprlib.Repr()
_short.maxstring = _short.maxother = 40


@functools.cache
def called(name: str) -> str:
    """PyTorch's name of a saved value."""
    argument, _, shape = name.partition("_shape")
    return SAVED_AS.get(name, name) if shape or argument == name else f"{SAVED_AS.get(argument, argument)}_shape"


class Memories:
    """Makes the records of a graph, and numbers the memory that they lie in."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._numbers_of: dict[Any, tuple[Saved, ...]] = {}

    def of(self, node: Node) -> tuple[Saved, ...]:
        """The values that a node keeps."""
        if not isinstance(node, OpNode):
            return tuple(self._of_function(node)) if isinstance(node, BackwardNode) else ()
        if node._packed == len(node._names) == 1 and type(node._saved) is tuple and _is_number(node._saved[0]):
            (value,) = node._saved
            key = type(node), id(value[0])  # of a number beside a tensor, which many nodes keep
            if key not in self._numbers_of:
                self._numbers_of[key] = tuple(self._packed(called(node._names[0]), value))
            return self._numbers_of[key]
        made: list[Saved] = []
        for name, value, tensors in saved_values(node):
            if tensors:
                made += self._packed(called(str(name)), value)
            elif not callable(value):
                made.append(self._plain(called(str(name)), value))
        return tuple(made)

    def _of_function(self, node: BackwardNode) -> Iterator[Saved]:
        saved = None if node._replay is None else node._replay.count  # behind them the arguments, to run forward again
        for name, value, tensors in saved_values(node):
            if not tensors:
                array = value.array if isinstance(value, TensorBase) else value
                yield self._plain(str(name).removeprefix("ctx."), array)
            elif saved is None or int(name) < saved:
                yield from self._packed(f"saved_tensors[{name}]", value)
            else:
                yield from self._packed(f"arguments[{int(name) - saved}]", value)

    def _packed(self, name: str, entry: Any) -> list[Saved]:
        """The record of a packed value, or those of several under one name."""
        if isinstance(entry, Entry):  # of a hook
            return [self._stand_in(name, entry)]
        if not entry:
            return []
        if not is_packed(entry):
            return [s for k, one in enumerate(entry) for s in self._packed(f"{name}[{k}]", one)]
        array, counter, version, _ = entry
        return [self.tensor(name, array, bool(counter[0] != version))]

    def tensor(self, name: str, array: Any, changed: bool = False) -> Saved:
        """The record of an array."""
        *_, owner = owners(array)
        value = _short.repr(to_host(array).item()) if array.shape == () else None
        memory = self._numbers.setdefault(id(owner), len(self._numbers))
        held, dtype = min(nbytes(owner), nbytes(array)), of(array.dtype).name
        return Saved(printable(name), tuple(array.shape), dtype, held, value, memory, changed)

    def _stand_in(self, name: str, entry: Any) -> Saved:
        """The stand-in for a value that a hook has packed, or that a checkpoint does not keep."""
        if (array := getattr(entry, "array", None)) is not None:
            return self.tensor(name, array)
        if hasattr(entry, "shape"):
            memory = self._numbers.setdefault(id(entry), len(self._numbers))
            return Saved(name, tuple(entry.shape), of(entry.dtype).name, nbytes(entry), "packed by a hook", memory)
        return Saved(name, value="not kept: computed again")

    def _plain(self, name: str, value: Any) -> Saved:
        if is_array(value):
            return self.tensor(name, value)
        return Saved(printable(name), value=printable(brief(value)))


def _is_number(entry: Any) -> bool:
    """Whether an entry is that of a number that stood beside a tensor."""
    return entry.__class__ is tuple and is_packed(entry) and entry[3] is None and entry[0].shape == ()


def owners(array: Any) -> Iterator[Any]:
    """An array, and the arrays that it is a view of, each of the next; what `Tensor.numpy` gives is one, too."""
    yield array
    base = getattr(array, "base", None)
    while base is not None:
        if isinstance(base, np.ndarray):
            yield base
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)


def brief(value: Any) -> str:
    """A value in a few words: what it is if it is a number, a string, a shape or the like, or else its class."""
    if value is None or isinstance(value, (bool, int, float, complex, str, slice)) or value is Ellipsis:
        return _short.repr(value)
    if isinstance(value, (tuple, list)) and len(value) <= 8:
        left, right = "()" if isinstance(value, tuple) else "[]"
        comma = "," if isinstance(value, tuple) and len(value) == 1 else ""
        return f"{left}{', '.join(map(brief, value))}{comma}{right}"
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return f"{of(value.dtype).name} {list(value.shape)}"
    return type(value).__name__
