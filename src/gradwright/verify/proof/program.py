"""Whether what balls ran is what numbers run: what asks for the dtype, or counts its calls, may be another program."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from gradwright.base.errors import NotProvedError
from gradwright.base.source_line import is_own
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.calls import grad
from gradwright.function.contract.reached import Reader, Spot, is_object, is_users, spots
from gradwright.function.contract.trees import tensors_in
from gradwright.function.function import FunctionMeta
from gradwright.ops.declare import Op
from gradwright.verify.numeric.jacobian import leaf
from gradwright.verify.proof import series
from gradwright.verify.proof.balls import Balls, balls, exactly
from gradwright.verify.proof.errors_of_rules import FAILURES

DTYPES = ("float32", "float64", "float16")
FAR = 1e-4
"""Constants are rounded to the dtype: two runs on balls that are further apart, relative to the largest, differ."""

_PARTS = ("forward", "backward", "setup_context", "vjp", "__wrapped__", "__call__", "func")


def same_program(f: Any, call: Callable[..., Any], arrays: Sequence[Any], moving: Sequence[int]) -> None:
    """Raise NotProvedError if ``f`` keeps a state, or is another function of numbers than of balls, at these arrays.

    It runs on numbers, forward once and backward twice, then again; and on balls of each dtype. Numbers are only
    looked at roughly, as rounding is not what is proved: to a third of the digits of their dtype.
    """
    before = _state(f)
    exact = [exactly(a) for a in arrays]
    said = _middles(_run(call, exact, moving))
    for dtype in DTYPES:
        try:
            other = _run(call, [_labelled(a, dtype) for a in exact], moving)
        except FAILURES:  # it does not take that dtype
            continue
        _near(said, _middles(other), FAR, f"in {dtype} it is another function than in float64: it asks for the dtype")
    with np.errstate(all="ignore"):
        numbers, again = _run(call, arrays, moving), _run(call, arrays, moving)
    if not all(np.array_equal(a, b, equal_nan=True) for a, b in zip(numbers, again, strict=True)):
        raise NotProvedError("not proved: two calls at the same numbers differ: it keeps a state, or draws numbers")
    eps = max(float(np.finfo(arrays[k].dtype).eps) for k in moving)
    _near(said, _middles(numbers), eps ** (1 / 3),
          "on numbers it is another function than on balls, or rounding leaves less than a third of the digits",
          1e3 * eps * max((float(np.nanmax(np.abs(a), initial=0.0)) for a in said), default=0.0))  # fmt: skip
    changed = [name for name, (text, of) in _state(f).items()
               if name in before and text != before[name][0] and of == before[name][1]]  # fmt: skip
    if changed:
        raise NotProvedError(f"not proved: it keeps a state: a call changes {' and '.join(changed[:3])}, on which what "
                             "it does may depend. Hand that in as an argument, or keep it in ctx")  # fmt: skip


def _labelled(a: Any, dtype: str) -> Any:
    if not isinstance(a, Balls):
        return a
    return a.astype(np.result_type(dtype, np.complex64) if a.dtype.kind == "c" else dtype)


def _run(call: Callable[..., Any], arrays: Sequence[Any], moving: Sequence[int]) -> list[Any]:
    """The arrays of the results, and of the gradients for fixed cotangents, which two backward passes must agree on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _both(call, arrays, moving)


def _both(call: Callable[..., Any], arrays: Sequence[Any], moving: Sequence[int]) -> list[Any]:
    leaves = [leaf(a) if k in moving else wrap(a) for k, a in enumerate(arrays)]
    outs = tensors_in(call(*leaves))
    which = [t for t in outs if t._node is not None]
    gs = [wrap(_cotangent(t)) for t in which]
    inputs = [leaves[k] for k in moving]
    first, second = (grad(which, inputs, gs, allow_unused=True, retain_graph=True) for _ in range(2))
    for a, b in zip(first, second, strict=True):
        if (a is None) != (b is None) or (a is not None and not _equal(a.array, b.array)):
            raise NotProvedError("not proved: two backward passes of one call differ: backward keeps a state, in ctx, "
                                 "or draws numbers")  # fmt: skip
    return [t.array for t in outs if _floating(t)] + [g.array for g in first if g is not None]


