"""Parts of programs: a leaf, a module with state, a step of an optimiser."""

from __future__ import annotations

import sys
import types
from functools import partial
from typing import Any

import gradwright as gw

w = gw.ones(3, requires_grad=True)
MOD: Any = types.ModuleType("mod_for_test")
MOD.scale = 3.0
sys.modules["mod_for_test"] = MOD
exec(
    "state = 0\ndef bump():\n    global state\n    state += 1\n    return state\ndef get():\n    return state + 1.0\n",
    vars(MOD),
)


def training(kind: Any = partial(gw.optim.SGD, lr=0.1), **options: Any) -> tuple[Any, Any]:
    """An optimiser of three numbers, and a step that lets it lessen their squares."""
    p = gw.ones(3, requires_grad=True)
    o = kind([p], **options)

    def step() -> None:
        (p * p).sum().backward()
        o.step()
        o.zero_grad()

    return o, step
