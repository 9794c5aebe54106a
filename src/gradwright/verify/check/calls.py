"""What a subject is called with: sample calls, as its author gives them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradwright.base import dtypes
from gradwright.engine.base import TensorBase
from gradwright.verify.numeric.jacobian import is_floating, wider

_NARROWER = {"float64": "float32", "complex128": "complex64"}


def samples(*calls: Any) -> Callable[[Any], Any]:
    """Declare what a Function or operation is to be checked with: a decorator.

    Args:
        calls: for each call the tuple of its arguments; or one function without parameters that returns a list of
            such tuples, to be called when it is checked. The tensors that require grad are those looked at; if none
            does, all of floating point are. Best are few entries and no round values. Complex tensors claim that it
            is right for complex numbers.

    A static method ``samples`` on the class that returns a list of tuples is the same.

    >>> @samples((gw.tensor([0.3, -1.2]), 3.0))
    ... class Scale(gw.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x, factor):
    ...         ctx.factor = factor
    ...         return x * factor
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         return g * ctx.factor, None
    >>> Scale.samples()
    [(tensor([ 0.3000, -1.2000]), 3.0)]
    """
    made = calls[0] if len(calls) == 1 and callable(calls[0]) else lambda: list(calls)

    def declare(subject: Any) -> Any:
        subject.samples = staticmethod(made) if isinstance(subject, type) else made
        return subject

    return declare


@dataclass(frozen=True, eq=False)
class Arg:
    """A tensor among the arguments: its values, and whether its gradient is looked at."""

    array: Any
    grad: bool


@dataclass(frozen=True, eq=False)
class Call:
    """Arguments, with an `Arg` for every tensor, also in tuples, lists and dictionaries.

    Attributes:
        arguments: the tuple of them. names: what forward calls each of them. static: keywords, of an Op.
    """

    arguments: tuple[Any, ...]
    names: tuple[str, ...]
    static: dict[str, Any] = field(default_factory=dict)

    @property
    def args(self) -> list[Arg]:
        """The tensors, in order."""
        return args_in(self.arguments)

    @property
    def is_complex(self) -> bool:
        """Whether any tensor is complex."""
        return any(a.array.dtype.kind == "c" for a in self.args)

    @property
    def precision(self) -> str:
        """The dtype of the first tensor whose gradient is looked at; ``""`` if there is none."""
        return next((a.array.dtype.name for a in self.args if a.grad), "")

    def labels(self) -> list[str]:
        """A name for each tensor: ``x``, or ``pair[1]`` in a container."""
        found: list[str] = []
        for name, value in zip(self.names, self.arguments, strict=True):
            found += [name] if isinstance(value, Arg) else [f"{name}[{k}]" for k in range(len(args_in(value)))]
        return found

    def with_arrays(self, change: Callable[[int, Any], Any]) -> Call:
        """The same call with ``change(k, array)`` for the array of tensor number k."""
        count = itertools.count()
        arguments = mapped(self.arguments, lambda a: Arg(np.asarray(change(next(count), a.array)), a.grad))
        return Call(arguments, self.names, self.static)

    def precise(self) -> Call:
        """The same in float64 and complex128."""
        return self.with_arrays(lambda k, a: a.astype(wider(a.dtype)))

    def single(self) -> Call:
        """The same in float32 and complex64."""
        return self.with_arrays(lambda k, a: a.astype(_NARROWER.get(a.dtype.name, a.dtype)))

    def elsewhere(self) -> Call:
        """The same at another point, inside most domains that this one is inside of."""
        return self.with_arrays(lambda k, a: a * np.asarray(0.8731, a.dtype) if is_floating(a.dtype) else a)

    def tensors(self, T: Any, needed: Sequence[bool] | None = None,
                same: tuple[int, int] | None = None) -> tuple[tuple[Any, ...], list[Any]]:  # fmt: skip
        """The arguments with fresh tensors of the library ``T``, and those tensors.

        ``needed`` says which are to require grad; by default those whose gradient is looked at. ``same`` are two of
        them, the second of which is the tensor of the first.
        """
        found: list[Any] = []

        def tensor(a: Arg) -> Any:
            if same is not None and len(found) == same[1]:
                found.append(found[same[0]])
                return found[-1]
            t = tensor_of(_copy(a.array), T)
            found.append(t.requires_grad_() if (a.grad if needed is None else needed[len(found)]) else t)
            return t

        return mapped(self.arguments, tensor), found

    def __str__(self) -> str:
        parts = [f"{n}: {_described(v)}" for n, v in zip(self.names, self.arguments, strict=True)]
        return ", ".join([*parts, *(f"{k}={v!r}" for k, v in self.static.items())]) or "no arguments"


def array_of(t: Any) -> Any:
    """The array of a tensor of either library; of bfloat16 of PyTorch one is made, of float64 without ml_dtypes."""
    t = t.detach().resolve_conj()
    if isinstance(t, TensorBase) or str(t.dtype) != "torch.bfloat16":
        return t.numpy()
    wide = t.double().numpy()
    try:
        return wide.astype(dtypes.bfloat16.dtype)
    except ImportError:
        return wide


def tensor_of(array: Any, T: Any) -> Any:
    """A tensor of ``T`` over the memory of an array."""
    if hasattr(T, "_C") and array.dtype.name == "bfloat16":
        return T.from_numpy(array.view(np.int16)).view(T.bfloat16)
    return T.from_numpy(array)


def _copy(array: Any) -> Any:
    """A copy in the same order; what is read-only or not dense stays as it is, for the sake of its strides."""
    dense = array.flags.c_contiguous or array.flags.f_contiguous
    return array.copy(order="K") if dense and array.flags.writeable else array


def _described(value: Any) -> str:
    if isinstance(value, Arg):
        return f"{value.array.dtype.name} {value.array.shape}"
    return repr(mapped(value, _described))


def mapped(value: Any, change: Callable[[Any], Any], kind: Any = Arg) -> Any:
    """``value`` with everything of a kind in it changed, also in tuples, lists and dictionaries, which are new."""
    if isinstance(value, kind):
        return change(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[mapped(v, change, kind) for v in value])
    if type(value) in (tuple, list):
        return type(value)([mapped(v, change, kind) for v in value])
    return {k: mapped(v, change, kind) for k, v in value.items()} if type(value) is dict else value


def args_in(value: Any) -> list[Arg]:
    """Every `Arg` in an argument, in order."""
    found: list[Arg] = []
    mapped(value, found.append)
    return found


def flat(value: Any, T: Any) -> list[Any]:
    """The tensors in what a function was given, or returned."""
    if isinstance(value, T.Tensor):
        return [value]
    if isinstance(value, dict):
        value = tuple(value.values())
    return [t for v in value for t in flat(v, T)] if isinstance(value, (tuple, list)) else []


def read(arguments: Any, T: Any) -> Any:
    """Arguments as a user wrote them, with an `Arg` for every tensor."""
    found = mapped(arguments, lambda t: Arg(array_of(t), t.requires_grad), T.Tensor)
    if any(a.grad for a in args_in(found)):
        return found
    return mapped(found, lambda a: Arg(a.array, is_floating(a.array.dtype)))
