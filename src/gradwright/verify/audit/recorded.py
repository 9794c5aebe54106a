"""A call that a program has made, with copies of what it was given, and a print of what came out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from gradwright.base import dtypes
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.view import refresh
from gradwright.verify.check.calls import Arg, args_in, mapped
from gradwright.verify.numeric.streams import Streams


class Print(NamedTuple):
    """The digest of a result: enough to know it again, to the bit or up to rounding."""

    shape: tuple[int, ...]
    dtype: str
    digest: bytes
    length: float


@dataclass(eq=False)
class Met:
    """A Function or an operation that the program has called.

    Attributes:
        kind: ``function``, ``custom_op``, ``op``, ``torch`` or ``torch op``.
        target: the class, or the operation. T: its library.
        name: what it is called.
        calls: how many calls were heard that require a gradient; unrecorded: how many that do not.
        recorded: those that were kept. keys: the kinds of calls among them. left: why others were not.
    """

    kind: str
    target: Any
    T: Any
    name: str
    calls: int = 0
    unrecorded: int = 0
    recorded: list[Recorded] = field(default_factory=list)
    keys: set[Any] = field(default_factory=set)
    left: dict[str, int] = field(default_factory=dict)

    def leave(self, reason: str) -> None:
        """A call is not looked at, for this reason."""
        self.left[reason] = self.left.get(reason, 0) + 1


@dataclass(eq=False)
class Recorded:
    """One call.

    Attributes:
        met: what was called. number: the how manieth call it was.
        arguments: a tuple, with an `Arg` for every tensor, whose ``array`` is a copy of the tensor. static: keywords.
        streams: where random numbers stood. prints: of the tensors that came out. seconds: how long it took.
        where: in which process, if that was another.
    """

    met: Met
    number: int
    arguments: tuple[Any, ...]
    static: dict[str, Any]
    streams: Streams
    prints: tuple[Print, ...] = ()
    seconds: float = 0.0
    where: str = ""

    @property
    def args(self) -> list[Arg]:
        """Its tensors, each once."""
        return [*{id(a): a for a in args_in((self.arguments, self.static))}.values()]

    @property
    def room(self) -> int:
        """How many bytes it holds."""
        return sum(nbytes(a.array) for a in self.args)

    def described(self, names: list[str]) -> str:
        """The call in a line: ``call 3: x: float32 [32, 10], factor: 2.0``."""
        said = [f"{n}: {_described(v)}" for n, v in zip(names, self.arguments, strict=False)]
        said += [f"{k}={_described(v)}" for k, v in self.static.items()]
        return f"call {self.number}{self.where}: {', '.join(said) or 'no arguments'}"


def _described(value: Any) -> str:
    if isinstance(value, Arg):
        return f"{dtype_of(value.array)} {list(value.array.shape)}"
    if isinstance(value, np.ndarray):
        return f"array of {value.dtype.name} {list(value.shape)}"
    if isinstance(value, (tuple, list)):
        inside = ", ".join(map(_described, value[:4])) + (", ..." if len(value) > 4 else "")
        return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
    said = repr(value)
    return said if len(said) <= 60 else f"{said[:57]}..."


def dtype_of(tensor: Any) -> str:
    """The name of a tensor's dtype, without a library's."""
    return str(tensor.dtype).rpartition(".")[2]


def nbytes(tensor: Any) -> int:
    """How many bytes a tensor has."""
    return int(tensor.array.nbytes) if isinstance(tensor, TensorBase) else int(tensor.numel() * tensor.element_size())


def is_moving(tensor: Any) -> bool:
    """Whether a tensor is of floating point, or complex."""
    if isinstance(tensor, TensorBase):
        return dtypes.of(tensor.array.dtype).category >= dtypes.FLOAT
    return bool(tensor.is_floating_point() or tensor.is_complex())


def copied(tensor: Any) -> Any:
    """A tensor of the same numbers, with memory and history of its own; its strides where it is dense."""
    if isinstance(tensor, TensorBase):
        if tensor._view is not None:
            refresh(tensor)
        return wrap(np.array(tensor.array, order="K"))
    return tensor.detach().clone()


def printed(tensor: Any) -> Print:
    """The print of a tensor."""
    array = numbers(tensor)
    with np.errstate(all="ignore"):
        length = float(np.linalg.norm(np.where(np.isfinite(array), array, 0).reshape(-1)))
    return Print(array.shape, dtype_of(tensor), hashlib.blake2b(array.tobytes(), digest_size=16).digest(), length)


def numbers(tensor: Any) -> Any:
    """The numbers of a tensor of either library as an array of float64 or complex128."""
    if isinstance(tensor, TensorBase):
        if tensor._view is not None:
            refresh(tensor)
        array = np.asarray(tensor.array)
        return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
    flat = tensor.detach().resolve_conj().cpu()
    flat = flat.to(flat.new_zeros(()).double().dtype) if not flat.is_complex() else flat.cdouble()
    return flat.numpy().copy()


def copies(value: Any, tensor: Callable[[Any], Any], T: Any) -> Any:
    """An argument, with copies of what may be changed later: tensors, arrays, lists, dictionaries and sets."""
    return mapped(value, lambda v: tensor(v) if isinstance(v, T.Tensor) else v.copy(), (T.Tensor, np.ndarray, set))
