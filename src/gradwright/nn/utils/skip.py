"""skip_init: a module whose parameters nobody has asked to be filled."""

from __future__ import annotations

import inspect
from typing import Any

from gradwright.nn.module import Module


def skip_init(module_cls: type[Module], *args: Any, **kwargs: Any) -> Module:
    """``module_cls(*args, **kwargs)``, whose parameters may hold anything.

    Here they hold what its ``__init__`` puts there: there is no device without memory to make it on first.

    Raises RuntimeError if it is no class of modules, or takes no ``device``.

    >>> gw.nn.utils.skip_init(gw.nn.Linear, 2, 3).weight.shape
    torch.Size([3, 2])
    """
    if not isinstance(module_cls, type) or not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    return module_cls(*args, **kwargs)
