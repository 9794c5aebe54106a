"""The Python side of extension.h: what its runtime calls to make a module, and where a call is no longer fast.

The runtime reads the entries of arrays by itself. It comes here for what tensors know (history, versions), for arrays
that do not fit as they are, and for errors. ``whose`` says whose argument it is: a function, its method (of a Function:
forward or backward), the names of its parameters, and which of them; the function is "" if that is not known.

Derivatives of elementwise operations that are given are operations themselves, with a factor u: u * f'(x) is the
gradient of f, given that u of its result. The derivative of u * f'(x) is f'(x) by u, and u * f''(x) by x: so one rule
makes all orders.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

import gradwright
from gradwright.base import dtypes
from gradwright.base.errors import kind, size
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.memory import writable
from gradwright.engine.mode import is_grad_enabled
from gradwright.engine.version import bump
from gradwright.engine.view import check_writable, refresh
from gradwright.function.contract.once_differentiable import once_differentiable
from gradwright.function.custom_op import CustomOp
from gradwright.function.function import Function, FunctionMeta
from gradwright.function.watched.in_backward import brought, is_guarded, is_repeatable, leaves

Orders = tuple[int, int]
_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
_WHOLE = r"\d+[uUlL]*(?![\w.])"
_CHAIN = re.compile(rf"(?<![\w.])(?<![\d.][eE][-+]){_WHOLE}(?:\s*[*/]\s*{_WHOLE})+")
"""A product or quotient of whole numbers."""


def truncated(code: str) -> str:
    """What is wrong with C++ in which whole numbers are divided to what is none; "" if nothing is."""
    for chain in _CHAIN.finditer(code):
        if code[: chain.start()].rstrip().endswith(("*", "/")):
            continue  # what stands before it decides
        first, *rest = re.findall(r"[*/]?\s*\d+", chain[0])
        value = int(first)
        for step in rest:
            by = int(step[1:])
            if step[0] == "/" and (by == 0 or value % by):
                mend = re.sub(r"^(\d+)[uUlL]*", r"\1.0", chain[0])
                was = f"{value // by} in C++, which divides whole numbers to whole numbers" if by else "not defined"
                return f"{value}/{by} is {was}: write {mend}"
            value = value // by if step[0] == "/" else value * by
    return ""


def elementwise(module: str, name: str, kernels: Mapping[Orders, Callable[..., None]], inputs: int, place: str,
                expressions: str) -> Any:  # fmt: skip
    """The operation, whose loops are given by how often they differentiate by x and by y; the rest it makes of them.

    ``kernel(*arrays, out)`` writes into a new array. ``expressions`` are those of the macro, for the docstring.
    """
    made: dict[Orders, Any] = {}

    def derivative(by_x: int, by_y: int, *values: Any) -> Any:
        """u times a derivative, of (u, x) or (u, x, y): an operation on tensors, computed at once on arrays."""
        orders = by_x, by_y
        if orders not in kernels:
            which = "".join(["x"] * by_x + ["y"] * by_y)
            raise NotImplementedError(
                f"{name}(): its derivative by {which} is not given: add it to the macro that declares {name}, at "
                f"{place}"
            )
        if not any(isinstance(v, TensorBase) for v in values):
            return _computed(name, kernels[orders], values)
        if orders not in made:
            made[orders] = _scaled(module, name, kernels[orders], inputs, derivative, orders)
        return made[orders](*values)

    op = _operation(name, name, kernels[0, 0], ("x", "y")[:inputs])
    if inputs == 1 and (1, 0) in kernels:
        op.vjp(x=lambda xp, g, x: derivative(1, 0, g, x))
        op.jvp(x=lambda xp, t, x: derivative(1, 0, t, x))
    elif (1, 0) in kernels:
        op.vjp(x=lambda xp, g, x, y: derivative(1, 0, g, x, y), y=lambda xp, g, x, y: derivative(0, 1, g, x, y))
        op.jvp(x=lambda xp, t, x, y: derivative(1, 0, t, x, y), y=lambda xp, t, x, y: derivative(0, 1, t, x, y))
    what = "value and derivatives" if len(kernels) > 1 else "value"
    return _placed(op, module, f"Elementwise; its {what}: {expressions}\n\nRegistered in C++ at {place}.")


def _scaled(module: str, name: str, kernel: Callable[..., None], inputs: int, derivative: Callable[..., Any],
            orders: Orders) -> Any:  # fmt: skip
    """The operation u * (a derivative of the operation called ``name``)."""
    i, j = orders
    op: Any = _operation(name, f"{name}_{'x' * i}{'y' * j}", kernel, ("u", "x", "y")[: 1 + inputs])
    if inputs == 1:
        op.vjp(u=lambda xp, g, x: derivative(i, j, g, x), x=lambda xp, g, u, x: derivative(i + 1, j, g * u, x))
    else:
        op.vjp(
            u=lambda xp, g, x, y: derivative(i, j, g, x, y),
            x=lambda xp, g, u, x, y: derivative(i + 1, j, g * u, x, y),
            y=lambda xp, g, u, x, y: derivative(i, j + 1, g * u, x, y),
        )
    return _placed(op, module, f"u times a derivative of {name}.")


def _operation(name: str, title: str, kernel: Callable[..., None], inputs: Sequence[str]) -> CustomOp[..., Any]:
    """What a loop of the operation ``name`` computes of inputs of these names, as the operation ``title``."""

    def op(*tensors: Any) -> Any:
        for t in tensors:
            if not isinstance(t, TensorBase):
                raise TypeError(f"{name}(): expected a Tensor, but got {type(t).__name__}")
        return wrap(_computed(name, kernel, [t.array for t in tensors]))

    how = inspect.Parameter.POSITIONAL_OR_KEYWORD
    op.__name__ = op.__qualname__ = title
    op.__signature__ = inspect.Signature([inspect.Parameter(n, how) for n in inputs])  # type: ignore[attr-defined]
    return CustomOp(op, kind="elementwise")


def _placed(op: Any, module: str, doc: str) -> Any:
    for thing in (op, op.__wrapped__, op.function):
        thing.__module__, thing.__doc__ = module, doc
    return op


def _computed(name: str, kernel: Callable[..., None], values: Sequence[Any]) -> Any:
    """What a loop makes of arrays, which are broadcast."""
    arrays = [np.asarray(a) for a in values]
    d, shape = arrays[0].dtype, arrays[0].shape
    if d not in _FLOATS or any(a.dtype != d for a in arrays):
        found = " and ".join(dict.fromkeys(dtypes.of(a.dtype).name for a in arrays))
        raise RuntimeError(f"{name}(): expected float32 or float64 tensors, all of one dtype, but found {found}")
    if any(a.shape != shape for a in arrays):
        try:
            arrays = list(np.broadcast_arrays(*arrays))
        except ValueError:
            shapes = ", ".join(str([*a.shape]) for a in arrays)
            raise RuntimeError(f"{name}(): the shapes {shapes} cannot be broadcast together") from None
        shape = arrays[0].shape
    out = np.empty(shape, d)
    kernel(*arrays, out)
    return out


PROTOCOL = 3
"""That of extension.h: raised when one of the functions here that runtime.cpp calls is no longer as it was."""

Whose = tuple[str, str, str, int]
Wanted = tuple[str, int, int, bool, bool]

_places: ContextVar[Mapping[str, tuple[str, int]]] = ContextVar("where inline sources are written")


@contextmanager
def places(known: Mapping[str, tuple[str, int]]) -> Iterator[None]:
    """While a module is imported: the file and line where each source begins that has a label for its file."""
    token = _places.set(known)
    try:
        yield
    finally:
        _places.reset(token)


# -- what a module is made of --


def agree(module: ModuleType, protocol: int, version: str) -> None:
    """ImportError if an extension was built with a gradwright whose runtime does not understand this one."""
    if protocol != PROTOCOL:
        raise ImportError(
            f"{module.__name__} was built with gradwright {version}, whose C++ extensions gradwright "
            f"{gradwright.__version__}, which is installed, cannot talk to: build it again, with pip install "
            "--force-reinstall --no-cache-dir, or install the gradwright that it was built with", name=module.__name__
        )  # fmt: skip


def define(module: ModuleType, sort: str, name: str, arguments: str, about: Any, count: int, entries: Sequence[Any],
           raw: bool, file: str, line: int) -> Any:  # fmt: skip
    """Make what one macro has registered, and set it on the module.

    ``about``: the types of the arguments; of an elementwise operation, its expressions.
    """
    known = _places.get({})
    if file in known:
        file, start = known[file]
        line += start - 1
    name = name.rpartition("::")[2]
    names = _named(arguments)
    if name in vars(module):
        raise ImportError(f"{name}, registered at {file}:{line}, has the name of something registered before it")
    if names and len(names) != count:
        raise ImportError(
            f"{name}, registered at {file}:{line}, takes {count} argument{'s' * (count != 1)}, but {len(names)} "
            f"{'is' if len(names) == 1 else 'are'} named: {', '.join(names)}"
        )
    if sort == "function":
        made = entries[0]
    elif sort == "autograd":
        made = _function(module.__name__, name, signature(arguments, count, about), entries, raw, file, line)
    else:
        if wrong := truncated(about):
            raise ImportError(f"{name}, registered at {file}:{line}: {wrong}")
        kernels = {(by_x, by_y): run for by_x, by_y, run in entries}
        made = elementwise(module.__name__, name, kernels, count, f"{file}:{line}", about)
    if sort != "function":
        made.__gradwright_place__ = file, line
        module.__gradwright_extension__ = True  # type: ignore[attr-defined]
    setattr(module, name, made)
    return made


def _named(arguments: str) -> list[str]:
    return [name.strip() for name in arguments.split(",") if name.strip()]


def signature(arguments: str, count: int, types: Sequence[str]) -> inspect.Signature:
    """That of a C++ function, as far as Python has names for the types."""
    how, empty = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
    names = _named(arguments) or [f"arg{k}" for k in range(count)]
    return inspect.Signature([
        inspect.Parameter(name, how, annotation=_type(text) or empty) for name, text in zip(names, types, strict=False)
    ])  # fmt: skip


def shown(arguments: str, count: int, types: Sequence[str]) -> str:
    """The signature as the documentation of the function has it."""
    return str(signature(arguments, count, types)).replace("'", "")


def _type(text: str) -> str:
    """What nanobind calls the type of a parameter, as Python does; "" if it has no name there."""
    if "@" in text:
        text = re.sub(r"@([^@]*)@[^@]*@", r"\1", text).replace("collections.abc.", "")
    return "" if "%" in text or text.startswith(" ") else text


def _function(module: str, name: str, shown: inspect.Signature, entries: Sequence[Any], raw: bool, file: str,
              line: int) -> Any:  # fmt: skip
    """The Function class of a C++ struct."""
    forward, backward = (
        _method(entry, part, f"{name}.{part}", file, line)
        for entry, part in zip(entries, ("forward", "backward"), strict=True)
    )
    ctx = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    forward.__signature__ = inspect.Signature([ctx, *shown.parameters.values()])  # type: ignore[attr-defined]
    return FunctionMeta(name, (Function,), {
        "__module__": module, "__doc__": f"The C++ Function {name}, registered at {file}:{line}.",
        "forward": staticmethod(forward), "backward": staticmethod(once_differentiable(backward) if raw else backward),
    })  # fmt: skip


def _method(entry: Any, part: str, name: str, file: str, line: int) -> Callable[..., Any]:
    """A function that calls C++, and is said to be written where that is."""
    call = lambda ctx, *values: entry(ctx, *values)  # a builtin has no code that could be placed
    call.__code__ = call.__code__.replace(co_filename=file, co_firstlineno=line, co_name=part, co_qualname=name)
    call.__name__, call.__qualname__ = part, name
    return call


def ordered(values: Sequence[Any], named: Mapping[str, Any], name: str, arguments: str, count: int) -> tuple[Any, ...]:
    """The arguments of a function by position. TypeError, in Python's words, if they do not fit."""
    known = signature(arguments, count, [""] * count)
    try:
        return known.bind(*values, **named).args
    except TypeError as e:
        raise TypeError(f"{name.rpartition('::')[2]}{known}: {e}") from None


