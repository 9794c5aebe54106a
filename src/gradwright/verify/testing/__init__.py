"""Checking operations with their samples, as the built-in ones are checked.

from gradwright.verify.testing import check_derivatives
for sample in my_op.samples:
check_derivatives(my_op, sample)
"""

from gradwright.verify.testing.derivatives import check_derivatives, check_passes, check_portable
from gradwright.verify.testing.samples import draw

__all__ = ["check_derivatives", "check_passes", "check_portable", "draw"]
