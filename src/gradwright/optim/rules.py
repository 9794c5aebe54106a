"""Optimisers as rules: functions of a parameter, its gradient, state and settings, that return new values.

A rule is written once, in the language of the formulas: against `xp`, without writing in place, without a branch on a
value. Here it is run for one parameter after another, on arrays of any library, or on tensors, where the step is
recorded; `gradwright.optim.fused` runs it over many parameters at once in NumPy.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import ModuleType
from typing import Any

from gradwright.backends.devices import device_of
from gradwright.base import dtypes
from gradwright.base.errors import size
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.view import assign_all
from gradwright.engine.watch import setting, used
from gradwright.face import xp
from gradwright.face.tensor import Tensor
from gradwright.optim.optimizer import Stepping, number

_FORMS = {bool, tuple, type(None)}


class Ruled(Stepping):
    """An optimiser that has a rule. A subclass defines `_kept`, `_numbers` and `_rule`."""

    _decay = "added"
    """What ``weight_decay`` does unless an option says it: "added" to the gradient, "decoupled", or the rule's."""
    _takes_complex = True

    def _kept(self, *shape: Any, **options: Any) -> tuple[dict[str, float], dict[str, float]]:
        """What is remembered of a parameter of some shape, with initial values: numbers, and arrays.

        A number whose name begins with an underscore is not part of the state that users see; it is zero for state
        that comes from elsewhere.
        """
        raise NotImplementedError

    def _shape(self, name: str, shape: Any) -> Any:
        """The shape of what is kept under a name: that of the parameter."""
        return shape

    def _numbers(self, xp: Any, *args: Any, **given: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The numbers of one step: the new ones of those that are kept, and those that the rule is given.

        ``given`` are the options, and the numbers that are kept, as floats or as values of `xp` in float64. What is
        None, a bool or a tuple says which formula is meant; all else is handed to the rule in the dtype of its arrays.
        """
        raise NotImplementedError

    @staticmethod
    def _rule(xp: Any, p: Any, g: Any, *args: Any, **given: Any) -> dict[str, Any]:
        """The formula: the new parameter, "p", and the new arrays of its state, by name.

        ``given`` are the arrays and the numbers. Complex numbers come as pairs of real ones, 16-bit ones as float32.
        """
        raise NotImplementedError

    def _step(self, xp: Any, now: dict[str, Any], options: dict[str, Any]) -> tuple[Any, ...]:
        """What `whole` needs to know, the numbers to keep, and those that the rule is given."""
        kept, given = self._numbers(xp, **now, **options)
        decay = options.get("weight_decay", 0)
        decays = "decoupled" if options.get("decoupled_weight_decay") else self._decay
        if decays == "the rule's" or (isinstance(decay, (int, float)) and decay == 0):
            decays = ""
        else:
            given["decay"] = 1 - options["lr"] * decay if decays == "decoupled" else decay
        forms: dict[str, Any] = {}
        numbers: dict[str, Any] = {}
        for name, value in given.items():
            (forms if type(value) in _FORMS else numbers)[name] = value
        return (self._rule, bool(options.get("maximize")), decays, tuple(forms.items())), kept, numbers

    def _advance(self, group: dict[str, Any]) -> None:
        recorded = bool(group.get("differentiable"))
        options = group if recorded else plain(group)
        for p in group["params"]:
            if getattr(p, "_grad", None) is not None:
                self._advance_one(p, options, recorded)

    def _held(self, p: Any, numbers: dict[str, float], arrays: dict[str, float]) -> dict[str, Any]:
        """What users see of a parameter's state: what they have put there, in the parameter's library, or the start."""
        held, shape = self.state[p] if numbers or arrays else {}, tuple(p.shape)
        starts = {name: start for name, start in (numbers | arrays).items() if name[0] != "_"}
        shapes = {name: () if name in numbers else self._shape(name, shape) for name in starts}
        check_state(held, shapes, shape)
        at, found = device_of(p.array), {}
        for name, start in starts.items():
            value = held.get(name)
            if isinstance(value, TensorBase):
                used(value)
                found[name] = value if device_of(value.array) == at else wrap(at.hold(value.array))
            else:
                dtype = number_dtype() if name in numbers else p.dtype
                first = start_of(start, dtype) if value is None else value
                found[name] = xp.zeros_like(p, shape=shapes[name], dtype=dtype) + first
        return found

    def _advance_one(self, p: Any, options: dict[str, Any], recorded: bool) -> None:
        """A step for one parameter, of tensors; gradients flow through it if it is ``recorded``."""
        used(p, p._grad)
        if p.is_complex() and not self._takes_complex:
            raise RuntimeError(f"{type(self).__name__} does not support complex parameters")
        numbers, arrays = self._kept(tuple(p.shape), **options)
        held = self.state[p] if numbers or arrays else {}
        begun = any(held.get(name) is not None for name in arrays)
        found = self._held(p, numbers, arrays)
        kind = dtypes.float32 if p.dtype.itemsize == 2 else p.dtype.to_real()

        def wide(t: Any) -> Any:
            return xp.astype(xp.view_as_real(t) if p.is_complex() else t, kind, copy=False)

        def narrow(t: Any) -> Any:
            return xp.astype(xp.view_as_complex(t) if p.is_complex() else t, p.dtype, copy=False)

        now: dict[str, Any] = {"dtype": p.dtype}
        for name, start in numbers.items():
            hidden = 0.0 if begun else start
            now[name] = xp.reshape(xp.astype(found[name], dtypes.float64), ()) if name in found else hidden
        form, kept, given = self._step(xp, now, options)
        given = {name: Number(xp.reshape(xp.astype(value, dtypes.float64), ()), kind)
                 if isinstance(value, Tensor) else value for name, value in given.items()}  # fmt: skip
        state = {name: wide(found[name]) for name in arrays}
        new = whole(*form)(_Meeting(), p=wide(p), g=wide(p._grad), **state, **given)
        values = {name: narrow(new[name]) if name in arrays else xp.astype(kept[name], number_dtype())
                  for name in found}  # fmt: skip
        here = {name for name in found if not recorded and held.get(name) is found[name]}
        assign_all([(p, narrow(new["p"])), *[(found[name], values.pop(name)) for name in here]], (held.update, values))


class Number:
    """A number that a rule is given as a tensor: in double precision until it meets an array, as Python's floats are.

    Attributes:
        tensor: a 0-d tensor.
        dtype: that of the arrays that it meets.
    """

    def __init__(self, tensor: Any, dtype: Any) -> None:
        self.tensor, self.dtype = tensor, dtype

    def with_other(self, f: Callable[[Any, Any], Any], other: Any, swapped: bool) -> Any:
        """What an operator makes of it and another value."""
        is_number = not isinstance(other, TensorBase)
        mine = self.tensor if is_number else met(self)
        theirs = other.tensor if isinstance(other, Number) else other
        found = f(theirs, mine) if swapped else f(mine, theirs)
        return Number(found, self.dtype) if is_number else found

    def __neg__(self) -> Number:
        return Number(-self.tensor, self.dtype)


def _operator(f: Callable[[Any, Any], Any], swapped: bool = False) -> Callable[[Number, Any], Any]:
    return lambda x, other: x.with_other(f, other, swapped)


for _f in (operator.add, operator.sub, operator.mul, operator.truediv):
    setattr(Number, f"__{_f.__name__}__", _operator(_f))
    setattr(Number, f"__r{_f.__name__}__", _operator(_f, swapped=True))
for _f in (operator.lt, operator.gt):
    setattr(Number, f"__{_f.__name__}__", _operator(_f))


def met(x: Any) -> Any:
    """A number as the tensor that meets arrays; all else as it is."""
    if not isinstance(x, Number):
        return x
    return xp.astype(x.tensor, x.dtype) if x.tensor.dtype is dtypes.float64 else x.tensor


class _Meeting:
    """The namespace of tensors, for rules that are given numbers as tensors."""

    def __getattr__(self, name: str) -> Any:
        f = getattr(xp, name)
        if isinstance(f, (dtypes.dtype, ModuleType)):
            return f
        return lambda *args, **kwargs: f(*map(met, args), **kwargs)


def plain(options: dict[str, Any]) -> dict[str, Any]:
    """Options in which what may be a tensor of one element is a Python number."""
    taken = {name: value if name == "params" else setting(options, name) for name, value in options.items()}
    return {name: number(options[name]) if value is NotImplemented else value for name, value in taken.items()}


def whole(rule: Callable[..., Any], maximize: bool, decays: str, forms: tuple[Any, ...]) -> Callable[..., Any]:
    """The rule, behind what all have in common: the sign of the gradient, and the decay of weights."""

    def step(xp: Any, p: Any, g: Any, decay: Any = None, **given: Any) -> dict[str, Any]:
        g = -g if maximize else g
        if decays == "decoupled":
            p = decay * p
        elif decays:
            g = g + decay * p
        return rule(xp, p, g, **dict(forms), **given)

    return step


def average(mean: Any, x: Any, keep: Any) -> Any:
    """An average, moved towards x."""
    return keep * mean + (1 - keep) * x


def number_dtype() -> dtypes.dtype:
    """The dtype in which "step" and other numbers are kept."""
    return dtypes.float64 if dtypes.default() is dtypes.float64 else dtypes.float32


def start_of(value: float, dtype: dtypes.dtype) -> complex:
    """An initial value for arrays of a dtype: both parts of a complex number begin there."""
    return complex(value, value) if dtype.is_complex else value


def check_state(held: dict[str, Any], shapes: dict[str, Any], shape: Any) -> None:
    """Raise KeyError if of what is kept of a parameter some is missing, RuntimeError if some has another shape."""
    missing = [name for name in shapes if name not in held]
    if 0 < len(missing) < len(shapes):
        raise KeyError(
            f"{', '.join(missing)}: missing in the state of a parameter of shape {size(shape)}, which has "
            f"{', '.join(name for name in shapes if name in held)}: empty it to begin anew"
        )
    for name, expected in shapes.items():
        value = held.get(name)
        found = expected if value is None else tuple(getattr(value, "shape", ()))
        if found != expected and (expected or found != (1,)):
            raise RuntimeError(f"The size of {name} {size(found)}, in the state of a parameter of shape {size(shape)}, "
                               f"must be {size(expected)}: is it another parameter's?")  # fmt: skip