# -- arguments --


def array_of(value: Any, write: bool) -> Any:
    """The memory of a Tensor or of a NumPy array, which C++ will read, or ``write``; None for whatever else it is."""
    if not isinstance(value, TensorBase):
        return value if type(value) is np.ndarray else None
    if value._view is not None:
        refresh(value)
    if not leaves(value, "C++ code", True) and is_grad_enabled() and value.requires_grad:
        return None
    if not write:
        return value.array
    check_writable(value, False)
    array = writable(value)
    bump(value._counter)
    return array


def refused(value: Any, write: bool, whose: Whose) -> Any:
    """The memory of something else that is an array, on the CPU. Raises TypeError if it is none."""
    function, argument = _who(whose)
    if isinstance(value, TensorBase):
        raise _lost(whose)
    if isinstance(value, np.ndarray):
        if isinstance(value, np.ma.MaskedArray):
            raise TypeError(f"{function}: {argument} is a NumPy masked array, whose mask would be lost: pass what its "
                            "filled() gives")  # fmt: skip
        return np.asarray(value)
    if hasattr(value, "__dlpack_device__"):
        device = value.__dlpack_device__()
        if int(device[0]) != 1:
            where = getattr(value, "device", None) or f"DLPack device {tuple(map(int, device))}"
            raise RuntimeError(
                f"{function}: expected {argument} to be on cpu, but found it on {where}: bring it there first"
            )
        try:
            return np.from_dlpack(value)
        except (BufferError, RuntimeError, TypeError, ValueError) as e:
            raise TypeError(f"{function}: {argument}, {_a(value)}, cannot be read: {e}") from e
    if isinstance(value, np.generic) or (hasattr(value, "__buffer__") or isinstance(value, (memoryview, bytearray))):
        return np.asarray(value)
    raise TypeError(f"{function}: {argument} must be a Tensor or an array, but got {_a(value)}")


