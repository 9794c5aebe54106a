"""Checks of declared operations with their samples: see `gradwright.verify.testing`."""

from gradwright.verify.testing import check_derivatives, check_passes, check_portable, draw

__all__ = ["check_derivatives", "check_passes", "check_portable", "draw"]
