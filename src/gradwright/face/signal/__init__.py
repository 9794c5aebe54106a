"""Signal processing under PyTorch's names (`torch.signal`)."""

from gradwright.base.lazy import lazy
from gradwright.face.signal import windows

__all__ = ["windows"]

lazy(__name__)
