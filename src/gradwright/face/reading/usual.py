"""The usual forms of arguments, read early: what is said here is what `gradwright.face.reading.torch` reads in full."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from gradwright.base import dtypes
from gradwright.engine.apply import direct
from gradwright.engine.base import TensorBase
from gradwright.face.reading.torch import numpy_names, sizes, tensor_arg
from gradwright.native import early
from gradwright.ops.declare import Op

if TYPE_CHECKING:
    from gradwright.face.typing import Listed

_F32, _F64 = dtypes.float32.dtype, dtypes.float64.dtype
F = TypeVar("F", bound=Callable[..., Any])


def reduction(op: Op, dimmed: Op) -> Callable[[F], F]:
    """`numpy_names` for a reduction, and an early way for a tensor of float32 or float64, alone or with one dim."""
    whole, along = direct(op), direct(dimmed)

    def decorate(function: F) -> F:
        in_full = numpy_names(function)

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if args and isinstance(x := args[0], TensorBase) and ((d := x.array.dtype) is _F32 or d is _F64):
                given = len(args) + len(kwargs)
                if given == 1:
                    return whole(x, {"axis": None, "keepdims": False})
                if given == 2:
                    dim, n = kwargs.get("dim") if kwargs else args[1], x.array.ndim
                    if dim.__class__ is int and -n <= dim < n:
                        return along(x, {"axis": (dim if dim >= 0 else dim + n,), "keepdims": False})
            return in_full(*args, **kwargs)

        return early(op.name, whole, along)(call)  # type: ignore[return-value]

    return decorate


def sizes_of(x: Any, given: Any) -> Any:
    """The shape that a tensor is to have, given as one or several sizes, -1 worked out; None if that is unusual."""
    if len(given) == 1 and isinstance(given[0], (tuple, list)):
        given = tuple(given[0])
    elif not given:
        return None
    rest, at = 1, None
    for k, n in enumerate(given):
        if n.__class__ is not int:
            return None
        if n >= 0:
            rest *= n
        elif n != -1 or at is not None:
            return None
        else:
            at = k
    if not isinstance(x, TensorBase):
        return None
    size = x.array.size
    if at is None:
        return given if rest == size else None
    return None if not rest or size % rest else (*given[:at], size // rest, *given[at + 1 :])


def shape_of(tensors: Any) -> tuple[int, ...]:
    """The shape of tensors in a list or tuple, if all have that and one dtype; () if not."""
    shape: Any = ()
    dtype = None
    for x in tensors if tensors.__class__ is list or tensors.__class__ is tuple else ():
        if not isinstance(x, TensorBase):
            return ()
        array = x.array
        if dtype is None:
            shape, dtype = array.shape, array.dtype
        elif array.dtype is not dtype or array.shape != shape:
            return ()
    return shape


def of_ints_and_slices(key: tuple[Any, ...]) -> bool:
    """Whether an index holds ints and slices without steps, at least one, and nothing else."""
    for k in key:
        if k.__class__ is not int and (k.__class__ is not slice or k.step is not None):
            return False
    return bool(key)


def listed(argument: str) -> Callable[[Callable[[Any, Any], Any]], Listed]:
    """A function f(x, sizes) that may also be called as f(x, *sizes), and with ``argument=sizes``."""

    def decorate(f: Callable[[Any, Any], Any]) -> Callable[..., Any]:
        name = f.__name__.strip("_")

        @wraps(f)
        def call(input: Any, *given: Any, **named: Any) -> Any:
            if named:
                if given or argument not in named or len(named) > 1:
                    wrong = next(n for n in named if given or n != argument)
                    raise TypeError(f"{name}() got an unexpected keyword argument {wrong!r}")
                given = (named[argument],)
            return f(tensor_arg(name, input), sizes(name, given, argument))

        return call

    return decorate
