"""What an operation is: one formula against `xp`, one derivative per input, its kind, and the samples that check it.

    @op(kind="elementwise", node="TanhBackward0", samples=[Sample(A(3, 4))])
    def tanh(xp, x):
        "Hyperbolic tangent. Formula: y = tanh x, dy/dx = 1 - y**2."
        return xp.tanh(x)

    tanh.vjp(x=lambda xp, g, out: g * (1 - out * out))

Arguments after `xp` are arrays; those after a `*` are static (axes, shapes, exponents). A derivative names what it
needs, and naming is what saves it: an input, a static argument, ``out`` (the result, a list if there are several),
``x_shape`` (only the shape of input ``x``), or ``reached`` (of several results, those that a cotangent has come for,
as `engine.reached` says; the others have zeros in ``g``). What several derivatives need, `Op.shared` computes once.
``*xs`` stands for any number of arrays, alone or after others (those of an index); its derivative is that of array
``i`` among them. `xp` is an array namespace: NumPy's in an ordinary backward pass, `gradwright.xp` when the backward
pass is itself recorded, so one derivative serves every order.

Forward mode needs nothing more: an elementwise operation has its derivative for a slope, a linear one its formula, any
other the derivative of its derivative by the cotangent. Where a formula for the tangent is cheaper, or more exact,
`Op.jvp` declares it: ``softmax.jvp(x=lambda xp, t, out, axis: ...)``, written as it is for complex numbers, too.

Complex numbers: a cotangent g stands for dL = Re(conj(g) dy), PyTorch's convention. A holomorphic operation says
``complex="holomorphic"``, and its derivative is written as for real numbers, dx = g f'(x): the node conjugates around
it. One that is not (abs, real, conj) says ``complex="general"`` and its derivative conjugates by itself. Views and
linear rearrangements need say nothing; any other operation that says nothing refuses complex arrays.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from gradwright import backends, native
from gradwright.backends.quiet import muted, quietly
from gradwright.base.changes import declares
from gradwright.base.cpython.forks import cached_property
from gradwright.base.cpython.unnamed import calls_ufuncs

KINDS = ("elementwise", "reduction", "linear", "view", "general")
COMPLEX = (None, "holomorphic", "general")


@dataclass(frozen=True, init=False)
class A:
    """A sample array: its shape, and the range its entries are drawn from (``low`` to ``high``).

    ``values`` fixes the entries instead (an index or a mask); ``distinct`` keeps entries well apart, as sorting and
    maxima need; ``avoid`` keeps entries at least 0.1 away from a kink or pole. ``complex`` draws both parts.
    """

    shape: tuple[int, ...]
    low: float = -2.0
    high: float = 2.0
    values: Any = None
    distinct: bool = False
    avoid: tuple[float, ...] = ()
    complex: bool = False

    def __init__(self, *shape: int, low: float = -2.0, high: float = 2.0, values: Any = None,
                 distinct: bool = False, avoid: Sequence[float] = (), complex: bool = False) -> None:  # fmt: skip
        for name, value in (("shape", shape), ("low", low), ("high", high), ("values", values),
                            ("distinct", distinct), ("avoid", tuple(avoid)), ("complex", complex)):  # fmt: skip
            object.__setattr__(self, name, value)


class Sample:
    """One call with which an operation is checked: its arrays and its static arguments."""

    def __init__(self, *arrays: A, **static: Any) -> None:
        self.arrays, self.static = arrays, static

    def __repr__(self) -> str:
        return ", ".join([*(f"{a.shape}" for a in self.arrays), *(f"{k}={v!r}" for k, v in self.static.items())])


@dataclass(frozen=True)
class Rule:
    """The derivative with respect to one input: ``fn(xp, g, *saved)``, with the names of what it needs saved."""

    fn: Callable[..., Any]
    names: tuple[str, ...]


def declared(who: str, inputs: Sequence[str], known: Collection[str], rules: Mapping[str, Callable[..., Any]],
             ) -> dict[str, Rule]:
    """Derivatives by input: ``fn(xp, g, <what it needs>)``, whose names must be among the ``known``.

    Raises TypeError if a name is no input, or a derivative asks for what cannot be saved.
    """
    found = {}
    declares()
    for name, fn in rules.items():
        names = tuple(inspect.signature(fn).parameters)[2:]
        if name not in inputs:
            raise TypeError(f"{who}: {name!r} is no input; the inputs are {', '.join(inputs)}")
        if unknown := [n for n in names if n not in known]:
            raise TypeError(f"{who}({name}=...): cannot save {unknown[0]!r}; known: {sorted(known)}")
        found[name] = Rule(fn, names)
    return found


@dataclass(eq=False)
class Op:
    """An operation. Calling it on plain arrays computes; calling it on Tensors computes and records.

    The fields from ``kind`` to ``ufuncs`` are what `op` has been told, or has read off the formula.
    """

    name: str
    forward: Callable[..., Any]
    inputs: tuple[str, ...]
    static: tuple[str, ...]
    kind: str
    node: str
    samples: Sequence[Sample] = ()
    variadic: bool = False
    several: bool = False
    complex: str | None = None
    moves: bool = False
    selects: bool = False
    multilinear: bool = False
    rows: bool = False
    switch: str | None = None
    direct: bool = False
    reaches: bool = False
    remade: bool = False
    ufuncs: bool = False
    unview: Callable[..., Any] | None = None
    """``unview(xp, x, value, **static)``: x, of which it is a view, after ``value`` is written to it. Optional."""
    defaults: dict[str, Any] = field(default_factory=dict)
    rules: dict[str, Rule] = field(default_factory=dict)
    parts: dict[str, Rule] = field(default_factory=dict)
    """What its derivatives share."""
    pushes: dict[str, Rule] = field(default_factory=dict)
    """What each input's tangent gives to that of the result, where it does not follow from kind and rules."""
    records: dict[Any, Callable[..., Any]] = field(default_factory=dict, init=False)
    """What the engine has made to record it, by the inputs that need a gradient."""
    plans: dict[tuple[bool, ...], Callable[..., Any]] = field(default_factory=dict, init=False)
    """How its tangents are computed, by the inputs that move."""
    ways: dict[int, Callable[..., Any]] = field(default_factory=dict, init=False)
    """Its quick callables, by the number of inputs."""

    @cached_property
    def is_quick(self) -> bool:
        """Whether the formula gives no warnings though NumPy's setting for that is left alone: it calls ufuncs only."""
        joins = self.variadic and len(self.inputs) == 1 and self.kind == "linear"
        of_ufuncs = joins or self.ufuncs or self.kind in ("elementwise", "reduction", "view")
        return of_ufuncs and (self.direct or calls_ufuncs(self.forward))

    @cached_property
    def muted(self) -> Callable[..., Any]:
        """The formula such that it gives no warnings."""
        return native.kernel(self.forward, muted(self.forward) if self.is_quick else partial(quietly, self.forward))

    def vjp(self, **rules: Callable[..., Any]) -> Op:
        """Declare the derivative of each named input: ``name=lambda xp, g, <what it needs>: cotangent``.

        Raises TypeError if a name is no input of the formula, or a derivative asks for what cannot be saved.
        """
        self.rules |= declared(f"{self.name}.vjp", self.inputs, self._known() | self.parts.keys(), rules)
        for made in (self.records, self.plans, self.ways):
            made.clear()
        return self

    def shared(self, **parts: Callable[..., Any]) -> Op:
        """Declare what several derivatives need, computed once for all: ``name=lambda xp, g, <what it needs>: value``.

        The derivatives, declared afterwards, name it. Raises TypeError if it asks for what cannot be saved.
        """
        self.parts |= declared(f"{self.name}.shared", [*parts], self._known(), parts)
        return self

    def _known(self) -> set[str]:
        """What a derivative may ask for."""
        several = {"reached"} if self.several else set()
        return {*self.inputs, *self.static, "i", "out", *(f"{n}_shape" for n in self.inputs)} | several

    def saved_for(self, name: str) -> tuple[str, ...]:
        """What the derivative by an input asks for, itself and through what it shares."""
        names = self.rules[name].names
        return tuple(dict.fromkeys(n for m in names for n in (self.parts[m].names if m in self.parts else (m,))))

    def jvp(self, **rules: Callable[..., Any]) -> Op:
        """Declare what each named input's tangent gives to the result's: ``name=lambda xp, t, <what it needs>: ...``.

        Only where that is cheaper, or more exact, than what follows: of an elementwise operation the derivative itself,
        of a linear one the operation, of any other the derivative of its derivative by the cotangent.

        Raises TypeError if a name is no input of the formula, or a rule asks for what there is not.
        """
        self.pushes |= declared(f"{self.name}.jvp", self.inputs, self._known(), rules)
        self.plans.clear()
        return self

    def names_of(self, count: int) -> tuple[str, ...]:
        """The name of each of ``count`` inputs; those of ``*xs`` are all called ``xs``."""
        return (self.inputs + self.inputs[-1:] * (count - len(self.inputs)))[:count] if self.variadic else self.inputs

    def variant(self, node: str) -> Op:
        """The same operation under another node name, as PyTorch names its overloads."""
        return replace(self, node=node, samples=())

    def __call__(self, *arrays: Any, **static: Any) -> Any:
        for array in arrays:
            if hasattr(array, "_apply"):
                return array._apply(self, arrays, self.defaults | static)
        return (self.muted if self.is_quick else self.forward)(backends.namespace(arrays[0]), *arrays, **static)

    def __repr__(self) -> str:
        return f"<op {self.name}({', '.join(self.inputs)})>"


