"""Derivatives against finite differences."""

from gradwright.errors import GradcheckError
from gradwright.verify.gradcheck import gradcheck, gradgradcheck

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]
