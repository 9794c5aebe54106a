"""Names of ctx that are the node's own: an attribute under one of them would be taken for what that keeps there."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from gradwright.function.ctx import BackwardNode

_OWN = frozenset(name for name in dir(BackwardNode) if name.startswith("_") and not name.startswith("__"))


def check_names(name: str, body: dict[str, Any]) -> None:
    """Raise TypeError if a method of the class ``name`` sets an attribute of its ctx that is the node's own."""
    for method in ("forward", "setup_context", "backward", "vjp", "jvp"):
        function = getattr(body.get(method), "__func__", body.get(method))
        if not isinstance(function, FunctionType) or function.__globals__.get("__name__", "").startswith("gradwright."):
            continue
        code = function.__code__
        own = [] if _OWN.isdisjoint(code.co_names) else [n for n in _set_on_ctx(code) if n in _OWN]
        if own:
            raise TypeError(
                f"{name}.{method} sets ctx.{own[0]}, under which gradwright keeps something of its own: give the "
                f"attribute another name, such as ctx.{own[0].strip('_')}_"
            )


def _set_on_ctx(code: CodeType) -> Iterator[str]:
    """The attributes that code sets on its first argument."""
    loaded: Any = None
    for i in dis.get_instructions(code):
        if i.opname == "STORE_ATTR" and loaded == code.co_varnames[0]:
            yield i.argval
        loaded = i.argval[-1] if isinstance(i.argval, tuple) and i.argval else i.argval  # one may load several
