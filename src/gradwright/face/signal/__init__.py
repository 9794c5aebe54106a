"""Signal processing under PyTorch's names (`torch.signal`)."""

from typing import TYPE_CHECKING

from gradwright.base.lazy import lazy
from gradwright.face.signal import windows

__all__ = ["windows"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__)
