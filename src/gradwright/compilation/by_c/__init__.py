"""Programs as fused loops in C, compiled by the system's compiler."""

from gradwright.compilation.by_c.build import COMPILERS, CannotCompileError
from gradwright.compilation.by_c.runner import C

__all__ = ["COMPILERS", "C", "CannotCompileError"]