def _lost(whose: Whose) -> RuntimeError:
    function, argument = _who(whose)
    return RuntimeError(
        f"{function}: {argument} requires grad, but what C++ computes outside of a Function is not recorded, and its "
        f"gradient would be lost: pass {_short(whose)}.detach(), or make a Function of it (GRADWRIGHT_FUNCTION)"
    )


def expect_unrecorded(value: Any, whose: Whose) -> None:
    """RuntimeError if a tensor that becomes a number, or whatever else C++ wants, loses its history by that."""
    if value.requires_grad and is_grad_enabled() and not is_guarded():
        raise _lost(whose)


def misshapen(shape: tuple[int, ...], wanted: tuple[int, ...], whose: Whose) -> None:
    """Raise RuntimeError for an array that is not of the shape that is wanted, in which -1 is any size."""
    function, argument = _who(whose)
    due = ", ".join("*" if n == -1 else str(n) for n in wanted)
    raise RuntimeError(f"{function}: expected {argument} to have shape [{due}], but it has {size(shape)}")


def fitted(array: Any, wanted: Wanted, whose: Whose) -> Any:
    """An array that does not fit, as one that does, if it is a Function's and only lies in memory otherwise.

    Raises RuntimeError that says what does not fit.
    """
    letter, width, ndim, contiguous, write = wanted
    function, argument = _who(whose)
    found = array.dtype
    if _kind(found) != letter or found.itemsize != width:
        due, got = (_SCALARS.get(f"{k}{n}") for k, n in ((letter, width), (_kind(found), found.itemsize)))
        mend = f": convert it with to(gradwright.{_dtype(letter, width).name})" if got else ""
        raise RuntimeError(f"{function}: expected scalar type {due} but found {got or found} for {argument}{mend}")
    if ndim not in (-1, array.ndim) or array.ndim > 32:
        due = f"{ndim} dim{'s' * (ndim != 1)}" if ndim >= 0 else "at most 32 dims"
        raise RuntimeError(f"{function}: expected {argument} to have {due}, but it has {array.ndim}: its shape is "
                           f"{size(array.shape)}")  # fmt: skip
    if write and not array.flags.writeable:
        raise RuntimeError(f"{function}: {argument} is changed in place, but its memory is read-only: make a copy, "
                           f"pass that, and use it from then on: y = {_short(whose)}.clone()")  # fmt: skip
    if whose[1] and not write:
        return array.astype(found.newbyteorder("="), order="C")
    if contiguous and not array.flags.c_contiguous:
        steps = tuple(step // width for step in array.strides)
        raise RuntimeError(f"{function}: expected {argument} to be contiguous, but its strides are {steps}, with shape "
                           f"{size(array.shape)}: {_copied(whose, write)}")  # fmt: skip
    raise RuntimeError(f"{function}: the memory of {argument} is not aligned, or its bytes are in another order: pass "
                       f"a copy of it{', and copy that back' * write}")  # fmt: skip


def _copied(whose: Whose, write: bool) -> str:
    """The mend for an array that is not contiguous."""
    x = _short(whose)
    y = "y" if x != "y" else "z"
    mend = f"it is changed in place, so {y} = {x}.contiguous(), pass {y}, and then {x}.copy_({y})"
    return mend if write else f"pass {x}.contiguous()"


def wrong_type(value: Any, wanted: str, whose: Whose) -> None:
    """Raise TypeError for an argument that is no array; OverflowError for a number that does not fit into C++'s."""
    function, argument = _who(whose)
    if wanted in ("int", "float") and isinstance(value, int):
        raise OverflowError(f"{function}: {argument} is {value}, which the {wanted} that C++ takes there cannot hold")
    raise TypeError(f"{function}: {argument} must be {_type(wanted) or _UNBOUND}, but got {_a(value)}")


_UNBOUND = ("of a class that is bound (for std::string, std::vector and their kind: #include <nanobind/stl/string.h>, "
            "<nanobind/stl/vector.h> ...)")  # fmt: skip


def is_double(x: Any) -> bool | None:
    """Whether a tensor is float64, and not float32; None if it is neither."""
    d = np.asarray(x.array).dtype if isinstance(x, TensorBase) else None
    return _DOUBLE.get(d)


_DOUBLE = {np.dtype(np.float64): True, np.dtype(np.float32): False}


def no_float(x: Any, whose: Whose) -> None:
    """Raise TypeError for what is_double has no answer to."""
    function, argument = _who(whose)
    found = f"one of {dtypes.of(np.asarray(x.array).dtype).name}" if isinstance(x, TensorBase) else _a(x)
    raise TypeError(f"{function}: {argument} must be a Tensor of float32 or float64, but got {found}")


def _who(whose: Whose) -> tuple[str, str]:
    """The names in messages of a function, and of an argument of it."""
    function, method, arguments, index = whose
    function = function.rpartition("::")[2]
    names = _named(arguments)
    if index < -1:
        argument = f"saved tensor {-2 - index}"
    elif method == "backward":
        argument = f"grad_output {index - 1}" if index > 0 else "a tensor"
    else:
        index -= bool(method)
        argument = f"argument {names[index]!r}" if 0 <= index < len(names) else f"argument {index}"
        argument = argument if index >= 0 else "a tensor"
    return (f"{function}.{method}" if method else f"{function}()") if function else "C++ code", argument


def _short(whose: Whose) -> str:
    """The name of the argument in a mend."""
    quoted = _who(whose)[1].split("'")
    return quoted[1] if quoted[1:] else "x"


def _a(value: Any) -> str:
    name = kind(value)
    return "None" if value is None else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _kind(d: Any) -> str:
    return str(d.kind)


_SCALARS = {"b1": "Bool", "u1": "Byte", "i1": "Char", "i2": "Short", "i4": "Int", "i8": "Long", "f2": "Half",
            "f4": "Float", "f8": "Double", "V2": "BFloat16", "c8": "ComplexFloat", "c16": "ComplexDouble",
            "u2": "UInt16", "u4": "UInt32", "u8": "UInt64"}  # fmt: skip
"""The names of dtypes in PyTorch's messages."""


# -- results --


def allocate(letter: str, width: int, shape: tuple[int, ...], zero: bool) -> Any:
    """A new tensor, for C++ to fill."""
    if shape and min(shape) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(shape)}: {size(shape)}")
    make = np.zeros if zero or is_repeatable() else np.empty
    return brought(wrap(make(shape, _dtype(letter, width))))


@cache
def _dtype(letter: str, width: int) -> np.dtype[Any]:
    return np.dtype(bool) if letter == "b" else np.dtype(f"{letter}{width}")


def as_tensor(result: Any) -> Any:
    """A result of C++: an array as a Tensor, anything else as it is."""
    if isinstance(result, TensorBase) or not hasattr(result, "__dlpack__"):
        return result
    return brought(wrap(result if isinstance(result, np.ndarray) else np.from_dlpack(result)))
