"""What is diagnosed: a function of tensors at a point, and what is known of it besides its numbers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradwright.base.errors import GradientWarning, MisfitGradient
from gradwright.engine.backward import walk
from gradwright.function.contract.surrogate import reasons
from gradwright.function.ctx import BackwardNode
from gradwright.function.custom_op import CustomOp
from gradwright.function.function import Function
from gradwright.ops.declare import Op
from gradwright.verify.diagnosis.grid_of_entries import WHOLE, Grid
from gradwright.verify.diagnosis.residual import Part
from gradwright.verify.numeric.differences import movable
from gradwright.verify.numeric.jacobian import Subject, exchanged, named, parameters, tensors
from gradwright.verify.numeric.jacobian import leaf as leaf_over


class Case(Subject):
    """A `Subject` that also knows where it comes from.

    Attributes:
        name: what to call it.
        function: the Function class whose derivative it is, if it is that of one and no other.
        whole: the Function, custom_op or Op that was given as such; None for any other callable.
        node: the ctx of the first run of that Function.
        surrogates: by name of node, why gradients are declared to be no derivatives.
        arguments: the names of all arguments, tensors or not.
        rows, columns: a `Part` for each varied input, and for each output.
        grid: which entries of them are compared.
        warnings: what gradwright had to say about gradients.
        stops: whether its results were found to jump as those of an iteration that stops at a tolerance.
    """

    def __init__(self, f: Any, inputs: Any, names: Sequence[str] | None = None, outputs: Sequence[str] | None = None,
                 name: str | None = None) -> None:
        self.function, self.stops = function_of(f), False
        self.whole: Any = self.function or (f if isinstance(f, (CustomOp, Op)) else None)
        self.warnings: list[GradientWarning] = []
        self._given = outputs
        func = f.apply if isinstance(f, type) and issubclass(f, Function) else f
        inputs = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
        self.arguments = list(names) if names is not None else parameters(func, len(inputs))
        if len(self.arguments) != len(inputs):
            raise ValueError(f"diagnose: got {len(inputs)} inputs but {len(self.arguments)} names")
        with self.listening():
            before = [(t, np.array(t.array)) for t in tensors(inputs)]
            super().__init__(func, inputs, self.arguments)
        if not self.varied:
            raise ValueError("diagnose: none of the inputs requires grad, so there is no derivative to look at: give "
                             "those that matter requires_grad=True")
        unique = {id(x): (n, x) for n, x in zip(reversed(self.names), reversed(self.varied), strict=True)}
        self.names, self.varied = [n for n, _ in unique.values()][::-1], [x for _, x in unique.values()][::-1]
        at = {id(t): values for t, values in before}
        self._start = [at[id(x)] for x in self.varied]
        self.restored()
        self.on(WHOLE, self._output_names())
        nodes = [n for n in walk([t._node for t in self.outputs if t._node is not None]) if isinstance(n, BackwardNode)]
        self.node: Any = nodes[-1] if nodes else None
        self.surrogates = reasons(nodes)
        if self.function is None and len({n._function for n in nodes}) == 1:
            self.function = nodes[-1]._function
        self.name = name or name_of(f, self.function)

    def _output_names(self) -> list[str]:
        if self._given is not None:
            if len(self._given) != len(self.outputs):
                raise ValueError(f"diagnose: got {len(self._given)} names for {len(self.outputs)} outputs")
            return list(self._given)
        with self.listening():
            found = [n for n, _ in named(self.func(*self.inputs), "out")]
        self.restored()
        return [found[i] for i in self.which]

    def misfits(self) -> list[MisfitGradient]:
        """The gradients that had to be summed down or converted."""
        return [w for w in self.warnings if isinstance(w, MisfitGradient)]

    def on(self, grid: Grid, outputs: Sequence[str]) -> Case:
        """The same, compared on a grid, with these names for the outputs."""
        self.grid = grid
        self.rows = tuple(_parts(self.names, self.varied, grid, separate=True))
        self.columns = tuple(_parts(outputs, self.outputs, grid))
        return self

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take note of gradwright's warnings about gradients instead of issuing them."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", GradientWarning)
            yield
        for w in caught:
            if isinstance(w.message, GradientWarning):
                if str(w.message) not in map(str, self.warnings):
                    self.warnings.append(w.message)
            else:
                warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)

    def restored(self) -> tuple[str, ...]:
        """Put back what the function changed of its inputs; returns their names."""
        written = [
            (n, x, start)
            for n, x, start in zip(self.names, self.varied, self._start, strict=True)
            if not np.array_equal(x.array, start, equal_nan=True)
        ]
        for _, x, start in written:
            with movable(x) as array:
                array[...] = start
        return tuple(n for n, *_ in written)

    def again(self) -> Subject:
        """The same function with the same tensors, and a graph of its own."""
        fresh = Subject(self.func, self.inputs, self.arguments)
        fresh.varied = self.varied
        return fresh

    def elsewhere(self, points: Sequence[Any]) -> Subject:
        """The same function with tensors of its own, of these values."""
        fresh = {id(x): leaf(p, x) for x, p in zip(self.varied, points, strict=True)}
        there = Subject(self.func, exchanged(self.inputs, lambda t: fresh.get(id(t), t)), self.arguments)
        there.varied, there.names = list(fresh.values()), self.names
        return there


def leaf(values: Any, like: Any) -> Any:
    """A tensor of its own memory that requires grad, of the dtype of ``like``."""
    return leaf_over(np.array(values, dtype=like.array.dtype))


def _parts(names: Sequence[str], tensors: Sequence[Any], grid: Grid, separate: bool = False) -> Iterator[Part]:
    start = 0
    for name, t in zip(names, tensors, strict=True):
        part = Part(name, tuple(t.array.shape), t.array.dtype.kind == "c", start, grid)
        start += 0 if separate else part.size
        yield part


def function_of(f: Any) -> type[Function] | None:
    """The Function class that ``f`` is, or whose ``apply`` it is."""
    owner = f if isinstance(f, type) else getattr(f, "__self__", None)
    return owner if isinstance(owner, type) and issubclass(owner, Function) else None


def name_of(f: Any, function: type[Function] | None) -> str:
    """The name of ``f`` in a report."""
    named_so = function_of(f)
    if named_so is not None:
        return named_so.__name__
    name = getattr(f, "__name__", type(f).__name__)
    if name != "<lambda>":
        return str(name)
    return function.__name__ if function is not None else "the function"
