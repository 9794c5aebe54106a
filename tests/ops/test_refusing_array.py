"""Formulas and rules run on arrays of which they may learn no value, and which cannot be written.

A tracer's arrays are such, and those of a batch: what passes here can be read by any interpreter of the operations.
"""

import operator
from typing import Any

import array_api_strict
import numpy as np
import pytest

from gradwright import backends
from gradwright.backends import strict
from gradwright.backends.generic import Extended
from gradwright.engine.base import wrap
from gradwright.engine.calls import grad
from gradwright.op import Op, Sample, table
from gradwright.ops import decompose
from gradwright.verify.testing import draw
from gradwright.verify.testing.derivatives import leaf


class Refusing:
    """An array of array-api-strict within, of which only shape, dtype and device can be learned."""

    def __init__(self, within: Any) -> None:
        self.within = within

    dtype = property(lambda self: self.within.dtype)
    device = property(lambda self: self.within.device)
    shape = property(lambda self: self.within.shape)
    ndim = property(lambda self: self.within.ndim)
    size = property(lambda self: self.within.size)

    def __getitem__(self, key: Any) -> Any:
        return Refusing(self.within[shown(key)])


def shown(value: Any) -> Any:
    """``value`` with what is within refusing arrays in their place."""
    if isinstance(value, (tuple, list)):
        return type(value)(map(shown, value))
    return value.within if isinstance(value, Refusing) else value


def hidden(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return tuple(map(hidden, value))
    return Refusing(value) if isinstance(value, type(array_api_strict.empty(0))) else value


def _refused(name: str) -> Any:
    def refuse(*args: Any) -> Any:
        raise TypeError(f"this array refuses {name}")

    return refuse


def _passed_on(name: str) -> Any:
    return lambda self, *others: hidden(getattr(self.within, name)(*map(shown, others)))


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift")
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert", *_BINARY, *(f"r{n}" for n in _BINARY)):
    setattr(Refusing, f"__{_name}__", _passed_on(f"__{_name}__"))
for _name in ("bool", "int", "float", "complex", "index", "array", "buffer", "dlpack", "iter", "len", "setitem",
              *(f"i{n}" for n in _BINARY)):  # fmt: skip
    setattr(Refusing, f"__{_name}__", _refused(f"__{_name}__"))


class Space:
    """The functions of a namespace, for refusing arrays."""

    def __init__(self, functions: Any, **parts: Any) -> None:
        self.__name__ = "refusing"
        self._functions = functions
        vars(self).update(parts)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._functions, name)
        if isinstance(found, type) or not callable(found):
            return found
        return lambda *args, **kwargs: hidden(found(*map(shown, args), **{k: shown(v) for k, v in kwargs.items()}))


space = Extended(Space(array_api_strict, fft=Space(array_api_strict.fft)))
space.linalg, space.special = Space(strict.namespace.linalg), Space(strict.namespace.special)  # the library's business
backends.register(space, Refusing, name="refusing arrays")


def given(value: Any) -> Any:
    """``value`` with the NumPy arrays in it as refusing ones."""
    if isinstance(value, tuple):
        return tuple(map(given, value))
    return space.asarray(np.asarray(value)) if isinstance(value, (np.ndarray, np.generic)) else value


@pytest.mark.parametrize("ask", [bool, int, float, complex, operator.index, iter, len, np.asarray])
def test_the_array_refuses(ask: Any) -> None:
    with pytest.raises(TypeError, match="refuses"):
        ask(space.ones(()))


def test_the_array_cannot_be_written() -> None:
    x = space.ones((2,))
    with pytest.raises(TypeError, match="refuses __setitem__"):
        x[0] = 1.0
    with pytest.raises(TypeError, match="refuses __iadd__"):
        x += 1.0


DECLARED = [*table.values(), *(op for op in vars(decompose).values() if isinstance(op, Op) and op.name not in table)]


@pytest.mark.parametrize("op", [op for op in DECLARED if op.samples], ids=lambda op: op.name)
def test_formulas_and_rules_ask_for_no_value(op: Op) -> None:
    for sample in op.samples:
        run_forward_and_backward(op, sample)


def run_forward_and_backward(op: Op, sample: Sample) -> None:
    """Forward; backward for every input that has a rule, in an ordinary pass; values and gradients as NumPy's."""
    arrays, static = draw(sample)
    names = op.inputs * len(arrays) if op.variadic else op.inputs
    needed = [n in op.rules and a.dtype.kind in "fc" for n, a in zip(names, arrays, strict=False)]
    found = []
    for convert in (given, lambda value: value):
        xs = [(leaf if d else wrap)(convert(a)) for a, d in zip(arrays, needed, strict=True)]
        out = op(*xs, **{name: convert(value) for name, value in static.items()})
        outs = list(out) if op.several else [out]
        reached = [o for o in outs if o._node is not None]
        gradients = []
        if reached:
            ones = [wrap(backends.namespace(o.array).ones(o.array.shape, dtype=o.array.dtype)) for o in reached]
            leaves = [x for x, d in zip(xs, needed, strict=True) if d]
            gradients = [g for g in grad(reached, leaves, ones, allow_unused=True) if g is not None]
        found.append([t.array for t in (*outs, *gradients)])
    for there, here in zip(*found, strict=True):
        assert type(there) is Refusing
        np.testing.assert_allclose(np.asarray(there.within), here, rtol=1e-9, atol=1e-9)
