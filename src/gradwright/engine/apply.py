"""The quick path of operations: plain NumPy arrays of one plain dtype, while the mode asks for nothing else.

A quick callable decides that by one test, computes, and records. All else it hands on: arguments that are still to be
made tensors of one dtype to ``slow``, a callable of the face, the rest to `gradwright.engine.general`. `TEXT` is what
all of them do; each `Call`, a kind of call, has the lines of it that apply, compiled once. Tracebacks show them.
"""

from __future__ import annotations

import functools
import linecache
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwright.backends import numpy as numpy_backend
from gradwright.backends.programs import programmed
from gradwright.backends.quiet import quietly
from gradwright.base.errors import no_input
from gradwright.base.upward import slots
from gradwright.engine.base import Fixed, TensorBase, ticket, wrap
from gradwright.engine.general import general, in_rows
from gradwright.engine.mode import PLAIN, UNRECORDED, now
from gradwright.engine.nodes_of_ops import OpNode, recorder
from gradwright.engine.view import View, mark_view, refresh
from gradwright.native import core, front
from gradwright.ops.declare import Op

if TYPE_CHECKING:
    from gradwright.face.typing import Binary, Unary

_F32, _F64, _I64 = np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int64)
_INTEGERS = frozenset(map(np.dtype, ("int64", "int32", "int16", "int8", "uint8", "bool")))
_REAL: frozenset[Any] = _INTEGERS | {_F32, _F64}
_SCALARS = frozenset(d.type for d in _REAL)
_FAILURES = (ValueError, TypeError, LookupError, FloatingPointError, AttributeError, RuntimeError)
"""Exceptions of formulas that `general` explains, or that the user has told NumPy to raise."""
_MANY = 3
"""With more inputs than this there is no quick callable."""

TEXT = """
                  |def bind(op, formula, slow, records, beside=None):
                  |    def call({parameters}:
-number           |        try:
-number           |            {a} = {x}.array
-number static    |        except AttributeError: {elsewhere}
-number -static   |        except AttributeError: raise no_input(op, {tensors}) from None
-number           |        t = a.dtype
-number           |        if not ({plain}): return slow({given})
number            |        a = x.array
number            |        t = a.dtype
number            |        kind = y.__class__
number            |        number = kind is float or kind is int
number            |        if number:
number            |            table = FLOATS if kind is float else beside
number            |            table = table.get(t if a.__class__ is ndarray else a.__class__)
number            |            if table is None: return slow(x, y)
number            |            try: other = table[y]
number            |            except OverflowError: return slow(x, y)
number            |            b = other.array
number            |        elif isinstance(y, TensorBase):
number            |            other, b = y, y.array
number            |            if not ({plain}): return slow(x, y)
number            |        else: return slow(x, y)
                  |        mode = now()
                  |        if mode is not PLAIN and not mode.quick: {elsewhere}
                  |        if {x}._view is not None and refresh({x}): {elsewhere}
                  |        try: result = formula({arguments})
                  |        except FAILURES: {elsewhere}
rows              |        if result.__class__ is ndarray and not result.flags.c_contiguous: result = in_rows(result)
static views      |        if result.__class__ is not ndarray: {elsewhere}
static -views     |        if result.__class__ is slots.tensor: {elsewhere}
                  |        out = new(slots.tensor)
                  |        out.array = result
                  |        out._node = None
-views            |        out._counter = [0]
-views            |        out._view = None
views             |        base = result.base
views             |        if base is a or (base is not None and base is a.base) or result is a:
views             |            mark_view(out, x, (op, static))
views             |        else:
views             |            out._counter = [0]
views             |            out._view = None
records           |        if {needed}:
records           |            if mode is PLAIN or mode.records:
records           |                case = {case}
records broadcasts|                if {differ}: case += {broadcast}
records           |                record = records[case] or recorded_as(op, records, case, {inputs})
records           |                out._node = record({recorded})
records           |            elif (listener := mode.listener) is not None and not ({known}):
records           |                listener.met(({tensors},), out)
                  |        return out
                  |    return call
"""
"""The quick callables. In the margin: the fields of `Call` that a line needs, after "-" those that it must not have. A
line with ``{x}`` or ``{a}`` is there once for each tensor or its array; other names in braces are `Call.parts`."""


