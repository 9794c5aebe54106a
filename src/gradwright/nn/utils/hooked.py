"""What is computed before each call of a module by a hook that knows how to undo itself."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from gradwright.nn.module import Module


def undone(module: Module, is_ours: Callable[[Any], bool]) -> bool:
    """Undo and take off the first hook before calls for which ``is_ours`` holds; False if there is none."""
    for key, hook in list(module._forward_pre_hooks.items()):
        if is_ours(hook):
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return True
    return False


def computed(make: Callable[..., Any], *of: Any) -> Any:
    """``make(*of)``. A deep copy, as of a module that it is an attribute of, is made of the copies of these again."""
    out = make(*of)
    out.__dict__["__deepcopy__"] = lambda memo: computed(make, *copy.deepcopy(of, memo))
    return out
