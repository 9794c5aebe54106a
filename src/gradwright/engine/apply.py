"""The quick way of operations: plain NumPy arrays of one plain dtype, while the mode asks for nothing else.

A quick callable decides that by one test, computes, and records. Whatever is not so it hands on: arguments that are
still to be made tensors of one dtype to the ``slow`` callable of the face, all else to `gradwright.engine.general`. Its
text is written once, below, and compiled for each shape of call; `linecache` shows it in tracebacks.
"""

from __future__ import annotations

import functools
import linecache
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright.backends import numpy as numpy_backend
from gradwright.backends.quiet import quietly
from gradwright.base.errors import no_tensor
from gradwright.base.upward import slots
from gradwright.engine.base import Fixed, TensorBase, wrap
from gradwright.engine.general import general, in_rows
from gradwright.engine.mode import PLAIN, UNRECORDED, now
from gradwright.engine.nodes_of_ops import recorder
from gradwright.engine.view import mark_view, refresh
from gradwright.ops.declare import Op

if TYPE_CHECKING:
    from gradwright.face.typing import Binary, Unary


class _Numbers(dict[float, Any]):
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


def _numbers(dtype: type) -> tuple[_Numbers, _Numbers]:
    """The numbers to set beside arrays of ``dtype``, and those to set beside its scalars."""

    def constant(value: float) -> Any:
        array: np.ndarray[Any, Any] = np.array(value, dtype)
        array.flags.writeable = False  # it is shared by every operation with this number
        return array

    return _Numbers(constant), _Numbers(dtype)


_f32, _f64 = _numbers(np.float32), _numbers(np.float64)
_i64 = _numbers(np.int64)
_FLOATS: dict[Any, _Numbers] = {
    np.dtype(np.float32): _f32[0], np.dtype(np.float64): _f64[0], np.float32: _f32[1], np.float64: _f64[1],
}  # fmt: skip
_WHOLE = _FLOATS | {np.dtype(np.int64): _i64[0], np.int64: _i64[1]}
_INTEGERS = frozenset(map(np.dtype, ("int64", "int32", "int16", "int8", "uint8", "bool")))
_MANY = 3
_REAL = _INTEGERS | {np.dtype(np.float32), np.dtype(np.float64)}
_FAILURES = (ValueError, TypeError, LookupError, FloatingPointError, AttributeError, RuntimeError)
_SCALARS = frozenset([np.float32, np.float64, *(d.type for d in _INTEGERS)])


def binary(op: Op, slow: Callable[[Any, Any], Any], *, floating: bool = False, reflected: bool = False) -> Binary:
    """The callable ``f(x, y)`` of an elementwise operation of two arguments.

    Serves two tensors of one plain dtype, and Python numbers beside them; everything else goes to ``slow(x, y)``, which
    converts its arguments and uses `general`, or returns NotImplemented. So do whole numbers and booleans if the
    operation is ``floating``: computes in floating point. ``reflected``: computes op(y, x), for a number y.
    """
    bind = _compiled(2, None, not floating, op.kind == "elementwise", bool(op.rules), False, True, reflected)
    return _named(bind(op, op.unheard, slow, _FLOATS if floating else _WHOLE), op)


def unary(op: Op, slow: Callable[[Any], Any] | None = None) -> Unary:
    """The callable ``f(input)`` of an elementwise operation of one argument.

    Serves float32 and float64 tensors; all others go to ``slow(x)``, which may promote them; by default to `general`.
    """
    bind = _compiled(1, None, False, False, bool(op.rules), False)
    return _named(bind(op, op.unheard, slow or (lambda x: general(op, (x,), {}))), op)


def direct(op: Op, inputs: int = 1) -> Callable[..., Any]:
    """The callable ``f(*tensors, static)`` of an operation, made once; without promotion, for any dtype."""
    found = op.ways.get(inputs)
    if found is None:
        bind = _compiled(inputs, op.static, True, op.kind == "elementwise", bool(op.rules), op.kind == "view",
                         variadic=op.variadic, rows=op.rows)  # fmt: skip
        found = op.ways[inputs] = bind(op, op.unheard, lambda *given: general(op, given[:-1], given[-1]))
    return found