class Call(NamedTuple):
    """A kind of call.

    Attributes:
        tensors: what the tensors are called, in the order in which the formula takes them.
        names: the static arguments, which come in one dictionary.
        static: whether that is given, with the arrays of any dtypes beside the first. Nothing is promoted then.
        number: whether the second argument may be a Python number: it comes as ``y``, and is a tensor as ``other``.
        whole: whether the first array may be of integers or booleans.
        broadcasts: whether the cotangents of arrays of other shapes than the first are summed back.
        records: whether the operation has derivatives.
        views: whether the result may be a view of the first array.
        variadic: whether a node is made of all inputs in one tuple.
        rows: whether the result is to lie row by row in memory.
    """

    tensors: tuple[str, ...]
    names: tuple[str, ...] = ()
    static: bool = False
    number: bool = False
    whole: bool = False
    broadcasts: bool = False
    records: bool = True
    views: bool = False
    variadic: bool = False
    rows: bool = False

    def arrays(self) -> list[str]:
        """The name of the array of each tensor: ``a`` is that of the first argument."""
        arrays = [*"abc"[: len(self.tensors)]]
        return arrays[::-1] if self.tensors[0] == "other" else arrays

    def parts(self) -> dict[str, str]:
        """The values filled into the text."""
        n, arrays, tensors = len(self.tensors), self.arrays(), ", ".join(self.tensors)
        first, last = self.tensors[0], self.tensors[-1]
        given = "x, y" if self.number else f"{tensors}, static" if self.static else tensors
        inputs = f"({tensors},)"
        array = "{0}.__class__ is ndarray" if self.views else "({0}.__class__ is ndarray or {0}.__class__ in SCALARS)"
        dtype = "({0}.dtype is t or {0}.dtype in REAL)" if self.static else "{0}.dtype is t"
        plain = [
            *map(array.format, sorted(arrays)),
            f"(t is F32 or t is F64{' or t in INTEGERS' * self.whole})",
            *[dtype.format(a) for a in sorted(arrays)[1:]],
            *[f"len(static) == {len(self.names)}"] * self.static,
        ]
        differ = " or ".join(f"a.shape != {a}.shape" for a in sorted(arrays)[1:])
        case = " + ".join(f"{1 << k} * ({x}._node is not None)" for k, x in enumerate(self.tensors))
        if n < 3:  # the same, in less time
            case = ("1", f"2 if {first}._node is None else 1 if {last}._node is None else 3")[n - 1]
        return {
            "parameters": "input: Tensor) -> Tensor" if given == "input" else f"{given})",
            "given": given,
            "tensors": tensors,
            "elsewhere": f"return general(op, {inputs}, {'static' if self.static else '{}'})",
            "plain": " and ".join(plain),
            "arguments": ", ".join(["NUMPY", *arrays, *(f"{name}=static[{name!r}]" for name in self.names)]),
            "needed": " or ".join(f"{x}._node is not None" for x in self.tensors),
            "known": " and ".join(f"{x}._node in listener.known" for x in self.tensors),
            "case": case,
            "differ": f"not number and ({differ})" if self.number else differ,
            "recorded": f"{inputs if self.variadic else tensors}, out{', static' * self.static}",
            "inputs": str(n),
            "broadcast": str(1 << n),
        }

    def text(self) -> str:
        """The lines of `TEXT` that apply."""
        lines, parts = [], self.parts()
        for line in TEXT.strip("\n").splitlines():
            margin, _, code = line.partition("|")
            if all(bool(getattr(self, flag.lstrip("-"))) is not flag.startswith("-") for flag in margin.split()):
                pairs = list(zip(self.tensors, self.arrays(), strict=True))
                for x, a in pairs if "{x}" in code else pairs[:1]:
                    lines.append(code.format(x=x, a=a, **parts))
        return "\n".join([*lines, ""])


