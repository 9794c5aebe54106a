"""User-written operations."""

from gradwright.function.contract.function_ctx import FunctionCtx
from gradwright.function.contract.once_differentiable import once_differentiable
from gradwright.function.ctx import BackwardCFunction
from gradwright.function.function import Function, FunctionMeta, InplaceFunction, NestedIOFunction

__all__ = [
    "BackwardCFunction", "Function", "FunctionCtx", "FunctionMeta", "InplaceFunction", "NestedIOFunction",
    "once_differentiable",
]  # fmt: skip