def apply(op: Op, inputs: Sequence[Any], static: dict[str, Any]) -> Any:
    """``op`` of tensors, with these static arguments: the quick way if it can be, else `general`."""
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
    formula = op.unheard
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
                if not (a.__class__ is np.ndarray or a.__class__ in _SCALARS) or a.dtype is not t:
                    return general(op, inputs, static)
                if x._view is not None:
                    refresh(x)
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
            record = records.get(needed)
            if record is None:
                record = records[needed] = recorder(op, needed)
            out._node = record(inputs, out, static)
        return out

    plain = not op.several and op.kind not in ("elementwise", "view")
    op.ways[0] = found = _named(call, op) if plain else functools.partial(general, op)
    return found


def _recorded_as(op: Op, records: list[Any], case: int, inputs: int) -> Any:
    """The function that records these inputs, those with a bit in ``case``; with the next bit, if they broadcast."""
    mask = tuple([bool(case >> k & 1) for k in range(inputs)])
    records[case] = recorder(op, mask, case >> inputs > 0)
    return records[case]


def _no_input(op: Op, x: Any) -> TypeError:
    return TypeError(f"{op.name}(): argument 'input' must be Tensor, not {no_tensor(x)}")


def _named(call: Callable[..., Any], op: Op) -> Callable[..., Any]:
    call.__name__ = call.__qualname__ = op.name
    call.__doc__ = op.__doc__
    return call


