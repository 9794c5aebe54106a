"""What a subject is called with: sample calls, given by its author or made up from the signature of forward."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

_WIDER = {"float16": "float64", "float32": "float64", "complex64": "complex128"}
_NARROWER = {"float64": "float32", "complex128": "complex64"}


def samples(*calls: Any) -> Callable[[Any], Any]:
    """Declare what a Function or operation is to be checked with: a decorator.

    Args:
        calls: for each call the tuple of its arguments; or one function without parameters that returns a list of
            such tuples, to be called when it is checked. The tensors that require grad are those looked at; if none
            does, all of floating point are. Best are few entries and no round values. Complex tensors claim that it
            is right for complex numbers.

    A static method ``samples`` on the class that returns a list of tuples is the same.

    >>> import gradwright as gw
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
        found: list[Arg] = []
        mapped(self.arguments, lambda a: found.append(a))
        return found

    @property
    def is_complex(self) -> bool:
        """Whether any tensor is complex."""
        return any(a.array.dtype.kind == "c" for a in self.args)

    def labels(self) -> list[str]:
        """A name for each tensor: ``x``, or ``pair[1]`` in a container."""
        found: list[str] = []
        for name, value in zip(self.names, self.arguments, strict=True):
            inside: list[Arg] = []
            mapped(value, inside.append)
            found += [name] if isinstance(value, Arg) else [f"{name}[{k}]" for k in range(len(inside))]
        return found

    def with_arrays(self, change: Callable[[int, Any], Any]) -> Call:
        """The same call with ``change(k, array)`` for the array of tensor number k."""
        count = itertools.count()
        arguments = mapped(self.arguments, lambda a: Arg(np.asarray(change(next(count), a.array)), a.grad))
        return Call(arguments, self.names, self.static)

    def precise(self) -> Call:
        """The same in float64 and complex128."""
        return self.with_arrays(lambda k, a: a.astype(_WIDER.get(a.dtype.name, a.dtype)))

    def single(self) -> Call:
        """The same in float32 and complex64."""
        return self.with_arrays(lambda k, a: a.astype(_NARROWER.get(a.dtype.name, a.dtype)))

    def elsewhere(self) -> Call:
        """The same at another point, inside most domains that this one is inside of."""
        return self.with_arrays(lambda k, a: a * np.asarray(0.8731, a.dtype) if a.dtype.kind in "fc" else a)

    def tensors(self, T: Any, needed: Sequence[bool] | None = None) -> tuple[tuple[Any, ...], list[Any]]:
        """The arguments with fresh tensors of the library ``T``, and those tensors.

        ``needed`` says which are to require grad; by default those whose gradient is looked at.
        """
        found: list[Any] = []

        def tensor(a: Arg) -> Any:
            t = T.from_numpy(_copy(a.array))
            found.append(t.requires_grad_() if (a.grad if needed is None else needed[len(found)]) else t)
            return t

        return mapped(self.arguments, tensor), found

    def __str__(self) -> str:
        parts = [f"{n}: {_described(v)}" for n, v in zip(self.names, self.arguments, strict=True)]
        return ", ".join([*parts, *(f"{k}={v!r}" for k, v in self.static.items())])


def _copy(array: Any) -> Any:
    """A copy in the same order; what is read-only or not dense stays as it is, for the sake of its strides."""
    dense = array.flags.c_contiguous or array.flags.f_contiguous
    return array.copy(order="K") if dense and array.flags.writeable else array


def _described(value: Any) -> str:
    if isinstance(value, Arg):
        return f"{value.array.dtype.name} {value.array.shape}"
    return repr(mapped(value, _described))


def mapped(value: Any, change: Callable[[Arg], Any]) -> Any:
    """``value`` with every `Arg` in it changed."""
    if isinstance(value, Arg):
        return change(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[mapped(v, change) for v in value])
    if type(value) in (tuple, list):
        return type(value)([mapped(v, change) for v in value])
    if type(value) is dict:
        return {k: mapped(v, change) for k, v in value.items()}
    return value


