"""Programs run by XLA: replayed with JAX's arrays inside ``jax.jit``.

What XLA cannot do is called between compiled parts: random draws, Functions that compute in Python, results whose shape
depends on values, and what JAX has no function for. Values that Python had read are compared afterwards. A program of
JAX's arrays is replayed with the calls that it was traced with; one of NumPy's with the same functions of JAX.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from itertools import starmap
from operator import is_not
from typing import Any

import numpy as np

from gradwright.backends import to_host
from gradwright.backends.numpy import NUMPY
from gradwright.backends.quiet import quietly
from gradwright.base.source_line import Place
from gradwright.compilation.node import (
    CHECK,
    CONSTANT,
    HOST,
    INDEX,
    INPUT,
    MOVE,
    PICK,
    VARIABLE,
    Node,
    Program,
    Runner,
    compute,
    function,
)
from gradwright.compilation.passes import simplified

_ADDS = frozenset({"add", "operator.add"})
_SUMS = _ADDS | {"subtract", "operator.sub"}
_FILLED = {"zeros_like": 0, "ones_like": 1, "zero": 0}
_LIKE_WHERE = {"where": 1}
"""Functions that promote their arguments as ufuncs do, from which argument on."""


def value(node: Node, args: tuple[Any, ...], kwargs: dict[str, Any], library: Any) -> Any:
    """The result of a node for arrays of JAX; ``library`` is `gradwright.backends.jax.JAX`."""
    jax, space = import_module("jax"), library.xp
    if node.op in (INDEX, PICK, "at_index"):
        return args[0][args[1]]
    if node.op == MOVE:
        place = args[1].native
        meshed = isinstance(place, jax.sharding.NamedSharding)
        return jax.lax.with_sharding_constraint(args[0], place) if meshed else args[0]
    if node.op == "may_hold":
        return space.any(args[0])
    if node.op in _ADDS and not kwargs and args[0] is args[1] and node.dtype.kind == "f":
        return args[0] * 2  # the same number, and a factor is folded into others
    if _sums_twice(node):  # XLA would make z of (1 + z) - 1, which says how z was rounded
        args = tuple(jax.lax.optimization_barrier(space.asarray(a, dtype=node.dtype)) if _is_number(x) else a
                     for x, a in zip(node.args, args, strict=True))  # fmt: skip
    if node.library is not NUMPY:
        return function(node.op, node.library)(*args, **kwargs)
    if node.op in _FILLED:
        return space.full(node.shape, _FILLED[node.op], dtype=node.dtype)
    out = function(node.op, library)(*_promoted(node.op, args), **kwargs)
    return out if node.dtype is None or out.dtype == node.dtype else out.astype(node.dtype)


def _promoted(op: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments in the dtype in which NumPy computes: JAX has other rules."""
    first = _LIKE_WHERE.get(op, 0 if isinstance(getattr(np, op, None), np.ufunc) else len(args))
    arrays = [a for a in args[first:] if hasattr(a, "dtype")]
    if len({a.dtype for a in arrays}) < 2:
        return args
    common = np.result_type(*(a.dtype if hasattr(a, "dtype") else a for a in args[first:]))
    return (*args[:first], *(a.astype(common) if hasattr(a, "dtype") else a for a in args[first:]))


def _sums_twice(node: Node) -> bool:
    """Whether a node adds a number, or takes it away, where that was done to what it is given."""
    return _sums(node) and any(isinstance(x, Node) and _sums(x) for x in node.args)


def _sums(node: Node) -> bool:
    return (node.op in _SUMS and node.dtype is not None and node.dtype.kind in "fc" and not node.kwargs
            and any(map(_is_number, node.args)))  # fmt: skip


def _is_number(x: Any) -> bool:
    return x.op == CONSTANT if isinstance(x, Node) else isinstance(x, (int, float, complex))


class Part:
    """Nodes that stand together: ``run`` gives the values of ``gives`` for those of ``takes``; one by one if None.

    Attributes:
        checks: those that only ask, and are asked afterwards.
        donates: which of ``takes`` may be used up.
    """

    def __init__(self, nodes: Iterable[Node] = ()) -> None:
        self.nodes: list[Node] = [*nodes]
        self.checks: list[Node] = []
        self.takes: list[Node] = []
        self.gives: list[Node] = []
        self.donates: list[int] = []
        self.run: Callable[..., Any] | None = None


