"""Checks of declared operations with their samples: see `gradwright.verify.testing`."""

from typing import TYPE_CHECKING

from gradwright.later import later
from gradwright.verify.testing import check_derivatives, check_passes, check_portable, draw

__all__ = ["check_derivatives", "check_passes", "check_portable", "draw"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(__name__)
