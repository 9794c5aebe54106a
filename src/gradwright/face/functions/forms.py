"""From an operation to PyTorch's function: the builders that the face's modules share, and in-place forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.base.upward import slots
from gradwright.engine.apply import apply, apply_one, binary, unary
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.memory import unwritten
from gradwright.engine.mode import now
from gradwright.engine.node import operation, ticket
from gradwright.engine.view import assign, refresh, unhooked
from gradwright.face.reading.torch import NUMBER, operands, tensor_arg, to_dtype
from gradwright.ops import piecewise as _piecewise
from gradwright.ops.declare import Op, Rule
from gradwright.ops.shape import copy as _copy

if TYPE_CHECKING:
    from gradwright.face.typing import Binary, Property, Tensor, Unary

F = TypeVar("F", bound=Callable[..., Any])


def operator(op: Op, *, floating: bool = False, reflected: bool = False) -> Binary:
    """The operator method of ``op``: promotes its operands, and returns NotImplemented for what it cannot take."""

    def slow(x: Any, y: Any) -> Any:
        pair = operands(op, (x, y), floating=floating)
        if pair is not None and op.name == "subtract":
            refuse_booleans("-", x, y)
        if pair is not None:
            return apply(op, pair, {})
        for v in (x, y):
            if hasattr(v, "__array_namespace__") and not isinstance(v, (TensorBase, np.ndarray)):
                raise _stranger(op, v)  # its own operator would only refuse a Tensor, or drop its history
        if op.name == "multiply" and (_repeats(x) or _repeats(y)):
            _refuse_repeating(op, x, y)
        return slots.operand(method, *((y, x) if reflected else (x, y)))

    method = binary(op, (lambda x, y: slow(y, x)) if reflected else slow, floating=floating, reflected=reflected)
    return method


def _repeats(x: Any) -> bool:
    """Whether it is a sequence that Python would repeat, and does not say itself what a product with it is."""
    return any(isinstance(x, of) and type(x).__rmul__ is of.__rmul__ for of in (str, bytes, list, tuple))


def _refuse_repeating(op: Op, x: Any, y: Any) -> None:
    """TypeError for a tensor times a sequence, but for a whole number: by other ones Python would fail to repeat it."""
    t, other = (x, y) if isinstance(x, TensorBase) else (y, x)
    if t.array.size != 1 or dtypes.kind(t.array.dtype) not in "iu":
        raise _stranger(op, other)


def alike(op: Op, *values: Any) -> list[Any]:
    """Tensors, and numbers beside them, as tensors of one dtype; TypeError for anything else."""
    dtype = values[0].array.dtype if isinstance(values[0], TensorBase) else None
    if all(isinstance(v, TensorBase) and v.array.dtype is dtype for v in values):
        return list(values)
    found = operands(op, values)
    if found is None:
        wrong = next(v for v in values if not isinstance(v, (TensorBase, *NUMBER)))
        raise _stranger(op, wrong)
    return found


def _stranger(op: Op, wrong: Any) -> TypeError:
    return TypeError(f"{op.name}(): arguments must be Tensors or numbers, but got {kind(wrong)}")


def refuse_booleans(sign: str, *values: Any) -> None:
    """RuntimeError if one of the values is a boolean, which has no negative."""
    if any(isinstance(v, bool) or dtypes.boolean is getattr(v, "dtype", None) for v in values):
        raise RuntimeError(
            f"The `{sign}` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the "
            "`~` or `logical_not()` operator instead; of two masks use `^`."
        )


_ONE = "Shape: any, and the result has the same.\n\nDtypes: "
_TWO = "Shape: the arguments broadcast; RuntimeError if they do not.\n\nDtypes: converted to the common one"
_FLOATING = _ONE + "floating-point; integers and booleans are computed in the default one"
_COUNTING = _ONE + "any but bool (RuntimeError)"
_PAIR = _TWO + " (`result_type`)"
_PAIR_FLOATING = _PAIR + ", or to the default one if that is of integers or booleans"
_BOTH = {"input": "Tensor | Number", "other": "Tensor | Number", "return": "Tensor"}
TAKES = {"either": _BOTH, "other": _BOTH | {"input": "Tensor"}, "none": dict.fromkeys(_BOTH, "Tensor")}


def described(call: F, op: Op, facts: str, name: str = "") -> F:
    """``call`` under its name, if not that of its operation, with the docstring of that and facts of how it is made."""
    call.__name__ = call.__qualname__ = name or op.name
    others = "complex numbers too" if op.complex else "NotImplementedError for complex numbers"
    call.__doc__ = op.__doc__ and f"{op.__doc__}\n\n{facts}; {others}."
    return call


def function(op: Op, name: str = "", *, floating: bool = False, numbers: str = "either") -> Binary:
    """The function of two arguments; ``numbers``: which of them may be a number, "either", "other" or "none"."""
    method: Any = operator(op, floating=floating)
    swapped: Any = operator(op, floating=floating, reflected=True)

    def call(input: Any, other: Any) -> Any:
        if isinstance(input, TensorBase):
            if numbers == "none" and not isinstance(other, TensorBase):
                tensor_arg(op.name, other, "other", 2)
            out = method(input, other)
        elif numbers == "either":
            out = swapped(other, input) if isinstance(other, TensorBase) else NotImplemented
        else:
            tensor_arg(op.name, input)
        if out is NotImplemented:
            wrong = other if isinstance(input, TensorBase) else input
            raise _stranger(op, wrong)
        return out

    call.__annotations__ = TAKES[numbers]
    return described(call, op, _PAIR_FLOATING if floating else _PAIR, name)


def floating(op: Op) -> Unary:
    """A function that computes in floating point: integers and booleans become the default dtype first."""
    def slow(x: Any) -> Any:
        whole = dtypes.of(x.array.dtype).category < dtypes.FLOAT
        return apply_one(op, to_dtype(x, dtypes.default()) if whole else x, {})

    return described(unary(op, slow), op, _FLOATING)


def counting(op: Op, name: str = "") -> Unary:
    """A function of numbers, which refuses booleans."""

    def slow(x: Any) -> Any:
        if dtypes.of(x.array.dtype) is dtypes.boolean:
            raise RuntimeError(
                f"{op.name}(): argument 'input' must hold numbers, but its dtype is torch.bool; to invert a mask "
                "use ~ or logical_not(), else convert it with .to(dtype)"
            )
        return apply_one(op, x, {})

    return described(unary(op, slow), op, _COUNTING, name)


_nonzero = operator(_piecewise.not_equal)


def logical(op: Op, name: str) -> Binary:
    """The function of what is nonzero in two tensors."""
    method = operator(op)

    def call(input: Any, other: Any) -> Any:
        return method(_nonzero(tensor_arg(name, input), 0), _nonzero(tensor_arg(name, other, "other", 2), 0))

    call.__name__ = call.__qualname__ = name
    call.__annotations__ = TAKES["none"]
    call.__doc__ = f"{name} of what is nonzero in two tensors: of bool dtype.\n\n{_PAIR}; complex numbers too."
    return call


def without_slope(op: Op, *inputs: str) -> Op:
    """``op``, refusing to be differentiated in these inputs: NotImplementedError in the backward pass."""

    def refuse(xp: Any, g: Any) -> Any:
        raise NotImplementedError(f"the derivative of {op.name} with respect to this argument is not implemented.")

    return replace(op, rules=op.rules | dict.fromkeys(inputs, Rule(refuse, ())))


_WRITTEN = """: the result is written into the first argument, history and all, and that is returned.