@functools.cache
def _compiled(call: Call) -> Callable[..., Any]:
    """The function ``bind`` of its text."""
    text = call.text()
    filename = f"<gradwright quick path of {len(call.tensors)}, number {_compiled.cache_info().currsize}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    scope = _SCOPE | {"TEXT": text}  # which outlives `linecache.clearcache`
    exec(compile(text, filename, "exec"), scope)  # noqa: S102 - the text is written here
    bind: Callable[..., Any] = scope["bind"]
    return bind


def binary(op: Op, slow: Callable[[Any, Any], Any], *, floating: bool = False, reflected: bool = False) -> Binary:
    """The callable ``f(x, y)`` of an elementwise operation of two arguments.

    Serves two tensors of one plain dtype, and Python numbers beside them; everything else goes to ``slow(x, y)``, which
    converts its arguments and uses `general`, or returns NotImplemented. So do whole numbers and booleans if the
    operation is ``floating``: computes in floating point. ``reflected``: computes op(y, x), for a number y.
    """
    tensors = ("other", "x") if reflected else ("x", "other")
    call = Call(tensors, number=True, whole=not floating, broadcasts=op.kind == "elementwise", records=bool(op.rules))
    return _named(_bound(call, op, slow, _FLOATS if floating else _NUMBERS), op)


def unary(op: Op, slow: Callable[[Any], Any] | None = None) -> Unary:
    """The callable ``f(input)`` of an elementwise operation of one argument.

    Serves float32 and float64 tensors; all others go to ``slow(x)``, which may promote them; by default to `general`.
    """
    return _named(_bound(Call(("input",), records=bool(op.rules)), op, slow or (lambda x: general(op, (x,), {}))), op)


def _bound(call: Call, op: Op, slow: Callable[..., Any], beside: Any = None) -> Callable[..., Any]:
    """The quick callable of an operation."""
    formula = programmed(op.forward, op.muted, [True] * len(call.tensors), op.static)
    records = [None] * (2 << len(call.tensors)) * call.records
    made = _compiled(call)(op, formula, slow, records, beside)
    if call.static and not call.variadic:
        return front(made, "direct", op, formula, numpy_backend.namespace, records, op.static, len(call.tensors),
                     call.views, call.broadcasts, call.rows)  # fmt: skip
    if formula is op.muted or call.static:
        return made
    return front(made, "quick", op, formula, records, beside, call.tensors[0] == "other", call.broadcasts)


def direct(op: Op, inputs: int = 1) -> Callable[..., Any]:
    """The callable ``f(*tensors, static)`` of an operation, made once; without promotion, for any dtype."""
    found = op.ways.get(inputs)
    if found is None:
        call = Call(tuple("xyz"[:inputs]), op.static, static=True, whole=True, records=bool(op.rules), rows=op.rows,
                    views=op.kind == "view", broadcasts=op.kind == "elementwise" and inputs > 1,
                    variadic=op.variadic)  # fmt: skip
        found = op.ways[inputs] = _bound(call, op, lambda *given: general(op, given[:-1], given[-1]))
    return found


def apply(op: Op, inputs: Sequence[Any], static: dict[str, Any]) -> Any:
    """``op`` of tensors, with these static arguments: the quick path if it can be, else `general`."""
    n = len(inputs)
    if op.variadic and len(op.inputs) == 1:
        return (op.ways.get(0) or joining(op))(inputs, static)
    if op.several or n > _MANY:
        return general(op, inputs, static)
    return (op.ways.get(n) or direct(op, n))(*inputs, static)


def apply_one(op: Op, x: Any, static: dict[str, Any]) -> Any:
    """`apply` for one tensor and one result, which most calls are."""
    return (op.ways.get(1) or direct(op))(x, static)