def read(arguments: Any, T: Any) -> Any:
    """Arguments as a user wrote them, with an `Arg` for every tensor."""
    tensors: list[Any] = []

    def made(value: Any) -> Any:
        if isinstance(value, T.Tensor):
            tensors.append(value)
            return Arg(value.detach().numpy(), value.requires_grad)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*[made(v) for v in value])
        if type(value) in (tuple, list):
            return type(value)([made(v) for v in value])
        return {k: made(v) for k, v in value.items()} if type(value) is dict else value

    found = made(arguments)
    if any(t.requires_grad for t in tensors):
        return found
    return mapped(found, lambda a: Arg(a.array, a.array.dtype.kind in "fc"))


# ---- made up ---------------------------------------------------------------------------------------------

_NUMBERS: dict[str, tuple[Any, ...]] = {
    "dim axis dims axes d": (-1, 0, 1),
    "eps epsilon tol": (1e-5,),
    "p n power exponent order degree k": (2, 3),
    "scale alpha beta gamma factor constant c gain slope negative_slope lambd lam tau temperature momentum lr": (0.7,),
    "min low lo lower min_val": (-0.9,),
    "max high hi upper max_val threshold bound": (0.9,),
    "training train inplace keepdim": (False,),
    "reduction": ("mean", "sum"),
    "size shape sizes": ((5,), (3, 4)),
    "groups stride dilation": (1,),
    "padding": (0, 1),
}
_WHOLE = ("idx", "index", "indices", "target", "targets", "label", "labels")
_TRUTH = ("mask",)
_SHAPES: tuple[tuple[tuple[int, ...], ...], ...] = (
    ((5,), (5,), (5,), (5,)),
    ((3, 4), (3, 4), (3, 4), (3, 4)),
    ((3, 4), (4, 2), (2,), (2,)),
    ((3, 4), (2, 4), (2,), (2,)),
    ((3, 4), (4,), (4,), (4,)),
    ((3, 3), (3, 3), (3,), (3,)),
    ((3, 4), (4,), (3,), ()),
    ((2, 3, 4), (2, 4, 3), (2, 3, 3), (3,)),
    ((1, 2, 5, 5), (3, 2, 3, 3), (3,), (3,)),
    ((1, 2, 6), (3, 2, 3), (3,), (3,)),
    ((), (), (), ()),
)


def guessed(forward: Any, skip: int) -> Iterator[Call]:
    """Calls that may suit a function, the likeliest first, from the names of its parameters but the first ``skip``."""
    parameters = list(inspect.signature(forward).parameters.values())[skip:]
    wanted: list[tuple[str, tuple[Any, ...] | None]] = []
    for p in parameters:
        if p.kind is p.VAR_POSITIONAL:
            wanted += [(f"{p.name}[0]", None), (f"{p.name}[1]", None)]
        elif p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            wanted.append((p.name, _numbers(p)))
    names = tuple(n for n, _ in wanted)
    unknown = sum(values is None for _, values in wanted)
    for low in (None, 0.3):
        for bare in range(min(unknown, 2)):  # the last of the unknown ones may be numbers
            for shapes in _SHAPES[: 1 if not unknown else None]:
                for numbers in itertools.product(*[v or (None,) for _, v in wanted]):
                    yield Call(tuple(_filled(names, numbers, wanted, shapes, low, unknown - bare)), names)


def _numbers(p: inspect.Parameter) -> tuple[Any, ...] | None:
    """What a parameter may be, if it is no tensor."""
    if p.default is not p.empty:
        return (p.default,) if p.default is not None else None
    if p.annotation in (float, "float", int, "int", bool, "bool"):
        return {"f": (0.7,), "i": (2, 1), "b": (False,)}[getattr(p.annotation, "__name__", p.annotation)[0]]
    return next((values for words, values in _NUMBERS.items() if p.name.lower() in words.split()), None)


def _filled(names: Any, numbers: Any, wanted: Any, shapes: Any, low: float | None, tensors: int) -> Iterator[Any]:
    random = np.random.default_rng(0)
    count = 0
    for name, number, (_, values) in zip(names, numbers, wanted, strict=True):
        if values is not None:
            yield number
            continue
        shape = shapes[min(count, len(shapes) - 1)]
        count += 1
        size = random.uniform(0.3, 1.9, shape)
        if name.lower() in _WHOLE:
            yield Arg(random.integers(0, 3, shape[:1]), False)
        elif name.lower() in _TRUTH:
            yield Arg(np.asarray(size > 1), False)
        elif count > tensors:
            yield 0.7
        else:
            signs = random.choice([-1.0, 1.0], shape) if low is None else 1.0
            yield Arg(np.asarray(size * signs), True)
