"""``torch.compile``: `gradwright.compile`, whose modules come back as PyTorch's do, around the module itself."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

from gradwright.compilation.compile import compile as _compile
from gradwright.nn.module import Module

__all__ = ["OptimizedModule", "compile"]

class OptimizedModule(Module):
    """A module around another, ``_orig_mod``, which is called compiled; keys of its state begin with "_orig_mod."."""

    def __init__(self, mod: Module, **options: Any) -> None:
        super().__init__()
        vars(self).update(_options=options, _compiled=_compile(mod, **options))
        self._orig_mod = mod

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module returns."""
        return self._compiled(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if "_compiled" not in vars(self):
                raise
            return getattr(self._compiled, name)

    def __setattr__(self, name: str, value: Any) -> None:
        inner = vars(self).get("_modules", {}).get("_orig_mod")
        if inner is None or name in vars(self) or hasattr(type(self), name):
            super().__setattr__(name, value)
        else:
            setattr(inner, name, value)

    def __deepcopy__(self, memo: dict[int, Any]) -> OptimizedModule:
        return type(self)(copy.deepcopy(self._orig_mod, memo), **self._options)

    def __reduce__(self) -> Any:
        return partial(type(self), **self._options), (self._orig_mod,)


def compile(model: Any = None, **options: Any) -> Any:
    """`gradwright.compile`; a module comes back inside an `OptimizedModule`.

    Arguments and errors are those of `gradwright.compile`.
    """
    if model is None:
        return partial(compile, **options)
    if isinstance(model, Module) and not options.get("disable", False):
        return OptimizedModule(model, **options)
    return _compile(model, **options)
