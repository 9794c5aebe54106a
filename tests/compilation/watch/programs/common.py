"""What programs share: a leaf, and a module with state."""

from __future__ import annotations

import sys
import types
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
