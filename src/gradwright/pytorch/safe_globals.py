"""``torch.serialization.safe_globals`` and kin: what a pickle may name. No pickle is loaded here, whatever they say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "safe_globals"]

_Named = Callable[..., Any] | tuple[Callable[..., Any], str]
_added: dict[_Named, None] = {}


def add_safe_globals(safe_globals: Iterable[_Named]) -> None:
    """Add to what `get_safe_globals` says."""
    _added.update(dict.fromkeys(safe_globals))


def get_safe_globals() -> list[_Named]:
    """What has been added."""
    return [*_added]


def clear_safe_globals() -> None:
    """Forget what has been added."""
    _added.clear()


@contextmanager
def safe_globals(safe_globals: Iterable[_Named]) -> Iterator[None]:
    """A context at whose beginning these are added, and at whose end they are taken out."""
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        for name in safe_globals:
            _added.pop(name, None)
