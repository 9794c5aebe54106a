"""gradcheck and gradgradcheck: hand-written derivatives against finite differences. Verdicts and words are PyTorch's.

`check` has the two functions, `compare` the comparison of all entries, `projections` the fast one; `passes` says what a
backward pass must be besides right.
"""

from gradwright.base.errors import GradcheckError
from gradwright.verify.gradcheck.check import gradcheck, gradgradcheck

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]
