"""What tests write Functions with: methods that need not be marked static, and leaves to call them with."""

from functools import cache, partial
from types import FunctionType, ModuleType
from typing import Any

import gradwright

_METHODS = ("forward", "setup_context", "backward", "vjp", "jvp", "vmap")


@cache
def functions(library: ModuleType) -> Any:
    """The base of Functions of a library whose methods are static without being marked so."""

    class Function(library.autograd.Function):  # type: ignore[name-defined, misc]
        def __init_subclass__(cls) -> None:
            super().__init_subclass__()
            for name in _METHODS:
                if isinstance(vars(cls).get(name), FunctionType):
                    setattr(cls, name, staticmethod(vars(cls)[name]))

    return Function


Function = functions(gradwright)


def function(name: str, forward: Any, backward: Any = lambda ctx, g: g, **more: Any) -> Any:
    """A Function of this name and these methods; ``more`` is what else is in the class."""
    return type(name, (Function,), {"forward": forward, "backward": backward, **more})


unnamed = partial(function, "F")


def leaf(*values: Any) -> Any:
    """A vector of float64 that requires grad."""
    return gradwright.tensor(values, dtype=gradwright.float64, requires_grad=True)
