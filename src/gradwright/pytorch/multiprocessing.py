"""``torch.multiprocessing``: Python's own `multiprocessing`; tensors are copied between processes."""

from __future__ import annotations

from multiprocessing import *  # noqa: F403 - its names are all that there is


def set_sharing_strategy(new_strategy: str) -> None:
    """Nothing: tensors are copied between processes."""


def get_sharing_strategy() -> str:
    """How tensors reach other processes: copied, as if by a file."""
    return "file_system"


def get_all_sharing_strategies() -> set[str]:
    """The one way there is."""
    return {"file_system"}