def _floating(t: TensorBase) -> bool:
    return np.dtype(t.array.dtype).kind in "fc"


def _cotangent(t: TensorBase) -> Any:
    """1, 1.5, 2 and 1 again, and so on, of a result's dtype; half i more if that is complex."""
    array = t.array
    plain = 1 + 0.5 * (np.arange(array.size) % 3).reshape(array.shape)
    plain = (plain + 0.5j if np.dtype(array.dtype).kind == "c" else plain).astype(array.dtype)
    return balls(plain, array.dtype) if isinstance(array, Balls) else plain


def _equal(a: Any, b: Any) -> bool:
    if not isinstance(a, Balls):
        return bool(np.array_equal(a, b, equal_nan=True))
    return all(series.start(x).overlaps(series.start(y)) or not series.finite(x)
               for x, y in zip(a.value.flat, b.value.flat, strict=True))  # fmt: skip


def _middles(found: list[Any]) -> list[Any]:
    """Of balls, the numbers in their middles; NaN where they are not finite."""
    middle = lambda e: complex(series.start(e).mid()) if series.start(e).is_finite() else complex(np.nan)
    return [np.array([middle(e) for e in a.value.flat], complex).reshape(a.shape) if isinstance(a, Balls)
            else np.asarray(a, complex) for a in found]  # fmt: skip


def _near(said: list[Any], found: list[Any], far: float, words: str, least: float = 0.0) -> None:
    same = len(said) == len(found) and all(a.shape == b.shape for a, b in zip(said, found, strict=True))
    if same:
        with np.errstate(all="ignore"):
            agree = [np.abs(a - b) <= far * np.nanmax(np.abs(a), initial=0.0) + least for a, b in
                     zip(said, found, strict=True)]  # fmt: skip
        unknown = [np.isnan(a) | ~np.isfinite(b) for a, b in zip(said, found, strict=True)]
        same = all((a | b).all() for a, b in zip(agree, unknown, strict=True))
    if not same:
        raise NotProvedError(f"not proved: {words}")


def _state(f: Any) -> dict[str, tuple[str, int]]:
    """What the code of a program can reach, in words; and of tensors and arrays, which one it is: they may be kept."""
    found: dict[str, tuple[str, int]] = {}
    for spot in _reached(f):
        value = spot.get()
        if isinstance(value, TensorBase):
            found[spot.name] = f"version {value._counter[0]}", id(value)
        elif isinstance(value, np.ndarray):
            found[spot.name] = repr(value.tobytes()), id(value)
        elif not is_object(value) and not isinstance(value, (FunctionType, list, tuple, dict)):
            found[spot.name] = repr(value)[:1000], 0
        elif isinstance(value, (list, dict)):
            found[spot.name] = f"{len(value)} parts", 0
    return found


def _reached(f: Any) -> Iterator[Spot]:
    """The places that a program names, those in its classes, and what can be reached from there."""
    if isinstance(f, Op) and is_own(f.forward.__code__.co_filename):
        return
    classes: list[Any] = [getattr(f, "_user", f) if isinstance(f, type) else type(f)]
    rules = [rule.fn for rule in getattr(f, "rules", {}).values()]
    functions, met = [getattr(f, name) for name in _PARTS if hasattr(f, name)] + [f, *rules], set()
    while classes or functions:
        for cls in classes:
            functions += [getattr(cls, name) for name in _PARTS if hasattr(cls, name)]
            own = [c for c in cls.__mro__ if is_users(c)]
            yield from (Spot(f"{c.__name__}.{key}", vars(c), key) for c in own for key in list(vars(c)))
        met |= {*classes}
        reader = Reader(functions)
        yield from reader.every()
        yield from spots([(spot.name, spot.get()) for spot in reader.every()])
        classes, functions = [c for v in reader.values() if isinstance(v, FunctionMeta)
                              and (c := getattr(v, "_user", v)) not in met], []  # fmt: skip
    yield from spots([("", f)])