def _text(inputs: int, named: tuple[str, ...] | None, whole: bool, broadcasts: bool, rules: bool, views: bool,
          numbers: bool, reflected: bool, variadic: bool, rows: bool) -> list[str]:  # fmt: skip
    """The lines of the quick callable for one shape of call; ``named`` are its static arguments, if it takes such."""
    static = named is not None
    tensors, arrays = ["input"] if inputs == 1 and not static else [*"xyz"[:inputs]], [*"abc"[:inputs]]
    given = ", ".join([*tensors, *["static"] * static])
    if numbers:
        tensors[1] = "other"
    if reflected:
        tensors, arrays = tensors[::-1], arrays[::-1]
    xs = ", ".join(tensors)
    elsewhere = f"return general(op, ({xs},), {'static' if static else '{}'})"
    scalars = "" if views else " or {0}.__class__ in SCALARS"  # one that is viewed becomes an array first
    plain = [*(f"({a}.__class__ is ndarray{scalars.format(a)})" for a in sorted(arrays)),
             f"(t is F32 or t is F64{' or t in INTEGERS' * whole})",
             *(f"({a}.dtype is t{f' or {a}.dtype in REAL' * static})" for a in arrays if a != "a"),
             *[f"len(static) == {len(named or ())}"] * static]  # fmt: skip
    ask = f"if not ({' and '.join(plain)}): return slow({given})"
    otherwise = elsewhere if static else f"raise no_input(op, {xs}) from None"
    read = ["try:", *[f"    {a} = {x}.array" for a, x in zip(arrays, tensors, strict=True)],
            f"except AttributeError: {otherwise}", "t = a.dtype", ask]  # fmt: skip
    if numbers:
        read = [
            "a = x.array",
            "t = a.dtype",
            "cls = y.__class__",
            "number = cls is float or cls is int",
            "if number:",
            "    table = (FLOATS if cls is float else beside).get(t if a.__class__ is ndarray else a.__class__)",
            "    if table is None: return slow(x, y)",
            "    try: other = table[y]",
            "    except OverflowError: return slow(x, y)",
            "    b = other.array",
            "elif isinstance(y, TensorBase):",
            "    other, b = y, y.array",
            f"    {ask}",
            "else: return slow(x, y)",
        ]
    case = " + ".join(f"{1 << k} * ({x}._node is not None)" for k, x in enumerate(tensors))
    if inputs < 3:  # the same, in less time
        case = ["1", f"2 if {tensors[0]}._node is None else 1 if {tensors[-1]}._node is None else 3"][inputs - 1]
    differ = " or ".join(f"a.shape != {a}.shape" for a in arrays if a != "a")
    kind_ = "not ndarray" if views else "slots.tensor"
    known = " and ".join(f"{x}._node in listener.known" for x in tensors)
    lines = [
        *read,
        "mode = now()",
        f"if mode is not PLAIN and not mode.quick: {elsewhere}",
        *[f"if {x}._view is not None and refresh({x}): {elsewhere}" for x in tensors],
        "try:",
        f"    result = formula({', '.join(['NUMPY', *arrays, *(f'{n}=static[{n!r}]' for n in named or ())])})",
        f"except FAILURES: {elsewhere}",  # to be explained, or because the user has NumPy raise
        *["if result.__class__ is ndarray and not result.flags.c_contiguous: result = in_rows(result)"] * rows,
        *[f"if result.__class__ is {kind_}: {elsewhere}"] * static,  # it was computed with a tensor
        "out = new(slots.tensor)",
        "out.array = result",
        "out._node = None",
    ]
    alone = ["out._counter = [0]", "out._view = None"]
    if views:
        alone = [
            "base = result.base",
            "if base is a or (base is not None and base is a.base) or result is a: mark_view(out, x, (op, static))",
            f"else: {'; '.join(alone)}",
        ]
    lines += alone
    if rules:
        lines += [
            f"if {' or '.join(f'{x}._node is not None' for x in tensors)}:",
            "    if mode is PLAIN or mode.records:",
            f"        case = {case}",
            *[f"        if {'not number and ' * numbers}({differ}): case += {1 << inputs}"] * broadcasts,
            f"        record = records[case] or recorded_as(op, records, case, {inputs})",
            f"        out._node = record({f'({xs},)' if variadic else xs}, out{', static' * static})",
            f"    elif (listener := mode.listener) is not None and not ({known}):",
            f"        listener.met(({xs},), out)",
        ]
    head = "input: Tensor) -> Tensor" if given == "input" else f"{given})"
    return [
        "def bind(op, formula, slow, beside=None):", f"    records = [None] * {2 << inputs}", f"    def call({head}:",
        *(f"        {line}" for line in lines), "        return out", "    return call", "",
    ]  # fmt: skip


@functools.cache
def _compiled(inputs: int, named: tuple[str, ...] | None, whole: bool, broadcasts: bool, rules: bool, views: bool,
              numbers: bool = False, reflected: bool = False, variadic: bool = False, rows: bool = False,
              ) -> Callable[..., Any]:  # fmt: skip
    """The function ``bind`` of `_text`."""
    text = "\n".join(_text(inputs, named, whole, broadcasts, rules, views, numbers, reflected, variadic, rows))
    filename = f"<gradwright quick way of {inputs}, number {_compiled.cache_info().currsize}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    scope = _SCOPE | {"TEXT": text}  # which outlives `linecache.clearcache`
    exec(compile(text, filename, "exec"), scope)  # noqa: S102 - the text is written here
    bind: Callable[..., Any] = scope["bind"]
    return bind


_SCOPE: dict[str, Any] = {
    "__name__": __name__, "F32": np.dtype(np.float32), "F64": np.dtype(np.float64), "FLOATS": _FLOATS,
    "FAILURES": _FAILURES,
    "INTEGERS": _INTEGERS,
    "REAL": _REAL, "NUMPY": numpy_backend.namespace,
    "PLAIN": PLAIN, "SCALARS": _SCALARS, "TensorBase": TensorBase, "general": general,
    "in_rows": in_rows, "slots": slots, "mark_view": mark_view,
    "ndarray": np.ndarray, "new": object.__new__, "no_input": _no_input, "now": now,
    "recorded_as": _recorded_as, "refresh": refresh,
}  # fmt: skip
