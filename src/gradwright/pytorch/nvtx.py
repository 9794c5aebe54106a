"""``torch.cuda.nvtx``: marks for NVIDIA's profilers, which are not made; what they mark runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]


def mark(msg: str) -> None:
    """Nothing."""


def range_push(msg: str) -> int:
    """0, where PyTorch has how many ranges are open."""
    return 0


def range_pop() -> int:
    """0, as `range_push`."""
    return 0


def range_start(msg: str) -> int:
    """A number for `range_end`."""
    return 0


def range_end(range_id: int) -> None:
    """Nothing."""


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A context, or a decorator, that marks nothing; ``msg.format(*args, **kwargs)`` would be its name."""
    yield
