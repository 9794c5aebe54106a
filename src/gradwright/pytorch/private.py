"""Small things that programs take from PyTorch's private modules ``_utils`` and ``_jit_internal``."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from contextlib import ContextDecorator, contextmanager
from itertools import accumulate
from typing import Any

from gradwright.engine.backward import accumulating
from gradwright.engine.base import TensorBase
from gradwright.face.functions.join import cat
from gradwright.face.reading.torch import destination
from gradwright.func import vmap
from gradwright.function.contract.tree_nodes import is_namedtuple_instance
from gradwright.pytorch.compiler import is_compiling
from gradwright.pytorch.jit import Final, Future, export, ignore, is_scripting, unused

__all__ = [
    "Final", "Future", "_flatten_dense_tensors", "_overload", "_overload_method",
    "_unflatten_dense_tensors", "_unsafe_preserve_version_counter", "boolean_dispatch",
    "export", "ignore", "is_compiling", "is_scripting", "set_multithreading_enabled", "unused",
]  # fmt: skip

_overload = _overload_method = export


def boolean_dispatch(arg_name: str, arg_index: int, default: bool, if_true: Any, if_false: Any, module_name: Any = None,
                     func_name: Any = None) -> Callable[..., Any]:  # fmt: skip
    """A function that is ``if_true`` or ``if_false``, as one of its arguments says."""

    def call(*args: Any, **kwargs: Any) -> Any:
        flag = args[arg_index] if len(args) > arg_index else kwargs.get(arg_name, default)
        return (if_true if flag else if_false)(*args, **kwargs)

    return call


def _addindent(s_: str, numSpaces: int) -> str:
    """A text with all lines but the first moved to the right."""
    return s_.replace("\n", "\n" + " " * numSpaces)


def _vmap(func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0,
          allow_none_pass_through: bool = False) -> Callable[..., Any]:  # fmt: skip
    """`gradwright.vmap`; TypeError for ``allow_none_pass_through``."""
    if allow_none_pass_through:
        raise TypeError("_vmap(allow_none_pass_through=True): each result of a batch must be a tensor here, not None")
    return vmap(func, in_dims, out_dims)


def _parse_to(*args: Any, non_blocking: bool = False, memory_format: Any = None, dtype: Any = None,
              device: Any = None) -> tuple[Any, Any, bool, Any]:  # fmt: skip
    """The device, dtype, ``non_blocking`` and memory format that the arguments of a ``to`` name."""
    dtype, device, _ = destination(args, dtype, device)
    return device, dtype, non_blocking, memory_format


def _get_node_type(tree: Any) -> Any:
    """Under which class trees take a value apart: its own, or `collections.namedtuple` for all of these."""
    return namedtuple if is_namedtuple_instance(tree) else type(tree)


def _is_checkpoint_valid() -> bool:
    """Whether a backward pass, were one running, would accumulate into leaves: yes, where none runs."""
    return accumulating.get(True)


@contextmanager
def _unsafe_preserve_version_counter(tensors: Any) -> Iterator[None]:
    """A context after which tensors count as not written, so that their saved values are taken as valid."""
    counters = [t._counter for t in ((tensors,) if isinstance(tensors, TensorBase) else tensors)]
    versions = [counter[0] for counter in counters]
    try:
        yield
    finally:
        for counter, version in zip(counters, versions, strict=True):
            counter[0] = version


class set_multithreading_enabled(ContextDecorator):
    """Nothing, for a ``with`` block, a function that it decorates, or from the call on.

    A backward pass runs in the thread that calls it anyway.
    """

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        """Nothing changes."""

    def __exit__(self, *_: object) -> None:
        """Nothing has changed."""


def _flatten_dense_tensors(tensors: Sequence[Any]) -> Any:
    """All entries of some tensors as one vector."""
    return cat([t.contiguous().view(-1) for t in tensors])


def _unflatten_dense_tensors(flat: Any, tensors: Sequence[Any]) -> tuple[Any, ...]:
    """A vector as views of the shapes of some tensors."""
    ends = accumulate(t.numel() for t in tensors)
    return tuple(flat[end - t.numel() : end].view_as(t) for end, t in zip(ends, tensors, strict=True))