class Xla(Runner):
    """A program in parts that XLA compiles, and calls between them.

    Attributes:
        outside: the nodes that are called between parts, and why.
        parts: the parts, in order.
        early: what computes the values of checks before anything else, where that costs little.

    Raises ImportError without JAX.
    """

    def __init__(self, program: Program, exact: bool = False) -> None:
        self.library = program.library
        super().__init__(simplified(program, exact) if self.library is NUMPY else program)
        self._numpys = [k for k, x in enumerate(self.program.inputs) if x.library is NUMPY]
        self._xla = import_module("gradwright.backends.jax").JAX
        self._jax: Any = import_module("jax")
        nodes = self.program.nodes
        self.outside: dict[Node, str] = {n: n.op for n in nodes if n.op in _OUTSIDE or _has_mask(n) or _is_numpys(n)}
        if exact:
            self.outside |= {n: "exact" for n in nodes if n.op not in _GIVEN}
        self.large = [n for n in nodes if n.op == CONSTANT and n.library is not NUMPY and n.args[0].size > _LITTLE]
        self.early: Part | None = None
        self.parts = self._compiled()
        self._places = {n: n.value.sharding for n in nodes if hasattr(n.value, "sharding")}
        last = self.parts[-1] if self.parts else Part()
        self._known: list[Any] | None = None
        self.donates = [self.program.inputs.index(last.takes[k]) for k in last.donates]
        donated = {last.takes[k] for k in last.donates}
        self._keeps = self.early is not None and not any(
            n in donated or n.library is NUMPY for n in self.early.takes)  # fmt: skip
        self._whole = self._alone(last)
        early: list[Node] = [] if self._whole is None or self.early is None else self.early.takes
        self._first = [self.program.inputs.index(n) for n in early]

    def _alone(self, part: Part) -> Callable[..., Any] | None:
        """What runs all of it in one call: from its arrays to its outputs."""
        alone = len(self.parts) == 1 and part.run is not None and not part.checks
        given = part.takes == self.program.inputs and part.gives == self.program.outputs
        return part.run if alone and given and not self._numpys and self.library is not NUMPY else None

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        self._xla.xp  # noqa: B018 - raises while JAX computes in 32 bits
        if self._whole is None:
            return quietly(self._run, arrays)
        if self.early is not None:
            self._look(self.early, [arrays[k] for k in self._first])
        try:
            if not self.donates:
                return self._whole(*arrays)
            self.done.extend(starmap(self._whole, (arrays,)))  # nothing comes between the call and this
        except self._jax.errors.JaxRuntimeError as e:
            self._note(e, self.program.nodes)
            raise
        found: list[Any] = self.done[-1]
        return found

    def left(self) -> list[tuple[int, Any]]:
        """For inputs that were used up, what is to take their place, if nobody has taken it over."""
        found = dict(zip(self.parts[-1].gives, self.done[-1], strict=True)) if self.done and self.donates else {}
        return [(at, found[out]) for out, at in zip(self.program.outputs, self.program.writes, strict=True)
                if at is not None and at in self.donates and out in found]  # fmt: skip

    def _run(self, arrays: Sequence[Any]) -> list[Any]:
        given = list(arrays)
        if self.library is not NUMPY:
            for k in self._numpys:
                given[k] = np.array(arrays[k])  # JAX may look at them later, when somebody has written them
        values: dict[Node, Any] = dict(zip(self.program.inputs, given, strict=True))
        values.update((node, node.args[0]) for node in self.program.nodes if node.op == CONSTANT)
        if self.early is not None:
            self._look(self.early, [values[n] for n in self.early.takes])
        asked: list[Node] = []
        for part in self.parts:
            if part.run is None:  # it may do what is to be done once
                self._ask(asked, values)
                asked = []
            self._do(part, values)
            asked += part.checks
        self._ask(asked, values)
        return self.handed([self._out(node, values[node]) for node in self.program.outputs], arrays)

    def _look(self, early: Part, given: list[Any]) -> None:
        """Compute what is asked first, and ask; of the arrays of the last call, which do not change, that is known."""
        if self._known is not None and not any(map(is_not, given, self._known)):
            return
        values = dict(zip(early.takes, given, strict=True))
        self._do(early, values)
        self._ask(early.checks, values)
        self._known = given if self._keeps else None

    def _do(self, part: Part, values: dict[Node, Any]) -> None:
        at = part.nodes
        try:
            if part.run is not None:
                done = self.done if part.donates else list[Any]()
                done.extend(starmap(part.run, ([values[n] for n in part.takes],)))
                values.update(zip(part.gives, done[-1], strict=True))
                return
            for node in part.nodes:
                at = [node]
                host = self.library is NUMPY or (node.op != HOST and node.library is NUMPY)
                read = (lambda n: _host(values[n])) if host else values.__getitem__
                values[node] = compute(node, *node.with_args(read))
        except (self._jax.errors.JaxRuntimeError, ArithmeticError, ValueError) as e:
            self._note(e, at)
            raise

    def _ask(self, checks: Sequence[Node], values: dict[Node, Any]) -> None:
        for node in checks:
            compute(node, *node.with_args(lambda n: _host(values[n])))

    def _out(self, node: Node, value: Any) -> Any:
        return np.array(value, order="C") if node.library is NUMPY else value

    def _note(self, error: BaseException, nodes: Sequence[Node]) -> None:
        """Say in an error, as nearly as can be known, which lines it comes from."""
        lines = list(dict.fromkeys(str(Place(*n.place)) for n in nodes if n.place))
        if lines:
            more = f" and {len(lines) - 1} more, to {lines[-1]}" if len(lines) > 1 else ""
            error.add_note(f"in a compiled program, of {lines[0]}{more}")

    # -- making the parts --

    def _compiled(self) -> list[Part]:
        while True:
            parts = self._cut()
            fault = next((fault for part in parts if part.run is not None if (fault := self._tried(part))), None)
            if fault is None:
                break
            self.outside[fault[0]] = fault[1]
        for part in parts:
            part.checks = list({(n.args[0], id(n.args[1]) if _is_node(n.args[1]) else n.args[1].tobytes()): n
                                for n in part.checks}.values())  # fmt: skip
        checks = [node for part in parts if part.run is not None for node in part.checks]
        if checks and self.library is not NUMPY:
            self._ask_early(parts, checks)
        if self.library is not NUMPY:
            self._donate(parts)
        return parts

    def _cut(self) -> list[Part]:
        """As few parts as there can be: each node as early as its arguments, what is outside in its order."""
        level: dict[Node, int] = {}
        levels: list[tuple[Part, Part]] = []
        before = 0
        for node in self.program.nodes:
            if node.op in _GIVEN:
                continue
            if node.op in (PICK, CHECK) and node.args[0] in self.outside:
                self.outside[node] = node.op
            out = node in self.outside
            mine = max([level.get(n, 0) + (out and n not in self.outside and n in level) for n in node.nodes()],
                       default=0)  # fmt: skip
            if out and node.op == HOST:
                mine = before = max(mine, before)
            level[node] = mine
            levels += [(Part(), Part()) for _ in range(mine + 1 - len(levels))]
            part = levels[mine][0 if out else 1]
            (part.checks if node.op == CHECK and not out else part.nodes).append(node)
        parts = [part for pair in levels for part in pair if part.nodes or part.checks]
        self._connect(parts)
        return parts

    def _connect(self, parts: Sequence[Part]) -> None:
        """Say what each part takes from those before, and gives to those after, and make its function."""
        home = {node: part for part in parts for node in part.nodes}
        wanted: dict[Node, None] = dict.fromkeys(self.program.outputs)
        for part in parts:
            part.gives = []
            taken: dict[Node, None] = dict.fromkeys(
                one for node in part.nodes for one in node.nodes()
                if home.get(one) is not part and (one.op != CONSTANT or one in self.large))  # fmt: skip
            part.takes = [*taken]
            wanted |= taken
            wanted |= dict.fromkeys(one for node in part.checks for one in node.nodes())
        for node in wanted:
            if node in home:
                home[node].gives.append(node)
        if len(parts) == 1 and not set(parts[0].takes) - set(self.program.inputs):
            parts[0].takes = self.program.inputs
            if all(home.get(node) is parts[0] for node in self.program.outputs) and not parts[0].checks:
                parts[0].gives = self.program.outputs
        for part in parts:
            if part.nodes and part.nodes[0] not in self.outside:
                part.run = self._jax.jit(self._function(part))

    def _ask_early(self, parts: Sequence[Part], checks: list[Node]) -> None:
        """Let the values of checks be computed first, if that costs little: then what is written may be donated."""
        needed, nodes = {one for node in checks for one in node.nodes()}, []
        for node in reversed(self.program.nodes):
            if node in needed and node.op not in _GIVEN:  # inputs and constants are there
                nodes.append(node)
                needed.update(node.nodes())
        costly = any(n in self.outside or n.op.startswith(_COSTLY) for n in nodes)
        if costly or len(nodes) > _FEW or needed.intersection(self.large):
            return
        self.early = early = Part(reversed(nodes))
        early.checks = checks
        early.takes = [n for n in needed if n.op == INPUT]
        early.gives = [n for n in dict.fromkeys(one for node in checks for one in node.nodes()) if n in set(nodes)]
        early.run = self._jax.jit(self._function(early)) if early.nodes else None
        for part in parts:
            if part.run is not None:
                part.checks = []
        self._connect(parts)

    def _donate(self, parts: Sequence[Part]) -> None:
        """Let the last part use up the inputs that are written, if nothing can fail after it but itself."""
        last = parts[-1] if parts else None
        if last is None or last.run is None or any(part.checks for part in parts):
            return
        new = {at: out for out, at in zip(self.program.outputs, self.program.writes, strict=True) if at is not None}
        for k, node in enumerate(last.takes):
            at = self.program.inputs.index(node) if node.op == INPUT else -1
            kept = at in new and node.library is not NUMPY and node not in self.program.outputs
            if kept and new[at] in last.nodes:
                last.donates.append(k)
        old = {out: self.program.inputs[at] for at, out in new.items()}
        places = [_parted(old[n]) if n in old else None for n in last.gives]
        laid = {"out_shardings": places} if any(places) else {}  # as what they take the place of
        last.run = self._jax.jit(self._function(last), donate_argnums=tuple(last.donates), **laid)

    def _function(self, part: Part) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            space = self._xla.xp
            values: dict[Node, Any] = dict(zip(part.takes, given, strict=True))
            for node in part.nodes:
                self._at = node
                for one in node.nodes():
                    if one.op == CONSTANT and one not in values:
                        values[one] = space.asarray(np.asarray(one.args[0]))
                with self._jax.named_scope(f"{node.op} {node.line}".strip().replace("/", "|")):
                    values[node] = value(node, *node.with_args(values.__getitem__), self._xla)
            mine = {id(x) for x in given}
            return [space.copy(values[n]) if id(values[n]) in mine else values[n] for n in part.gives]

        return call

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

    # -- what it says of itself --

    def text(self, compiled: bool = False) -> str:
        """What XLA is given, as StableHLO, or what it has made of that."""
        found = []
        for part in self.parts:
            if part.run is None:
                found.append("\n".join(f"// called by Python: {node!r}" for node in part.nodes))
            else:
                lowered = part.run.lower(*[self._spec(n) for n in part.takes])  # type: ignore[attr-defined]
                found.append(lowered.compile().as_text() if compiled else lowered.as_text())
        return "\n".join(found)

    @property
    def source(self) -> str:
        """The text that XLA is given."""
        return self.text()

    def _spec(self, node: Node) -> Any:
        return self._jax.ShapeDtypeStruct(node.shape, node.dtype, sharding=self._places.get(node))


