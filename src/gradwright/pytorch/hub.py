"""``torch.hub``: gradwright loads nothing from the network, and no pickle."""

from __future__ import annotations

import os

__all__ = ["get_dir", "set_dir"]

_dir: list[str] = []


def _get_torch_home() -> str:
    """PyTorch's folder: ``$TORCH_HOME``, or else ``torch`` in the user's cache."""
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "torch")
    return os.path.expanduser(os.environ.get("TORCH_HOME", cache))


def get_dir() -> str:
    """The folder of PyTorch's hub: what `set_dir` has set, or ``$TORCH_HOME/hub``."""
    return _dir[0] if _dir else os.path.join(_get_torch_home(), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """What `get_dir` says from now on."""
    _dir[:] = [os.path.expanduser(d)]
