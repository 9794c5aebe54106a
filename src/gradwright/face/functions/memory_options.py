"""Options of what makes tensors that say how they are stored: ``layout=`` and ``pin_memory=``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypedDict

from gradwright.base.errors import kind
from gradwright.base.upward import above
from gradwright.face.functions.memory_format import jagged, layout, sparse_coo, strided
from gradwright.face.reading.keywords import unexpected


class Memory(TypedDict, total=False):
    """How a tensor is stored. ``pin_memory`` makes no difference: it is for copies to a CUDA device."""

    layout: layout | None
    pin_memory: bool | None


def is_sparse(function: Callable[..., Any], memory: Any) -> bool:
    """Whether ``memory``, arguments of ``function`` that are not empty, asks for a sparse tensor.

    TypeError for another argument or one of another type, NotImplementedError for another layout.
    """
    return _layout(function, memory) is sparse_coo


def strided_only(function: Callable[..., Any], memory: Any) -> None:
    """NotImplementedError if ``memory`` asks for a sparse tensor, which ``function`` does not make; `is_sparse`."""
    if is_sparse(function, memory):
        raise NotImplementedError(f"{function.__name__}(): makes torch.strided tensors, but got layout="
                                  f"{memory['layout']}: to_sparse() makes a sparse one of it")  # fmt: skip


def no_entries(shape: Any, **options: Any) -> Any:
    """A sparse tensor that is 0 everywhere."""
    return above("sparse_coo_tensor")(shape, **options)


def _layout(function: Callable[..., Any], memory: Any) -> layout:
    if not memory.keys() <= Memory.__annotations__.keys():
        code = inspect.unwrap(function).__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        raise unexpected(function.__name__, memory, (*names, *Memory.__annotations__))
    pinned, given = memory.get("pin_memory"), memory.get("layout")
    if not isinstance(pinned, bool | None):
        raise TypeError(f"{function.__name__}(): argument 'pin_memory' must be bool, not {kind(pinned)}")
    if not isinstance(given, layout | None):
        raise TypeError(f"{function.__name__}(): argument 'layout' must be torch.layout, not {kind(given)}")
    if given not in (None, strided, jagged, sparse_coo):
        raise NotImplementedError(f"{function.__name__}(): sparse tensors are in coordinate form here, but got layout="
                                  f"{given}: take torch.sparse_coo")  # fmt: skip
    return sparse_coo if given is sparse_coo else strided
