"""Checks of declared operations with their samples, and PyTorch's: whether values are close.

See `gradwright.verify.testing` for the former.
"""

from typing import TYPE_CHECKING

from gradwright.base.lazy import lazy
from gradwright.verify.testing import check_derivatives, check_passes, check_portable, draw

if TYPE_CHECKING:
    from gradwright.pytorch.testing import assert_allclose, assert_close, make_tensor

__all__ = [
    "assert_allclose", "assert_close", "check_derivatives", "check_passes", "check_portable", "draw", "make_tensor",
]  # fmt: skip

lazy(__name__, {"gradwright.pytorch.testing": "assert_allclose assert_close make_tensor"})
