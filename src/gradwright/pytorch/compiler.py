"""``torch.compiler``, and what of ``torch._dynamo`` programs name: decorators and questions around `compile`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from gradwright.compilation.compile import BACKENDS, TORCHS

__all__ = [
    "allow_in_graph", "assume_constant_result", "cudagraph_mark_step_begin", "disable", "is_compiling",
    "is_dynamo_compiling", "is_exporting", "list_backends", "reset", "set_stance",
]  # fmt: skip


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None, **_: Any) -> Any:
    """``fn`` as it is; without one, a decorator that leaves functions as they are.

    `gradwright.compile` compares what it has made of a function with the function itself before it is used, so none has
    to be kept from it.
    """
    return fn if fn is not None else disable


def allow_in_graph(fn: Any) -> Any:
    """``fn`` as it is."""
    return fn


forbid_in_graph = disallow_in_graph = nonstrict_trace = assume_constant_result = allow_in_graph


def is_compiling() -> bool:
    """Whether this is being compiled by PyTorch: never."""
    return False


is_dynamo_compiling = is_exporting = is_compiling


def list_backends(exclude_tags: Any = ()) -> list[str]:
    """The names of what compiles, for ``backend=``."""
    return sorted({*BACKENDS, *TORCHS})


def reset() -> None:
    """Nothing: a compiled function has a ``reset`` of its own."""


cudagraph_mark_step_begin = graph_break = mark_dynamic = mark_static = maybe_mark_dynamic = lambda *_, **__: None


@contextlib.contextmanager
def _unchanged() -> Any:
    yield


def set_stance(stance: str = "default", **_: Any) -> Any:
    """A context that changes nothing: compiled functions give what the functions give, whatever the stance."""
    return _unchanged()


def optimize(*_: Any, **__: Any) -> Callable[[Any], Any]:
    """A decorator that leaves functions as they are; `gradwright.compile` compiles."""
    return disable
