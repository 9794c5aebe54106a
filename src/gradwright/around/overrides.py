"""``torch.overrides``: functions that ask their arguments first whether those have a ``__torch_function__``."""

from __future__ import annotations

from typing import Any

from gradwright.methods.subclasses import dispatch, is_asked, own
from gradwright.tensor import Tensor

__all__ = ["handle_torch_function", "has_torch_function", "has_torch_function_unary", "has_torch_function_variadic",
           "is_tensor_like"]  # fmt: skip

def has_torch_function(relevant_args: Any) -> bool:
    """Whether one of the values has a ``__torch_function__`` of its own, that is to be asked."""
    return is_asked() and any(own(value) is not None for value in relevant_args)


def has_torch_function_variadic(*args: Any) -> bool:
    """`has_torch_function` of the arguments."""
    return has_torch_function(args)


def has_torch_function_unary(value: Any) -> bool:
    """`has_torch_function` of one value."""
    return has_torch_function((value,))


def handle_torch_function(public_api: Any, relevant_args: Any, *args: Any, **kwargs: Any) -> Any:
    """What the first ``__torch_function__`` that does not return NotImplemented makes of the call; else TypeError."""
    return dispatch(public_api, args, kwargs)


def is_tensor_like(inp: Any) -> bool:
    """Whether a value is a tensor, or has a ``__torch_function__``."""
    return isinstance(inp, Tensor) or hasattr(type(inp), "__torch_function__")
