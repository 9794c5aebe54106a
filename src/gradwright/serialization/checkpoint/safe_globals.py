"""``torch.serialization.safe_globals`` and kin: the classes and functions that a PyTorch file may name besides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "safe_globals"]

_Named = Callable[..., Any] | tuple[Callable[..., Any], str]
_added: dict[_Named, None] = {}


def add_safe_globals(safe_globals: Iterable[_Named]) -> None:
    """Trust these: a PyTorch file that `load` reads may name them, and they are then called as it says.

    Args:
        safe_globals: classes and functions, or pairs of one and the name that files have for it.

    Raises TypeError for anything else.

    >>> import fractions
    >>> add_safe_globals([fractions.Fraction])
    >>> get_safe_globals()
    [<class 'fractions.Fraction'>]
    >>> clear_safe_globals()
    """
    names = [*safe_globals]
    for item in names:
        what, name = item if isinstance(item, tuple) and len(item) == 2 else (item, "")
        if not callable(what) or not isinstance(name, str):
            raise TypeError("add_safe_globals(): expected a list of classes and functions, or of pairs of one and the "
                            f"name that files have for it, but got {item!r:.80} in it")  # fmt: skip
    _added.update(dict.fromkeys(names))


def get_safe_globals() -> list[_Named]:
    """What has been added."""
    return [*_added]


def clear_safe_globals() -> None:
    """Forget what has been added."""
    _added.clear()


@contextmanager
def safe_globals(safe_globals: Iterable[_Named]) -> Iterator[None]:
    """A context at whose beginning these are added, and at whose end they are taken out."""
    names = [*safe_globals]
    add_safe_globals(names)
    try:
        yield
    finally:
        for name in names:
            _added.pop(name, None)


def added() -> dict[str, Callable[..., Any]]:
    """What has been added, by the names that files have for it."""
    pairs = (item if isinstance(item, tuple) else (item, f"{item.__module__}.{item.__qualname__}") for item in _added)
    return {name: item for item, name in pairs}
