"""Where operations on tensors come in, whatever the mode, the array library and the dtype: `general`.

What can be quick has a way of its own past it (`gradwright.engine.apply`). A new reading of the operations is an
interpreter in the mode, to which everything is handed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from gradwright import backends
from gradwright.backends import numpy as numpy_backend
from gradwright.backends.generic import HERE
from gradwright.base import dtypes
from gradwright.base.errors import kind, size
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.levels import LevelArray, innermost
from gradwright.engine.memory import shares, shows, writable
from gradwright.engine.mode import now
from gradwright.engine.node import Output
from gradwright.engine.nodes_of_ops import recorder
from gradwright.engine.numbers import number
from gradwright.engine.view import mark_view, refresh
from gradwright.engine.watch import computed, recorded, seen
from gradwright.ops.declare import Op
from gradwright.ops.shape import astype


def general(op: Op, inputs: Sequence[Any], static: dict[str, Any]) -> Any:
    """Run ``op`` on tensors with these static arguments and record it; a list of tensors if it has several outputs.

    Raises what the operation raises, with the operation's name and the shapes it was given; NotImplementedError if it
    has no meaning for complex numbers and is given some.
    """
    for name, value in static.items():
        if isinstance(value, TensorBase):
            return general(op, inputs, static | {name: number(op.name, name, value)})
    mode = now()
    if mode.interpreter is not None:
        return mode.interpreter(op, inputs, static)
    for watch in mode.watches:
        watch.used(inputs)
    arrays = []
    needs = complex_ = half = others = False
    for x in inputs:
        if not isinstance(x, TensorBase):
            raise TypeError(f"{op.name}(): expected a Tensor, but got {kind(x)}")
        if x._view is not None:
            refresh(x)
        a = writable(x) if op.kind == "view" else x.array
        arrays.append(a)
        others = others or a.__class__ is not np.ndarray
        needs = needs or x._node is not None
        d = a.dtype
        if d is not _F32 and d is not _F64:
            complex_ = complex_ or dtypes.of(d).is_complex
            half = half or dtypes.of(d) in _HALVES
    if complex_ and op.complex is None:
        raise not_for_complex(op)
    if half and not op.moves:
        return _in_single(op, inputs, static)
    level = None
    if others:
        level = innermost(inputs, arrays)
        for x in inputs:  # those that were settled may have got a history
            needs = needs or x._node is not None
    xp = backends.common(op.name, arrays).xp if others and level is None else _NUMPY
    try:
        if level is not None and not mode.watches:
            result = level.read(op, inputs, static)
        elif level is not None:
            result = seen(op.name, (*arrays, *static.values()), partial(level.read, op, inputs, static))
        elif xp is _NUMPY and not mode.watches:
            result = op.muted(xp, *arrays, **static)
        else:
            result = computed(op, xp, *arrays, **static)
        if op.rows and level is None:
            result = in_rows(result, xp)
    except FloatingPointError:  # so the user has set NumPy, for code of their own
        result = computed(op, xp, *arrays, **static)
    except (ValueError, TypeError, IndexError) as e:
        raise explained(op, inputs, static, e) from (None if op.direct else e)
    out: Any
    if op.several:
        out = [wrap(r, None, r.tensor._counter if isinstance(r, LevelArray) else None) for r in result]
    else:  # over what a level has made it counts writes with the tensor outside
        out = wrap(result, None, result.tensor._counter if isinstance(result, LevelArray) else None)
    if op.kind == "view":
        for k, o in enumerate(out if op.several else (out,)):
            which = (k,) * op.several
            if shows(o, inputs[0], op, static, *which) if others else shares(o.array, arrays[0]):
                mark_view(o, inputs[0], (op, static, *which))
    if needs and op.rules:
        if mode.records:
            mask = tuple([x._node is not None for x in inputs])
            broadcast = op.kind == "elementwise" and any(a.shape != result.shape for a in arrays)
            record = recorder(op, mask, broadcast, complex_ and op.complex == "holomorphic", level is not None)
            node = record(inputs, out, static) if op.variadic else record(*inputs, out, static)
            if op.several:
                _attach(node, out)
            else:
                out._node = node
            if mode.watches:
                recorded(node)
        elif mode.listener is not None:
            mode.listener.met(inputs, out)
    return out


_NUMPY = numpy_backend.namespace


def in_rows(result: Any, xp: Any = _NUMPY) -> Any:
    """A result, or several, as arrays whose memory goes row by row, where they have such."""
    if result.__class__ is np.ndarray:
        return result if result.flags.c_contiguous else np.ascontiguousarray(result)
    if isinstance(result, (list, tuple)):
        return [in_rows(one, xp) for one in result]
    step = getattr(result, "itemsize", 0)
    for n, stride in zip(reversed(result.shape), reversed(getattr(result, "strides", ())), strict=False):
        if stride != step and n > 1:
            return xp.asarray(result, copy=True)
        step *= n
    return result


_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)


def _attach(node: Any, out: Any) -> None:
    """Make ``node`` the history of the several tensors that an operation has made."""
    node._metas = [(o.array.shape, o.array.dtype) for o in out]
    for k, o in enumerate(out):
        if (d := o.array.dtype) is _F32 or d is _F64 or dtypes.of(d).category >= dtypes.FLOAT:
            o._node = Output(node, k)


_HALVES = (dtypes.float16, dtypes.bfloat16)


def _in_single(op: Op, args: Sequence[Any], static: dict[str, Any]) -> Any:
    """`general` for halves: computed in float32 and rounded once, forward and backward, as PyTorch does."""
    kinds = [dtypes.of(x.array.dtype) for x in args]
    wide = [_converted(x, dtypes.float32) if d in _HALVES else x for x, d in zip(args, kinds, strict=True)]
    narrow = reduce(dtypes.promote_types, [d for d in kinds if d in _HALVES])
    out = general(op, wide, static)
    if op.several:
        return [_converted(o, narrow) if o.array.dtype == _F32 else o for o in out]
    return _converted(out, narrow) if out.array.dtype == _F32 else out


def _converted(x: Any, d: dtypes.dtype) -> Any:
    return general(astype, (x,), {"dtype": d.name, "source": dtypes.of(x.array.dtype).name})


def not_for_complex(op: Op) -> NotImplementedError:
    """The error of an operation that has no meaning for complex numbers."""
    return NotImplementedError(
        f"{op.name}(): not implemented for complex tensors: take real() and imag(), or abs(), of the argument first"
    )


def explained(op: Op, args: Sequence[Any], static: dict[str, Any], error: Exception) -> Exception:
    """The error of a failed formula, saying which operation failed on what."""
    shapes = [a.array.shape for a in args if isinstance(a, TensorBase)]
    if op.kind == "elementwise" and len(shapes) > 1 and (clash := _clash(shapes)):
        return RuntimeError(
            f"The size of tensor a ({clash[0]}) must match the size of tensor b ({clash[1]}) at non-singleton "
            f"dimension {clash[2]}: {op.name}() got shapes {' and '.join(map(size, shapes))}, which do not broadcast"
        )
    given = [f"{dtypes.of(a.array.dtype).name} {size(a.array.shape)}" for a in args if isinstance(a, TensorBase)]
    key = static.get("key")
    what = f"{op.name}()"
    if isinstance(key, tuple):
        key = key[:-1] if key[-1:] == (...,) and len(key) > 1 else key  # which indexing adds
        what, static = f"x[{', '.join(map(_index, key))}]", {k: v for k, v in static.items() if k != "key"}
    given += [f"{k}={v!r}" for k, v in static.items()]
    if "not supported for the input types" in str(error):  # so NumPy's functions say it
        kinds = " and ".join(dict.fromkeys(str(dtypes.of(a.array.dtype)) for a in args if isinstance(a, TensorBase)))
        return NotImplementedError(f"{what}: not implemented for {kinds} (called with {', '.join(given)})")
    cls = next((c for c in (IndexError, NotImplementedError) if isinstance(error, c)), RuntimeError)
    return cls(f"{what}: {error} (called with {', '.join(given)})")


def _index(k: Any) -> str:
    """A part of an index as it is written."""
    if isinstance(k, slice):
        ends = ["" if end is None else str(end) for end in (k.start, k.stop)]
        return ":".join(ends if k.step is None else [*ends, str(k.step)])
    return "..." if k is ... else "tensor" if k is HERE else str(k)


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