def joining(op: Op) -> Callable[[Sequence[Any], dict[str, Any]], Any]:
    """The callable ``f(tensors, static)`` of an operation of any number of tensors and nothing else, made once."""
    formula, ndarray = op.muted, np.ndarray
    records: dict[tuple[bool, ...], Callable[..., Any]] = {}

    def call(inputs: Sequence[Any], static: dict[str, Any]) -> Any:
        mode = now()
        if mode is not PLAIN and mode is not UNRECORDED:
            return general(op, inputs, static)
        arrays, mask = [], []
        try:
            t = inputs[0].array.dtype
            for x in inputs:
                a = x.array
                if (a.__class__ is not ndarray and a.__class__ not in _SCALARS) or a.dtype is not t:
                    return general(op, inputs, static)
                if x._view is not None and refresh(x):
                    return general(op, inputs, static)
                arrays.append(a)
                mask.append(x._node is not None)
            if t not in _REAL:
                return general(op, inputs, static)
            result = formula(numpy_backend.namespace, *arrays, **static)
        except _FAILURES:
            return general(op, inputs, static)
        if result.__class__ is slots.tensor:
            return general(op, inputs, static)
        out = wrap(in_rows(result) if op.rows else result, None, [0])
        if True in mask and mode is PLAIN and op.rules:
            needed = tuple(mask)
            record = records.get(needed) or records.setdefault(needed, recorder(op, needed))
            out._node = record(inputs, out, static)
        return out

    plain = not op.several and op.kind not in ("elementwise", "view")
    op.ways[0] = found = _named(call, op) if plain else functools.partial(general, op)
    if core is not None and plain:
        vars(found)["_core"] = core.joining(op, op.static, recorder, records)
    return found


def _recorded_as(op: Op, records: list[Any], case: int, inputs: int) -> Any:
    """The function that records these inputs, those with a bit in ``case``; with the next bit, if they broadcast."""
    mask = tuple([bool(case >> k & 1) for k in range(inputs)])
    records[case] = recorder(op, mask, case >> inputs > 0)
    return records[case]


def _named(call: Callable[..., Any], op: Op) -> Callable[..., Any]:
    call.__name__ = call.__qualname__ = op.name
    call.__doc__ = op.__doc__
    return call


class _Constants(dict[float, Any]):
    """Python numbers as 0-d tensors of one dtype, made once each: NumPy converts a float on every operation."""

    def __init__(self, make: Callable[[float], Any]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, number: float) -> Any:
        # It may be inf in float32.
        t = wrap(quietly(self._make, number) if abs(number) > 1e38 else self._make(number), None, Fixed((0,)))
        if number != 0 and number == number and len(self) < 1000:  # 0.0 and -0.0 are one key, NaN is none
            self[number] = t
        return t


def _constants(*kinds: np.dtype[Any]) -> dict[Any, _Constants]:
    """The numbers to set beside arrays of these dtypes, and those beside scalars of their types."""

    def array(dtype: Any, value: float) -> Any:
        made: np.ndarray[Any, Any] = np.array(value, dtype)
        made.flags.writeable = False  # it is shared by every operation with this number
        return made

    return {d: _Constants(functools.partial(array, d)) for d in kinds} | {d.type: _Constants(d.type) for d in kinds}


_FLOATS = _constants(_F32, _F64)
_NUMBERS = _FLOATS | _constants(_I64)
if core is not None:
    core.engine(TensorBase, OpNode, View, slots, now, PLAIN, ticket, _recorded_as, _FLOATS, Fixed)

_SCOPE: dict[str, Any] = {
    "__name__": __name__, "F32": _F32, "F64": _F64, "FAILURES": _FAILURES, "FLOATS": _FLOATS, "INTEGERS": _INTEGERS,
    "NUMPY": numpy_backend.namespace, "PLAIN": PLAIN, "REAL": _REAL, "SCALARS": _SCALARS, "TensorBase": TensorBase,
    "general": general, "in_rows": in_rows, "mark_view": mark_view, "ndarray": np.ndarray, "new": object.__new__,
    "no_input": no_input, "now": now, "recorded_as": _recorded_as, "refresh": refresh, "slots": slots,
}  # fmt: skip
"""The names in the text."""
