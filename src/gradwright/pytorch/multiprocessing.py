"""``torch.multiprocessing``: Python's own `multiprocessing`; tensors are copied between processes."""

from __future__ import annotations

import multiprocessing
from multiprocessing import *  # noqa: F403 - its names, and three more

__all__ = [  # noqa: PLE0604 - all are strings
    *multiprocessing.__all__, "get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy",
]  # fmt: skip


def set_sharing_strategy(new_strategy: str) -> None:
    """Nothing: tensors are copied between processes."""


def get_sharing_strategy() -> str:
    """How tensors reach other processes: copied, as if by a file."""
    return "file_system"


def get_all_sharing_strategies() -> set[str]:
    """The one way there is."""
    return {"file_system"}
