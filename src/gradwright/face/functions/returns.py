"""What functions return beside plain results: named tuples, and results that refuse to be differentiated."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import replace
from functools import cache
from typing import Any

from gradwright.engine.apply import apply
from gradwright.face.functions.forms import without_slope
from gradwright.ops.declare import Op, op


def return_type(name: str, *fields: str) -> Any:
    """The tuple that function ``name`` returns, with these fields; it prints as PyTorch's does."""

    def text(self: Any) -> str:
        lines = ",\n".join(f"{field}={value!r}" for field, value in zip(fields, self, strict=True))
        return f"torch.return_types.{name}(\n{lines})"

    return type(name, (namedtuple(name, fields),), {"__slots__": (), "__repr__": text, "__doc__": ", ".join(fields)})


@op(direct=True, complex="general")
def _opaque(xp: Any, x: Any, result: Any) -> Any:
    """``result``, whatever x is."""
    return result


@cache
def _named(function: str, node: str) -> Op:
    return without_slope(replace(_opaque, name=function, node=node), "x")


def opaque(function: str, node: str, x: Any, result: Any) -> Any:
    """``result``, a tensor that ``function`` made of ``x``, as one that cannot be differentiated.

    If ``x`` requires grad it does so too, and the backward pass raises NotImplementedError.
    """
    return apply(_named(function, node), (x, result), {})