_FEW, _LITTLE = 24, 1024
_GIVEN = frozenset({INPUT, CONSTANT})
_COSTLY = ("linalg", "matmul", "einsum", "tensordot", "sort", "arg", "times_windows", "spread_windows", "weigh_windows",
           "windows", "fold_windows", "operator.matmul", "vecdot", "cumulative", "fft")  # fmt: skip
_SIGNED = frozenset({"linalg.eigh", "linalg.svd"})
_OUTSIDE = frozenset({HOST, "shape", *VARIABLE} - {"at", "at_index"})
_REFUSALS = (TypeError, ValueError, AttributeError, NotImplementedError, IndexError, RuntimeError, StopIteration)


def _parted(node: Node) -> Any:
    """How the value of a node was parted among several devices; None of one that was not."""
    place = getattr(node.value, "sharding", None)
    return place if place is not None and len(place.device_set) > 1 else None


def _is_numpys(node: Node) -> bool:
    """Whether NumPy and XLA may give different results: floats that fit no whole number, vectors of either sign."""
    if node.library is not NUMPY:
        return False
    cuts = node.op == "astype" and node.dtype is not None and node.dtype.kind in "iu"
    return node.op in _SIGNED or (cuts and any(x.dtype is not None and x.dtype.kind in "fc" for x in node.nodes()))


def _is_node(value: Any) -> bool:
    return isinstance(value, Node)


def _has_mask(node: Node) -> bool:
    """Whether a node is an index with a mask: the shape of its result depends on values."""
    return node.op in ("at", "at_index") and any(n.dtype == bool for n in node.nodes() if n.shape is not None)


def _host(value: Any) -> Any:
    return value if isinstance(value, np.ndarray) or not hasattr(value, "is_deleted") else to_host(value)
