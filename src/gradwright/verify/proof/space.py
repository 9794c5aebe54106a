"""The namespace of ball arrays: the array API over balls, and what formulas use beside it.

Where all that a function is given is certain (whole numbers, truth values), it is NumPy's. What is not here raises
NotProvedError, never a number.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from gradwright.backends import register
from gradwright.backends.generic import Extended
from gradwright.backends.numpy import namespace as numpy_namespace
from gradwright.base.errors import NotProvedError
from gradwright.verify.proof import algebra, functions, shapes
from gradwright.verify.proof.balls import Balls, Truths, balls, chosen, compared, power, product, quotient
from gradwright.verify.proof.series import ELEMENTARY
from gradwright.verify.proof.shapes import uncertain

_DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip
_OF_DTYPES = ("result_type", "isdtype", "finfo", "iinfo", "can_cast")


def _operator(f: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda x, y: f(balls(x) if uncertain([x, y]) and not isinstance(x, Truths) else x, y)


def _truth(x: Any) -> Any:
    return x if isinstance(x, Truths) else shapes.astype(x if isinstance(x, Balls) else np.asarray(x), np.bool_)


def _quantified(f: Callable[..., Any], all_of: bool) -> Callable[..., Any]:
    """``any`` and ``all``, by the least and the most that may be true."""

    def call(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
        x = _truth(x)
        if not isinstance(x, Truths):
            return f(x, axis=axis, keepdims=keepdims)
        return x.moved(lambda s: (np.min if all_of else np.max)(s, axis=axis, keepdims=keepdims))

    return call


class _Numbers:
    """The standard's part of the namespace."""

    __name__ = "balls"
    pi, e, inf, nan, newaxis = np.pi, np.e, np.inf, np.nan, None

    def __init__(self) -> None:
        for module in (shapes, functions):
            for name, f in vars(module).items():
                if callable(f) and not name.startswith("_") and hasattr(numpy_namespace, name):
                    setattr(self, name, f)
        for name in _DTYPES:
            setattr(self, name, np.dtype(name))
        for name in _OF_DTYPES:
            f = getattr(numpy_namespace, name)
            setattr(self, name, lambda *args, f=f: f(*[a.dtype if hasattr(a, "dtype") else a for a in args]))
        for name in ELEMENTARY:
            setattr(self, name, functions.elementary(name))
        self.where, self.divide = chosen, quotient
        self.sum, self.max, self.min = shapes.total, functions.largest, functions.smallest
        self.abs, self.sign, self.round, self.pow = functions.absolute, functions.sign, functions.round_, power
        self.any, self.all = _quantified(np.any, False), _quantified(np.all, True)
        self.matmul, self.tensordot, self.vecdot = algebra.matmul, algebra.tensordot, algebra.vecdot
        self.add, self.subtract = _operator(lambda x, y: x + y), _operator(lambda x, y: x - y)
        self.multiply = _operator(lambda x, y: product(x, y, np.multiply) if uncertain([x, y]) else x * y)
        self.negative = lambda x: -x
        self.square = lambda x: x * x
        self.real = lambda x: x.real if balls(x).dtype.kind == "c" else x
        self.imag = lambda x: x.imag
        for name, sign in (("less", "<"), ("less_equal", "<="), ("equal", "==")):
            setattr(self, name, lambda x, y, sign=sign: compared(sign, x, y))
        self.greater, self.greater_equal = (lambda x, y: compared("<", y, x)), (lambda x, y: compared("<=", y, x))
        self.not_equal = lambda x, y: ~compared("==", x, y)
        self.logical_not = lambda x: ~_truth(x)
        self.logical_and, self.logical_or = (lambda x, y: _truth(x) & _truth(y)), (lambda x, y: _truth(x) | _truth(y))
        self.linalg = _Part("linalg", vars(algebra))
        self.fft = _Part("fft", vars(algebra))

    def __array_namespace_info__(self) -> Any:
        return SimpleNamespace(devices=lambda: ["cpu"], default_device=lambda: "cpu")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _certain(name, getattr(numpy_namespace, name))


def _certain(name: str, f: Any) -> Any:
    """NumPy's function, where nothing is uncertain."""
    if not callable(f) or isinstance(f, type):
        return f

    def call(*args: Any, **kwargs: Any) -> Any:
        if uncertain(args) or uncertain([*kwargs.values()]):
            raise NotProvedError(f"not proved: balls have no {name}()")
        return f(*args, **kwargs)

    return call


class _Part:
    """``linalg`` or ``fft``."""

    def __init__(self, name: str, found: dict[str, Any]) -> None:
        self._name, self._found = name, found

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self._found:
            return self._found[name]
        return _certain(f"{self._name}.{name}", getattr(getattr(numpy_namespace, self._name), name))


class _Space(Extended):
    """All of it."""

    def __init__(self) -> None:
        super().__init__(_Numbers())
        self.linalg, self.special = self._xp.linalg, functions.Special()  # type: ignore[assignment]
        for name in ("take_along_axis", "conj", "fmod"):
            setattr(self, name, getattr(self._xp, name))
        self.exp2 = self._xp.exp2
        for name in ("nextafter", "frexp"):
            setattr(self, name, _certain(name, getattr(numpy_namespace, name)))
        self.may_hold = self._may_hold

    @staticmethod
    def _may_hold(condition: Any, *, often: bool = False) -> bool:
        return isinstance(condition, Truths) or bool(np.any(condition))


space = _Space()
BALLS = register(space, Balls, Truths, name="balls", outer=True, host=True, views=False, writes=False,
                 to_host=lambda x: x.__array__())  # fmt: skip
