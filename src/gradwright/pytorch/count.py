"""How many of PyTorch's public names there are here, by module: what ``gradwright run --names`` prints."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any, NamedTuple

import gradwright
from gradwright.base.absent import Absent
from gradwright.pytorch.known import COUNTED, table
from gradwright.pytorch.served import ELSEWHERE, MORE, SHARED, SUBSTITUTES


class Count(NamedTuple):
    """The names of one module: those that are here, and those that are not."""

    module: str
    here: tuple[str, ...]
    missing: tuple[str, ...]


def _is_here(holder: Any, name: str) -> bool:
    return not isinstance(getattr(holder, name, _NOTHING), Absent)


_NOTHING = Absent("nothing")


def counts() -> list[Count]:
    """The names here and missing, by module that PyTorch documents."""
    found = []
    for module in COUNTED:
        path = "gradwright" + module.removeprefix("torch")
        if module == "torch.Tensor":
            holder: Any = gradwright.Tensor
        else:
            holder = importlib.import_module(path) if importlib.util.find_spec(path) else None
        names = sorted(table()[module].public)
        modules = SHARED | ELSEWHERE.keys() | SUBSTITUTES.keys()
        besides = {*MORE.get(module, ()), *(name for name in names if f"{module}.{name}" in modules)}
        here = tuple(name for name in names if name in besides or _is_here(holder, name))
        found.append(Count(module, here, tuple(name for name in names if name not in here)))
    return found


def report() -> str:
    """The numbers, as a table with the names that are missing."""
    lines = []
    for module, here, missing in counts():
        lines.append(f"{module:<28}{len(here):>5} of {len(here) + len(missing)}")
        if missing:
            lines.append("    not yet: " + " ".join(missing))
    return "\n".join(lines)
