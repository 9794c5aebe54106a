"""Running an operation on tensors: compute on the arrays, then record the node. Three forms of one procedure.

`unary` and `binary` make the quick callables behind elementwise operators; `apply` serves every operation.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwright import backends, dtypes
from gradwright.backends import numpy as numpy_backend
from gradwright.backends.quiet import quietly
from gradwright.engine.base import TensorBase, made, wrap
from gradwright.engine.mode import recording
from gradwright.engine.node import Output
from gradwright.engine.nodes_of_ops import recorder
from gradwright.engine.view import mark_view, refresh, writable
from gradwright.engine.watch import computed, recorded, watches
from gradwright.errors import kind, size
from gradwright.op import Op
from gradwright.ops.shape import astype

_new = object.__new__
_ndarray = np.ndarray
_NUMPY = numpy_backend.namespace
_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)
_FAILURES = (ValueError, TypeError, IndexError)


class _Numbers(dict[float, Any]):
    """Python numbers as 0-d tensors of one dtype, made once each: NumPy converts a float on every operation."""

    def __init__(self, make: Callable[[float], Any]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, number: float) -> Any:
        # It may be inf in float32.
        t = wrap(quietly(self._make, number) if abs(number) > 1e38 else self._make(number), None, [0])
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


def binary(op: Op, slow: Callable[[Any, Any], Any], *, floating: bool = False,
           reflected: bool = False) -> Callable[[Any, Any], Any]:  # fmt: skip
    """The callable ``f(x, y)`` of an elementwise operation of two arguments.

    Serves two tensors of one plain dtype, and Python numbers beside them; everything else goes to ``slow(x, y)``, which
    converts its arguments and uses `apply`, or returns NotImplemented. So do whole numbers and booleans if the
    operation is ``floating``: computes in floating point. ``reflected``: computes op(y, x), for a number y.
    """
    forward = op.unheard if op.direct else op.forward
    differentiable = bool(op.rules)
    slower: Any = watches if op.direct else True
    records: list[Any] = [None] * 8
    beside_whole = _FLOATS if floating else _WHOLE

    def call(x: Any, y: Any) -> Any:
        a = x.array
        d = a.dtype
        cls = y.__class__
        number = cls is float or cls is int
        if number:
            numbers = (_FLOATS if cls is float else beside_whole).get(d if a.__class__ is _ndarray else a.__class__)
            if numbers is None:
                return slow(x, y)
            try:
                y = numbers[y]
            except OverflowError:
                return slow(x, y)
            b = y.array
        elif isinstance(y, TensorBase):
            b = y.array
            if b.dtype is not d or (d is not _F32 and d is not _F64 and (floating or d not in _INTEGERS)):
                return slow(x, y)
            if y._view is not None:
                refresh(y)
        else:
            return slow(x, y)
        if x._view is not None:
            refresh(x)
        if reflected:
            x, y, a, b = y, x, b, a
        out = _new(made.cls)
        try:
            if not slower:
                out.array = forward(_NUMPY, a, b)
            else:
                out.array = computed(op, _NUMPY, a, b)
        except FloatingPointError:  # so the user has set NumPy, for code of their own
            out.array = computed(op, _NUMPY, a, b)
        except _FAILURES as e:
            raise explained(op, (x, y), {}, e) from e
        out._counter = made.counter() if made.inference else [0]
        out._view = None
        out._node = None
        if x._node is None:
            if y._node is None:
                return out
            case = 2
        else:
            case = 1 if y._node is None else 3
        if not differentiable:
            return out
        mode = recording.get()
        if not mode:
            if mode is not False and not (x._node in mode.known and y._node in mode.known):
                mode.met((x, y), out)
            return out
        if not number and a.shape != b.shape:
            case += 4
        record = records[case]
        if record is None:
            record = records[case] = recorder(op, (case & 1 == 1, case & 2 == 2), case > 4)
        out._node = record(x, y, out)
        if mode is not True:
            recorded(out._node)
        return out

    return _named(call, op)


def unary(op: Op, slow: Callable[[Any], Any] | None = None) -> Callable[[Any], Any]:
    """The callable ``f(x)`` of an elementwise operation of one argument.

    Serves float32 and float64 tensors; all others go to ``slow(x)``, which may promote them; by default to `apply`.
    """
    forward = op.unheard if op.direct else op.forward
    differentiable = bool(op.rules)
    slower: Any = watches if op.direct else True
    record: Any = None

    def call(input: Any) -> Any:
        nonlocal record
        x = input
        try:
            a = x.array
        except AttributeError:
            raise TypeError(f"{op.name}(): argument 'input' must be Tensor, not {kind(x)}") from None
        d = a.dtype
        if d is not _F32 and d is not _F64:
            return apply_one(op, x, {}) if slow is None else slow(x)
        if x._view is not None:
            refresh(x)
        out = _new(made.cls)
        try:
            if not slower:
                out.array = forward(_NUMPY, a)
            else:
                out.array = computed(op, _NUMPY, a)
        except FloatingPointError:
            out.array = computed(op, _NUMPY, a)
        except _FAILURES as e:
            raise explained(op, (x,), {}, e) from e
        out._counter = made.counter() if made.inference else [0]
        out._view = None
        out._node = None
        if x._node is None or not differentiable:
            return out
        mode = recording.get()
        if not mode:
            if mode is not False and x._node not in mode.known:
                mode.met((x,), out)
            return out
        if record is None:
            record = recorder(op, (True,))
        out._node = record(x, out)
        if mode is not True:
            recorded(out._node)
        return out

    return _named(call, op)


def apply(op: Op, args: Sequence[Any], static: dict[str, Any]) -> Any:
    """Run ``op`` on tensors with these static arguments and record it; a list of tensors if it has several outputs.

    Raises what the operation raises, with the operation's name and the shapes it was given; NotImplementedError if it
    has no meaning for complex numbers and is given some.
    """
    if len(args) == 1 and not op.several and not op.variadic:
        return apply_one(op, args[0], static)
    arrays = []
    needs = complex_ = half = False
    for x in args:
        if not isinstance(x, TensorBase):
            raise TypeError(f"{op.name}(): expected a Tensor, but got {kind(x)}")
        if x._view is not None:
            refresh(x)
        a = x.array
        arrays.append(a)
        needs = needs or x._node is not None
        d = a.dtype
        if d is not _F32 and d is not _F64:
            complex_ = complex_ or dtypes.of(d).is_complex
            half = half or dtypes.of(d) in _HALVES
    if complex_ and op.complex is None:
        raise not_for_complex(op)
    if half and _computes(op):
        return _in_single(op, args, static)
    result = _result(op, backends.namespace(arrays[0]), args, arrays, static)
    out: Any = [wrap(r) for r in result] if op.several else wrap(result)
    if needs and op.rules and (mode := recording.get()):
        mask = tuple([x._node is not None for x in args])
        broadcast = op.kind == "elementwise" and any(a.shape != result.shape for a in arrays)
        record = recorder(op, mask, broadcast, complex_ and op.complex == "holomorphic")
        node = record(args, out, static) if op.variadic else record(*args, out, static)
        if op.several:
            node._metas = [(r.shape, r.dtype) for r in result]
            for k, o in enumerate(out):
                if (d := o.array.dtype) is _F32 or d is _F64 or dtypes.of(d).category >= dtypes.FLOAT:
                    o._node = Output(node, k)
        else:
            out._node = node
        if mode is not True:
            recorded(node)
    elif needs and op.rules and mode is not False:
        mode.met(args, out)
    if op.kind == "view":
        for o in out if op.several else (out,):
            if _shares(o.array, arrays[0]):
                mark_view(o, args[0], op, static)
    return out


_ALONE = ((True,), False, False)
"""The key of the record of one argument: see `recorder`."""


def apply_one(op: Op, x: Any, static: dict[str, Any]) -> Any:
    """`apply` for one argument and one result, which most calls are."""
    try:
        a = x.array
    except AttributeError:
        raise TypeError(f"{op.name}(): expected a Tensor, but got {kind(x)}") from None
    if x._view is not None:
        refresh(x)
    views = op.kind == "view"
    if a.__class__ is _ndarray:
        xp = _NUMPY
    else:
        a = writable(x) if views else a
        xp = backends.namespace(a)
    d = a.dtype
    complex_ = False
    if d is not _F32 and d is not _F64:
        complex_ = dtypes.of(d).is_complex
        if complex_ and op.complex is None:
            raise not_for_complex(op)
        if dtypes.of(d) in _HALVES and _computes(op):
            return _in_single(op, (x,), static)
    out = _new(made.cls)
    out.array = result = _result(op, xp, (x,), (a,), static)
    out._counter = made.counter() if made.inference else [0]
    out._view = None
    out._node = None
    if x._node is not None and op.rules:
        mode = recording.get()
        if mode:
            record = None if complex_ else op.records.get(_ALONE)
            if record is None:
                record = recorder(op, (True,), False, complex_ and op.complex == "holomorphic")
            out._node = record(x, out, static)
            if mode is not True:
                recorded(out._node)
        elif mode is not False:
            mode.met((x,), out)
    if views and _shares(result, a):
        mark_view(out, x, op, static)
    return out


def _result(op: Op, xp: Any, args: Sequence[Any], arrays: Sequence[Any], static: dict[str, Any]) -> Any:
    """What the formula makes of the arrays of ``args``."""
    try:
        if op.direct and not watches:
            return op.unheard(xp, *arrays, **static)
        return computed(op, xp, *arrays, **static)
    except FloatingPointError:
        return computed(op, xp, *arrays, **static)
    except _FAILURES as e:
        raise explained(op, args, static, e) from e


_HALVES = (dtypes.float16, dtypes.bfloat16)


def _computes(op: Op) -> bool:
    """Whether an operation does more than move or convert numbers."""
    return op.kind != "view" and op.name not in ("astype", "copy", "concat", "stack")


def _in_single(op: Op, args: Sequence[Any], static: dict[str, Any]) -> Any:
    """`apply` for float16 and bfloat16: computed in float32 and rounded once, forward and backward, as PyTorch does."""
    kinds = [dtypes.of(x.array.dtype) for x in args]
    wide = [_converted(x, dtypes.float32) if d in _HALVES else x for x, d in zip(args, kinds, strict=True)]
    narrow = functools.reduce(dtypes.promote_types, [d for d in kinds if d in _HALVES])
    out = apply(op, wide, static)
    if op.several:
        return [_converted(o, narrow) if o.array.dtype == _F32 else o for o in out]
    return _converted(out, narrow) if out.array.dtype == _F32 else out


def _converted(x: Any, d: dtypes.dtype) -> Any:
    return apply_one(astype, x, {"dtype": d.name, "source": dtypes.of(x.array.dtype).name})


def not_for_complex(op: Op) -> NotImplementedError:
    """The error of an operation that has no meaning for complex numbers."""
    return NotImplementedError(
        f"{op.name}(): not implemented for complex tensors: take real() and imag(), or abs(), of the argument first"
    )


def _shares(result: Any, array: Any) -> bool:
    """Whether ``result`` is a view of ``array``'s memory (both are arrays of one library, of which NumPy has bases)."""
    if not isinstance(result, np.ndarray):
        return False
    owner = array if array.base is None else array.base
    return result is array or result.base is array or (result.base is not None and result.base is owner)