table: dict[str, Op] = {}


def op(*, kind: str = "general", node: str | None = None, samples: Sequence[Sample] = (), several: bool = False,
       complex: str | None = None, moves: bool = False, selects: bool = False, multilinear: bool = False,
       rows: bool = False, switch: str | None = None, direct: bool = False, reaches: bool = False,
       remade: bool = False, ufuncs: bool = False) -> Callable[[Callable[..., Any]], Op]:  # fmt: skip
    """Declare an operation from its formula ``f(xp, *arrays, *, static)``.

    Args:
        kind: one of `KINDS`. An elementwise operation broadcasts, and its cotangents are summed back by themselves;
            a view may share its input's memory.
        node: the name of its graph node; by default ``<Name>Backward0``.
        samples: the calls with which every check runs it.
        several: the formula returns a list of outputs, and ``g`` is then the list of their cotangents.
        complex: how it treats complex arrays, one of `COMPLEX` (see above).
        moves: it only moves or converts numbers, as every view does: halves need not be computed in float32.
        selects: of each entry it passes on that of one input; a NaN in a gradient may then be that of another.
        multilinear: it is linear in each input, as a product is: its tangent is the sum of what it makes of each
            tangent beside the other inputs.
        rows: its result lies row by row in memory, however its inputs lie; so do those of reductions and of the general
            kind, while others follow their inputs.
        switch: the saved value that the derivative by the first input only compares, as that of relu does with x. The
            second derivative by it is then zeros, as PyTorch has it, not none.
        direct: the formula calls `xp` alone, itself or by functions that do, whose names keep their meaning. Where such
            calls are of ufuncs, a tenth of a microsecond is saved, and what fails in it is told without its lines. (A
            formula of ufuncs that names nothing else is as quick by itself.)
        reaches: a view that may show memory which its input does not. Its static argument ``source`` says how the input
            lies in that memory: a shape, strides, where it starts.
        remade: a derivative that names ``out`` names all inputs and static arguments, too, so that ``out`` is computed
            again if it was written in place: for where PyTorch saves the inputs.
        ufuncs: it calls of `xp` only ufuncs, and functions that give no warnings, though it is of the general kind.
    """
    if complex not in COMPLEX:
        raise ValueError(f"op: complex must be one of {COMPLEX}, but got {complex!r}")
    if complex is None and kind in ("view", "linear"):
        complex = "general"
    if kind not in KINDS:
        raise ValueError(f"op: kind must be one of {KINDS}, but got {kind!r}")

    def declare(forward: Callable[..., Any]) -> Op:
        parameters = list(inspect.signature(forward).parameters.values())[1:]
        arrays = [p for p in parameters if p.kind is not p.KEYWORD_ONLY]
        name = forward.__name__
        default = "".join(w.title() for w in name.split("_")) + "Backward0"
        variadic = any(p.kind is p.VAR_POSITIONAL for p in arrays)
        made = Op(name, forward, tuple(p.name for p in arrays),
                  tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY), kind, node or default, samples,
                  variadic, several, complex, moves or kind == "view", selects, multilinear,
                  rows or kind in ("reduction", "general"), switch, direct, reaches, remade, ufuncs,
                  defaults={p.name: p.default for p in parameters if p.default is not p.empty})  # fmt: skip
        made.__doc__ = forward.__doc__
        return made

    return declare


def builtin(**options: Any) -> Callable[[Callable[..., Any]], Op]:
    """`op`, ``direct`` and entered in the table that `gradwright.xp` and the checks are made from."""

    def declare(forward: Callable[..., Any]) -> Op:
        made = table[forward.__name__] = op(direct=True, **options)(forward)
        return made

    return declare
