"""Formulas as programs of the native core: lists of NumPy's inner loops, run over a few entries at a time.

A formula that makes one array of others, entry by entry, makes one for each of its operations when it is run. As a
program it makes no other: C runs its loops over pieces that the nearest cache holds, and the bits are the same. What a
formula consists of is noted when it is first called with arrays of these dtypes, and these static arguments. What
cannot be noted (see `gradwright.backends.notes`), and what is not the core's usual case, the formula does itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from gradwright.backends.loops import looped, ufunc_of
from gradwright.backends.notes import CHOICES, UFUNCS, Notes, NotNoted, Value
from gradwright.backends.quiet import quietly
from gradwright.base.source_line import is_own
from gradwright.native import core, kernel

_MOST = 8
"""Arguments of a formula that is a program."""


def programmed(formula: Any, muted: Callable[..., Any] | None = None, arrays: Sequence[bool] = (),
               static: tuple[str, ...] = ()) -> Callable[..., Any]:  # fmt: skip
    """A formula, ``muted`` if that is given; in C, if it is one ufunc, or made of several and gradwright's own.

    Args:
        arrays: for each positional argument behind `xp` whether it is an array; else it is a static one.
        static: the names of the static arguments that come by name, in order.
    """
    plain = muted or kernel(formula, formula)
    if core is not None and isinstance(plain, core.kernel):
        return plain
    own = isinstance(formula, FunctionType) and is_own(formula.__code__.co_filename)  # a user's may be changed
    if core is None or not own or not 0 < len(arrays) <= _MOST or ufunc_of(formula):
        return looped(formula, muted)

    def noted(types: str, values: tuple[Any, ...]) -> Any:
        """The program for arrays of these dtypes and these static arguments, or None."""
        kind, *others = sorted({*types} - {"?"}) or ["?"]
        notes, left, numbers = Notes(np.dtype(kind)), iter(types), iter(values)
        given = [notes.given(f"x{k}", True, np.dtype(next(left))) if is_array else next(numbers)
                 for k, is_array in enumerate(arrays)]  # fmt: skip
        try:
            out = None if others else quietly(formula, notes, *given, **dict(zip(static, numbers, strict=True)))
        except (NotNoted, TypeError, AttributeError, ValueError):  # whatever is wrong with it, the formula says itself
            return None
        inputs = [x.name for x in given if isinstance(x, Value)]
        return assembled(notes, inputs, {out.name: -1}) if isinstance(out, Value) else None

    made: Callable[..., Any] = core.formula(plain, muted is not None, bytes(arrays), static, noted)
    return made


def derivative(op: Any, rule: Any) -> Callable[..., Any]:
    """The formula of a derivative of an operation, in C if it can be."""
    arrays = [True, *(n in op.inputs or n == "out" for n in rule.names)]
    known = all(array or n in op.static for array, n in zip(arrays[1:], rule.names, strict=True))
    return programmed(rule.fn, None, arrays if known and not op.variadic and not op.several else ())


def assembled(notes: Notes, inputs: Sequence[str], results: Mapping[str, int]) -> Any:
    """What was noted as a program; None if it is nothing, or too long for one.

    Args:
        notes: with a dtype.
        inputs: the names of what the program is given, in order.
        results: for the name of each result the input that it replaces; -1: it is a new array.
    """
    needed, steps = set(results), []
    for out, name, given in reversed(notes.calls):
        if out in needed:
            needed |= {*given}
            steps.append((out, name, given))
    steps.reverse()
    if not {*results} <= {out for out, _, _ in steps}:
        return None
    constants = [x for x in notes.constants if x in needed]
    last = {x: k for k, (_, _, given) in enumerate(steps) for x in given}
    register = {x: k for k, x in enumerate([*inputs, *constants])}
    first = after = len(register)
    free: list[int] = []
    placed = []
    moved = []
    for k, (out, name, given) in enumerate(steps):
        target = results.get(out)
        if target is not None and (target < 0 or last.get(inputs[target], -1) <= k):
            register[out] = target
        else:
            register[out], after = (free.pop(), after) if free else (after, after + 1)
            moved += [] if target is None else [("positive", [out], target)]
        placed.append((name, [*given, out], [register[x] for x in (*given, out)]))
        free += [register[x] for x in dict.fromkeys(given)
                 if last[x] == k and register[x] >= first and x not in results]  # fmt: skip
    placed += [(name, [x, x], [register[x], target]) for name, (x,), target in moved]
    new = [out for out, target in results.items() if target < 0]
    char = {x: (dtype or notes.dtype).char for x, dtype in notes.dtypes.items()}
    return core.program(
        "".join(char[x] for x in inputs),
        tuple(notes.constants[x][()] if notes.dtypes[x] else notes.dtype.type(notes.constants[x]) for x in constants),
        [(None if name in CHOICES else UFUNCS[name], "".join(char[x] for x in of),
          bytes(k if k >= 0 else after for k in at)) for name, of, at in placed],
        after - first, "".join(char[x] for x in new), bool(new) and steps[-1][1] == "where",
    )  # fmt: skip