def explained(op: Op, args: Sequence[Any], static: dict[str, Any], error: Exception) -> Exception:
    """The error of a failed formula, saying which operation failed on what."""
    shapes = [a.array.shape for a in args if isinstance(a, TensorBase)]
    if op.kind == "elementwise" and len(shapes) > 1 and (clash := _clash(shapes)):
        return RuntimeError(
            f"The size of tensor a ({clash[0]}) must match the size of tensor b ({clash[1]}) at non-singleton "
            f"dimension {clash[2]}: {op.name}() got shapes {' and '.join(map(size, shapes))}, which do not broadcast"
        )
    given = [f"{dtypes.of(a.array.dtype).name} {size(a.array.shape)}" for a in args if isinstance(a, TensorBase)]
    given += [f"{k}={v!r}" for k, v in static.items()]
    cls = IndexError if isinstance(error, IndexError) else RuntimeError
    return cls(f"{op.name}(): {error} (called with {', '.join(given)})")


def _clash(shapes: Sequence[tuple[int, ...]]) -> tuple[int, int, int] | None:
    """The first pair of sizes that do not broadcast, from the last dimension, and the dimension they are in."""
    ndim = max(map(len, shapes))
    padded = [(1,) * (ndim - len(s)) + tuple(s) for s in shapes]
    for dim in reversed(range(ndim)):
        sizes = [s[dim] for s in padded if s[dim] != 1]
        for n in sizes[1:]:
            if n != sizes[0]:
                return sizes[0], n, dim
    return None


def _named(call: Callable[..., Any], op: Op) -> Callable[..., Any]:
    call.__name__ = call.__qualname__ = op.name
    call.__doc__ = op.__doc__
    return call
