"""Tied weights: tensors of a module that have several paths, or lie in the same memory."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from gradwright.engine.memory import layout, owner
from gradwright.engine.strict import warn
from gradwright.nn.parameter import is_lazy, is_sparse
from gradwright.nn.tree import Tree


def ties(module: Tree) -> list[list[str]]:
    """The paths of each parameter or buffer that has several."""
    found: dict[Any, list[str]] = {}
    for kind in ("_parameters", "_buffers"):
        for path, t in module._named(kind, "", True, False):
            if is_sparse(t):
                found.setdefault((id(t), None), []).append(path)
            elif not is_lazy(t):
                held, lies = owner(t), layout(t).__array_interface__
                place = None if held is t else (lies["data"], lies["shape"], lies["strides"])
                found.setdefault((id(held), place), []).append(path)
    return [paths for paths in found.values() if len(paths) > 1]


def warn_of_ties(module: Tree, tied: list[list[str]], state: Mapping[str, Any], assign: bool) -> None:
    """Warn of ``tied`` tensors for which the loaded ``state`` has different values."""
    for paths in tied:
        given = [path for path in paths if path in state]
        for first, other in pairwise(given):
            if state[first] is not state[other] and _differ(state[first], state[other]):
                now = "assign=True has made two of it" if assign else f"both are {given[-1]!r} now"
                warn(
                    f"{type(module).__name__}.load_state_dict(): {first!r} and {other!r} are one tensor in this module "
                    f"(tied weights), but state_dict has different values for them: {now}. Was it saved from a module "
                    "that does not tie them? Untie them before loading, or leave one out."
                )
                break


def _differ(a: Any, b: Any) -> bool:
    if a.shape != b.shape:
        return True
    a, b = (t.to_dense() if is_sparse(t) else t for t in (a.detach(), b.detach()))
    return bool(((a != b) & ~((a != a) & (b != b))).any())
