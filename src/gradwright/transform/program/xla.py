"""Programs run by XLA: replayed with JAX's arrays inside ``jax.jit``.

What XLA cannot do stays NumPy's, between compiled parts: random draws, Functions that compute in Python, values that
Python had read, results whose shape depends on values, and what JAX has no function for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from operator import attrgetter, getitem
from typing import Any

import numpy as np

from gradwright.backends.quiet import quietly
from gradwright.transform.program.interpreted import compute
from gradwright.transform.program.node import (
    CHECK,
    CONSTANT,
    HOST,
    INDEX,
    INPUT,
    PICK,
    VARIABLE,
    Node,
    Program,
    Runner,
)
from gradwright.transform.program.passes import simplified

_LIKE_WHERE = {"where": 1}
"""Functions that promote their arguments as ufuncs do, from which argument on."""


class Part:
    """Nodes that stand together: ``run`` gives the values of ``gives`` for those of ``takes``; by NumPy if None.

    Attributes:
        checks: those that only ask, and are asked afterwards.
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.checks: list[Node] = []
        self.takes: list[Node] = []
        self.gives: list[Node] = []
        self.run: Callable[..., Any] | None = None


class Xla(Runner):
    """A program in parts that XLA compiles, and calls of NumPy between them.

    Attributes:
        outside: the nodes that are NumPy's, and why.

    Raises ImportError without JAX.
    """

    def __init__(self, program: Program, exact: bool = False) -> None:
        program = simplified(program, exact)
        super().__init__(program)
        self._space = import_module("gradwright.backends.jax").namespace
        self._jax: Any = import_module("jax")
        self.outside: dict[Node, str] = {n: n.op for n in program.nodes if n.op in _OUTSIDE or _has_mask(n)}
        if exact:
            self.outside |= {n: "exact" for n in program.nodes if n.op not in (INPUT, CONSTANT)}
        self._parts = self._compiled()

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        return quietly(self._run, arrays)

    def _run(self, arrays: Sequence[Any]) -> list[Any]:
        values: dict[Node, Any] = dict(zip(self.program.inputs, arrays, strict=True))
        for part in self._parts:
            if part.run is not None:
                values.update(zip(part.gives, part.run(*[values[n] for n in part.takes]), strict=True))
                for node in part.checks:
                    compute(node, *node.with_args(lambda n: _host(values[n])))
            else:
                for node in part.nodes:
                    values[node] = compute(node, *node.with_args(lambda n: _host(values[n])))
        return self.handed([np.array(values[node], order="C") for node in self.program.outputs], arrays)

    # -- making the parts --

    def _compiled(self) -> list[Part]:
        while True:
            parts = self._cut()
            for part in parts:
                if part.run is not None and (fault := self._tried(part)) is not None:
                    self.outside[fault[0]] = fault[1]
                    break
            else:
                return parts

    def _cut(self) -> list[Part]:
        parts: list[Part] = []
        home: dict[Node, Part] = {}
        last = False
        for node in self.program.nodes:
            if node.op == INPUT:
                continue
            if node.op in (PICK, CHECK) and node.args[0] in self.outside:
                self.outside[node] = node.op
            is_outside = node in self.outside
            if not parts or is_outside is not last:
                parts.append(Part())
            last = is_outside
            part = parts[-1]
            if node.op == CHECK and not is_outside:
                part.checks.append(node)
            else:
                part.nodes.append(node)
                home[node] = part
        wanted: dict[Node, None] = dict.fromkeys(self.program.outputs)
        for part in parts:
            for node in part.nodes:
                for one in node.nodes():
                    if home.get(one) is not part:
                        wanted[one] = None
                        if one not in part.takes:
                            part.takes.append(one)
            wanted |= dict.fromkeys(one for node in part.checks for one in node.nodes())
        for node in wanted:
            if node in home:
                home[node].gives.append(node)
        for part in parts:
            if not part.nodes or part.nodes[0] not in self.outside:
                part.run = self._jax.jit(self._function(part))
        return parts

    def _function(self, part: Part) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            values: dict[Node, Any] = dict(zip(part.takes, given, strict=True))
            for node in part.nodes:
                self._at = node
                values[node] = self._value(node, *node.with_args(values.__getitem__))
            return [values[node] for node in part.gives]

        return call

    def _value(self, node: Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if node.op == CONSTANT:
            return self._space.asarray(args[0])
        if node.op in (INDEX, PICK, "at_index"):
            return getitem(*args)
        if node.op in _FILLED:
            return self._space.full(node.shape, _FILLED[node.op], dtype=node.dtype)
        if node.op == "may_hold":
            return self._space.any(args[0])
        out = attrgetter(node.op)(self._space)(*self._promoted(node.op, args), **kwargs)
        return out if node.dtype is None or out.dtype == node.dtype else out.astype(node.dtype)

    def _promoted(self, op: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Arguments in the dtype in which NumPy computes: JAX has other rules."""
        first = _LIKE_WHERE.get(op, 0 if isinstance(getattr(np, op, None), np.ufunc) else len(args))
        arrays = [a for a in args[first:] if hasattr(a, "dtype")]
        if len({a.dtype for a in arrays}) < 2:
            return args
        common = np.result_type(*(a.dtype if hasattr(a, "dtype") else a for a in args[first:]))
        return (*args[:first], *(a.astype(common) if hasattr(a, "dtype") else a for a in args[first:]))

    def _tried(self, part: Part) -> tuple[Node, str] | None:
        """The node that XLA cannot do, and why; None if it can do all."""
        shapes = [self._jax.ShapeDtypeStruct(n.shape, n.dtype) for n in part.takes]
        try:
            found = self._jax.eval_shape(part.run, *shapes)
        except _REFUSALS as e:
            return self._at, f"{type(e).__name__}: {str(e).partition(chr(10))[0]}"
        for node, out in zip(part.gives, found, strict=True):
            if node.op == "may_hold":
                continue
            if not hasattr(out, "shape"):
                return node, "it is several arrays"
            if out.shape != node.shape or out.dtype != node.dtype:
                return node, f"it is {out.dtype} {list(out.shape)} there"
        return None


_FILLED = {"zeros_like": 0, "ones_like": 1, "zero": 0}
_OUTSIDE = frozenset({HOST, "shape", *VARIABLE} - {"at", "at_index"})
_REFUSALS = (TypeError, ValueError, AttributeError, NotImplementedError, IndexError, RuntimeError, StopIteration)


def _has_mask(node: Node) -> bool:
    """Whether a node is an index with a mask: the shape of its result depends on values."""
    return node.op in ("at", "at_index") and any(n.dtype == bool for n in node.nodes() if n.shape is not None)


def _host(value: Any) -> Any:
    return value if isinstance(value, np.ndarray) or not hasattr(value, "is_deleted") else np.asarray(value)
