"""Signal processing under PyTorch's names (`torch.signal`)."""

from gradwright.signal import windows

__all__ = ["windows"]
