"""Derivatives against finite differences."""

from typing import TYPE_CHECKING

from gradwright.base.errors import GradcheckError
from gradwright.base.lazy import lazy

if TYPE_CHECKING:
    from gradwright.verify.gradcheck import gradcheck, gradgradcheck

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]

lazy(__name__, {"gradwright.verify.gradcheck": "gradcheck gradgradcheck"})
