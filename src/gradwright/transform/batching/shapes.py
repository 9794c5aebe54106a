"""Where the batch goes in views and rearrangements."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from gradwright.backends.generic import overlapping
from gradwright.engine.memory import layout
from gradwright.transform.batching.rules import Call, elementwise, padded, rule

rule("alias", "copy", "real", "imag", "view_as_real", "view_as_complex", "astype", "to_device", "scale",
     "to_complex")(elementwise)  # fmt: skip


@rule("reshape", "undiagonal")
def _reshape(call: Call) -> Any:
    return call.of(call.xs, shape=(call.size, *call.static["shape"]))


@rule("broadcast_to")
def _broadcast_to(call: Call) -> Any:
    shape = call.static["shape"]
    return call.of([padded(call.xs[0], len(shape) - call.ranks()[0])], shape=(call.size, *shape))


@rule("permute_dims")
def _permute_dims(call: Call) -> Any:
    (n,) = call.ranks()
    return call.of(call.xs, axes=(0, *[a % n + 1 for a in call.static["axes"]]))


@rule("lay")
def _lay(call: Call) -> Any:
    return call.of(call.xs, order=(0, *[a + 1 for a in call.static["order"]]))


@rule("expand_dims", "stack")
def _new_axis(call: Call) -> Any:
    """An axis among those of the result."""
    return call.of(call.all_first(), axis=call.static["axis"] % (call.ranks()[0] + 1) + 1)


@rule("index")
def _index(call: Call) -> Any:
    return call.of(call.xs, key=(slice(None), *call.static["key"]))


@rule("restride", "unstride")
def _restride(call: Call) -> Any:
    """Each example has a part of the memory of its own, as large as either layout reaches.

    Where they lie among each other, a view that shows no more than the example does is one still.
    """
    both = call.static["source"], call.static["target"]
    ends = [start + sum((n - 1) * s for n, s in zip(shape, strides, strict=True) if n and s * end > 0)
            for shape, strides, start in both for end in (1, -1)]  # fmt: skip
    step = max(ends) - min(ends) + 1
    if call.op.kind == "view":
        array = layout(call.xs[0])
        stride = array.strides[0] // array.itemsize
        if stride != step and not overlapping((call.size, *both[0][0]), (stride, *both[0][1])) and _within(*both):
            step = stride
    source, target = (((call.size, *shape), (step, *strides), start) for shape, strides, start in both)
    return call.of(call.xs, source=source, target=target)


def _within(source: Any, target: Any) -> bool:
    """Whether all that ``target`` shows of memory ``source`` shows, too."""
    whole, part = _places(*source), _places(*target)
    if not part.size or not whole.size:
        return not part.size
    low = min(whole.min(), part.min())
    shown = np.zeros(max(whole.max(), part.max()) - low + 1, bool)
    shown[whole - low] = True
    return bool(shown[part - low].all())


def _places(shape: Sequence[int], strides: Sequence[int], start: int) -> Any:
    """Where each entry lies."""
    lines = [step * np.arange(n) for n, step in zip(shape, strides, strict=True)]
    return reduce(np.add.outer, lines, np.array(start))


@rule("diagonal", "tril", "triu", "windows", "fold_windows", "mean_windows", "unmean_windows", "max_windows",
      "places_in_windows")  # fmt: skip
def _last(call: Call) -> Any:
    """They concern the last dims alone, over which windows lie."""
    return call.of(call.all_first())


@rule("tile")
def _tile(call: Call) -> Any:
    reps = call.static["reps"]
    return call.of([padded(call.xs[0], len(reps) - call.ranks()[0])], reps=(1, *reps))


@rule("constant_pad_nd")
def _pad(call: Call) -> Any:
    return call.of(call.xs, pad=((0, 0), *call.static["pad"]))
