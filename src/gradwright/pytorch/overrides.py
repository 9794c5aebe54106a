"""``torch.overrides``: functions that ask their arguments first whether those have a ``__torch_function__``."""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from gradwright.face.methods.subclasses import (
    ASKING_MODULES,
    PROPERTIES,
    SILENT,
    TorchFunctionMode,
    dispatch,
    is_asked,
    methods_that_ask,
    own,
)
from gradwright.face.tensor import Tensor

__all__ = [
    "TorchFunctionMode", "get_ignored_functions", "get_overridable_functions", "get_testing_overrides",
    "handle_torch_function", "has_torch_function", "has_torch_function_unary", "has_torch_function_variadic",
    "is_tensor_like", "is_tensor_method_or_property", "resolve_name", "wrap_torch_function",
]  # fmt: skip

def has_torch_function(relevant_args: Iterable[object]) -> bool:
    """Whether one of the values has a ``__torch_function__`` of its own, that is to be asked."""
    return is_asked() and any(own(value) is not None for value in relevant_args)


def has_torch_function_variadic(*args: Any) -> bool:
    """`has_torch_function` of the arguments."""
    return has_torch_function(args)


def has_torch_function_unary(value: object) -> bool:
    """`has_torch_function` of one value."""
    return has_torch_function((value,))


def handle_torch_function(public_api: Any, relevant_args: Any, *args: Any, **kwargs: Any) -> Any:
    """What the first ``__torch_function__`` that does not return NotImplemented makes of the call; else TypeError."""
    return dispatch(public_api, args, kwargs)


def is_tensor_like(inp: object) -> bool:
    """Whether a value is a tensor, or has a ``__torch_function__``."""
    return isinstance(inp, Tensor) or hasattr(type(inp), "__torch_function__")


def wrap_torch_function(dispatcher: Callable[..., Any]) -> Callable[[Any], Any]:
    """A decorator of a function that asks what ``dispatcher`` gives of its arguments: the values to be asked."""

    def decorate(function: Callable[..., Any]) -> Any:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(call, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return call

    return decorate


def _home(path: str) -> Any:
    """The module that programs have under PyTorch's name, or else gradwright's."""
    return sys.modules.get("torch" + path.removeprefix("gradwright")) or importlib.import_module(path)


def _homes() -> tuple[Any, ...]:
    """The modules whose functions ask; others from when programs import them under PyTorch's names."""
    return tuple(map(_home, ASKING_MODULES))


def get_overridable_functions() -> dict[Any, list[Any]]:
    """The functions that ask, by the module, or the class, that they are in."""
    return _overridable(_homes())


@functools.cache
def _overridable(homes: tuple[Any, ...]) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = {}
    for home in homes:
        names = [n for n in home.__all__ if n not in SILENT and isinstance(getattr(home, n, None), FunctionType)]
        found[home] = [getattr(home, n) for n in names]
    found[Tensor] = [*methods_that_ask().values(), *(getattr(Tensor, name).__get__ for name in PROPERTIES)]
    return found


def get_ignored_functions() -> set[Any]:
    """Functions that take tensors and ask nothing."""
    home = _home("gradwright")
    return {getattr(home, name) for name in SILENT if isinstance(getattr(home, name, None), FunctionType)}


def get_testing_overrides() -> dict[Any, Callable[..., Any]]:
    """For each function that asks, one with its arguments that returns -1."""
    return _overrides(_homes())


@functools.cache
def _overrides(homes: tuple[Any, ...]) -> dict[Any, Callable[..., Any]]:
    return {f: _like(f) for functions in _overridable(homes).values() for f in functions}


def _like(function: Any) -> Callable[..., Any]:
    def override(*args: Any, **kwargs: Any) -> int:
        return -1

    if isinstance(function, FunctionType):  # and no property
        vars(override)["__signature__"] = inspect.signature(function)
    return override


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Whether a function is asked about as a method or a property of tensors."""
    return func in get_overridable_functions()[Tensor]


@functools.cache
def _names(homes: tuple[Any, ...]) -> dict[Any, str]:
    found = {getattr(Tensor, name).__get__: f"torch.Tensor.{name}.__get__" for name in PROPERTIES}
    found |= {f: f"torch.Tensor.{name}" for name, f in methods_that_ask().items()}
    for path, home in zip(ASKING_MODULES, homes, strict=True):
        prefix = "torch" + path.removeprefix("gradwright")
        names = ((getattr(home, name, None), name) for name in home.__all__)
        found |= {f: f"{prefix}.{name}" for f, name in names if isinstance(f, FunctionType)}
    return found


def resolve_name(f: object) -> str | None:
    """The name that programs have a function under, such as "torch.Tensor.add"; None if it is not one that asks."""
    return _names(_homes()).get(f)
