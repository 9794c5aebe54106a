"""Which entries of an operation's results a backward pass has come for. From zeros in a cotangent one cannot tell."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwright.base.cpython.frames import frame
from gradwright.engine.node import Bundle, Node, Output


class Reached:
    """The numbers of the results of a node that have a cotangent; of one of them, its entries that do."""

    __slots__ = ("_node", "_numbers")

    def __init__(self, node: Any, bundle: Bundle) -> None:
        self._node, self._numbers = node, tuple(bundle)

    def __contains__(self, number: int) -> bool:
        return number in self._numbers

    def entries(self, number: int) -> Any:
        """Booleans on the host, False where nothing in this pass used the entry: `v[:, :2]` uses two columns of v.

        What uses the result in another way than by moving parts of it counts as using all.
        """
        like = _result(self._node, number)
        if number not in self._numbers:
            return np.zeros(like.shape, bool)
        roots = _roots()
        users = _users(roots)
        for target in users:
            if type(target) is Output and target.index == number and target._next[0] is self._node:
                return _used(target, like, roots, users)
        return np.ones(like.shape, bool)


def _result(node: Any, number: int) -> Any:
    """Zeros like one of several results."""
    shape, dtype = node._metas[number]
    return np.zeros(shape, "complex128" if "complex" in str(dtype) else "float64")


def _roots() -> list[Node]:
    """The nodes where the pass that runs has begun; none if the interpreter does not show them."""
    at = frame(1)
    while at is not None:
        if at.f_code.co_name == "run" and at.f_globals["__name__"] == "gradwright.engine.backward":
            return [node for node, _ in at.f_locals["roots"]]
        at = at.f_back
    return []


def _users(roots: list[Node]) -> dict[Node, list[Any]]:
    """For each node below ``roots``, those that hand it a cotangent."""
    users: dict[Node, list[Any]] = {}
    stack, seen = list(roots), set(roots)
    while stack:
        node = stack.pop()
        for target in node._next:
            users.setdefault(target, []).append(node)
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return users


def _used(node: Node, like: Any, roots: list[Node], users: dict[Node, list[Any]]) -> Any:
    """Which entries of a node's result are used, itself ``like`` these zeros: those that a NaN comes back to."""
    found, everything = np.zeros(like.shape, bool), np.ones(like.shape, bool)
    hooks = node._hooks
    if node in roots or (hooks is not None and (hooks.tensor or hooks.pre or hooks.post)):  # which may change it
        return everything

    def marked(user: Node, out: Any) -> Any:
        return np.where(_used(user, out, roots, users), np.nan, out)

    for user in users[node]:
        op, known = getattr(user, "_op", None), getattr(user, "_names", ())
        if op is None or user._packed or op.inputs[1:] or not (op.several or {*op.static} <= {*known}):
            return everything
        if op.several:
            g: Any = Bundle({o.index: marked(o, _result(user, o.index)) for o in users[user]})
        else:
            g = marked(user, op(like, **{n: user._static[known.index(n)] for n in op.static}))
        (back,) = user._run(np, g)
        found |= np.isnan(back)
    return found