Raises RuntimeError for a leaf that requires a gradient, for a result of another shape, and for one of a higher kind of
dtype (a float for integers); a backward pass that needs the old values says so then.
"""


def inplace(function: F, short: Any = None) -> F:
    """The in-place form of a function: its result is written into its first argument, history and all.

    What one operation saves of the old values is kept by `store`. A function made of several, which is noticed the
    first time, works on a copy. ``short`` is the short way of it (see `gradwright.face.reading.overwrite`), which only
    single operations have.
    """
    composite = False

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal composite
        if short is not None and len(args) == 1 and not kwargs and short(self, args[0]):
            return self
        there = unhooked(self)
        if now().watches and (copy := aside(there)) is not there:
            return store(self, function(copy, *[copy if a is self else a for a in args], **kwargs))
        start = ticket()
        if not composite:
            out = function(there, *args, **kwargs)
            composite = short is None and _is_composite(out, start, (there, *args, *kwargs.values()))
        if composite:
            out = function(apply_one(_copy, there, {}) if now().records else self, *args, **kwargs)
        return store(self, out)

    call.__name__ = call.__qualname__ = f"{function.__name__}_"
    call.__doc__ = f"In-place form of `{function.__name__}`{_WRITTEN}"
    call.__wrapped__ = function  # type: ignore[attr-defined]  # whose signature it has
    return cast("F", call)


def _is_composite(out: Any, start: int, given: Sequence[Any]) -> bool:
    """Whether an operation recorded since ``start`` stands between ``out`` and what was given, conversions apart."""
    last = () if out._node is None else out._node._edge()[0]._next
    nodes = {getattr(a, "_node", None) for a in given}
    return any(n._next and n._seq > start and n not in nodes and operation(n) != "ToCopy" for n in last)


def attribute(function: Callable[[Any], Tensor], *, writable: bool = False) -> Property:
    """A function of one tensor as an attribute of tensors; ``writable``: what is assigned is copied into its result."""

    def write(self: Any, values: Any) -> None:
        part: Any = function(self)
        part.copy_(values) if isinstance(values, TensorBase) else part.fill_(values)

    return cast("Property", property(function, write if writable else None))


def inplace_operator(method: Callable[..., Any], short: Any = None) -> Binary:
    """`inplace` for an operator of two arguments; ``short`` is its short way (`gradwright.face.reading.overwrite`)."""

    def call(self: Any, other: Any) -> Any:
        if short is not None and short(self, other):
            return self
        there = aside(unhooked(self)) if now().watches else unhooked(self)
        out = method(there, there if other is self else other)
        return out if out is NotImplemented else store(self, out)

    return cast("Binary", call)


def aside(x: Any) -> Any:
    """What an in-place form computes on: ``x``, or where a watch may hold on to what is saved of it, a copy of its own.

    The copy has the history of ``x``.
    """
    mode = now()
    if not mode.records or not isinstance(x, TensorBase) or not any(watch.keeps for watch in mode.watches):
        return x
    if x._view is not None:
        refresh(x)
    return wrap(unwritten(x.array), x._node)


def store(x: Any, out: Any) -> Any:
    """Write a result into ``x``; RuntimeError if its dtype is of a higher category than that of ``x``."""
    if out.array.dtype is not x.array.dtype:
        have, got = dtypes.of(x.array.dtype), dtypes.of(out.array.dtype)
        if got.category > have.category:
            names = [dtypes.LEGACY.get(d.name, d.name).removesuffix("Tensor") for d in (got, have)]
            raise RuntimeError(f"result type {names[0]} can't be cast to the desired output type {names[1]}: "
                               "convert the tensor that is written into first, or work out of place")  # fmt: skip
        out = to_dtype(out, have)
    return assign(x, out)
