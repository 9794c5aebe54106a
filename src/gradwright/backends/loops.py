"""Formulas that are one ufunc of NumPy's: where the native core is, its inner loop is called directly.

They are told by their code: it is that of ``x * y``, or of ``xp.exp(x)`` where NumPy's namespace has its own ``exp``.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FunctionType
from typing import Any

import numpy as np

from gradwright.backends import numpy as numpy_backend
from gradwright.native import twin

_OPERATORS: dict[tuple[int, bytes], np.ufunc] = {
    (f.__code__.co_argcount - 1, f.__code__.co_code): ufunc
    for f, ufunc in (
        (lambda xp, x, y: x + y, np.add),
        (lambda xp, x, y: x - y, np.subtract),
        (lambda xp, x, y: x * y, np.multiply),
        (lambda xp, x, y: x / y, np.divide),
        (lambda xp, x: -x, np.negative),
    )
}
_CALLS: dict[int, bytes] = {
    f.__code__.co_argcount - 1: f.__code__.co_code for f in (lambda xp, x: xp.f(x), lambda xp, x, y: xp.f(x, y))
}


def ufunc_of(formula: Any) -> np.ufunc | None:
    """The ufunc of NumPy's that a formula is; None if it is anything else."""
    if not isinstance(formula, FunctionType):
        return None
    code = formula.__code__
    inputs = code.co_argcount - 1
    if code.co_kwonlyargcount or code.co_flags & (CO_VARARGS | CO_VARKEYWORDS) or code.co_nlocals != inputs + 1:
        return None
    if (inputs, code.co_code) in _OPERATORS:
        return _OPERATORS[inputs, code.co_code]
    if code.co_code != _CALLS.get(inputs):
        return None
    found = getattr(numpy_backend.namespace, code.co_names[0], None)
    same = isinstance(found, np.ufunc) and found.nin == inputs and found is getattr(np, code.co_names[0], None)
    return found if same else None


def looped(formula: Any, muted: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """A formula, ``muted`` if that is given; in C, if it is one ufunc, which has loops of floats."""
    ufunc, plain = ufunc_of(formula), muted or formula
    floats = ufunc is not None and any(types.startswith("d" * ufunc.nin + "->") for types in ufunc.types)
    return twin("loop", plain, ufunc, muted is not None) if floats else plain


_ITSELF = (lambda xp, g: g).__code__


def hands_on(formula: Any) -> bool:
    """Whether a derivative is the cotangent itself."""
    code = getattr(formula, "__code__", None)
    return code is not None and (code.co_code, code.co_argcount) == (_ITSELF.co_code, 2)
