"""What nodes keep for backward, as it lies there: nothing is copied or unpacked, so no hook of the user runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradwright.engine.saved_hooks import Entry


def saved_values(node: Any) -> Iterator[tuple[str | int, Any, bool]]:
    """The name of each value that a node keeps, the value, and whether it is a tensor, or several.

    Tensors are packed: see `packed`. Of an operation values have the names that its derivatives give them; the tensors
    that a Function saves are numbered; behind them come those that forward is run again with, and the attributes of
    ctx, of which those that hold tensors are there as the arrays of these, under ``ctx.name``.
    """
    tensors = getattr(node, "_packed", None)
    values = node._static if tensors == 0 else getattr(node, "_saved", None)
    entries = getattr(values, "entries", values) or ()  # of hooks, what they packed
    names = getattr(node, "_names", range(len(entries)))
    for k, (name, value) in enumerate(zip(names, entries, strict=False)):
        yield name, value, tensors is None or k < tensors
    attributes = getattr(node, "_attributes", None)
    for name, value in [*getattr(node, "__dict__", {}).items(), *(attributes.arrays() if attributes else {}).items()]:
        yield name, value, False


def is_packed(value: Any) -> bool:
    """Whether a value is one tensor: array, counter, version and node."""
    return len(value) == 4 and isinstance(value[1], list)


def packed(value: Any) -> Iterator[Any]:
    """The tensors in a value, each as `is_packed` has it, or as the `Entry` of a hook."""
    if isinstance(value, Entry) or (value and is_packed(value)):
        yield value
    else:
        for one in value or ():
            yield from packed(one)
