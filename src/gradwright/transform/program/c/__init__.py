"""Programs as fused loops in C, compiled by the system's compiler."""

from gradwright.transform.program.c.build import COMPILERS, CannotCompileError
from gradwright.transform.program.c.runner import C

__all__ = ["COMPILERS", "C", "CannotCompileError"]
