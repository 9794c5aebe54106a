"""Checks of declared operations with their samples, of functions with derivatives, and PyTorch's of close values.

See `gradwright.verify.testing` for the first, `gradwright.check_pair` for the second.
"""

from typing import TYPE_CHECKING

from gradwright.base.lazy import lazy
from gradwright.verify.testing import check_derivatives, check_passes, check_portable, draw

if TYPE_CHECKING:
    from gradwright.pytorch.testing import assert_allclose, assert_close, make_tensor
    from gradwright.verify.pairs.check import assert_derivatives

__all__ = [
    "assert_allclose", "assert_close", "assert_derivatives",
    "check_derivatives", "check_passes", "check_portable", "draw", "make_tensor",
]  # fmt: skip

lazy(__name__, {
    "gradwright.pytorch.testing": "assert_allclose assert_close make_tensor",
    "gradwright.verify.pairs.check": "assert_derivatives",
})  # fmt: skip
