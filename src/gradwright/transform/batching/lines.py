"""Where the batch goes in what works along an axis, or on all entries."""

from __future__ import annotations

from math import prod
from typing import Any

from gradwright.engine.apply import apply
from gradwright.ops.declare import table
from gradwright.ops.reduce import balanced, centred, of_softmax, shares
from gradwright.transform.batching.rules import Call, along, one_by_one, refused, rule

rule(
    "squeeze", "split", "unstack", "flip", "roll", "repeat", "resample", "concat",
    "cumulative_sum", "cumulative_prod", "logcumsumexp", "linear_recurrence",
    "softmax", "log_softmax", "standardize", "rms_normalize",
    "fft_c2c", "fft_h2r", "fft_r2c", "fft_r2h",
    "argsort", "argtop", "argselect", "argmedian", "argmode", "argrunning",
    "take_along_axis", "scatter_add", "scatter", "scatter_max", "scatter_prod", "pick",
    "vector_norm", balanced, centred, of_softmax, shares,
)(along)  # fmt: skip


@rule("nll", "cross_entropy")
def _losses(call: Call) -> Any:
    """Those of all examples; of which each has a mean or a sum."""
    how = call.static["reduction"]
    losses = call.of(call.all_first(), axis=call.static["axis"] % call.ranks()[0] + 1, reduction="none")
    if how == "none" or losses.array.ndim == 1:
        return losses
    axes = tuple(range(1, losses.array.ndim))
    return apply(table[how], (losses,), {"axis": axes, "keepdims": False})


@rule("masked_softmax")
def _masked_softmax(call: Call) -> Any:
    n = call.ranks()[0]
    return call.of(call.lined_up(), axis=call.static["axis"] % n + 1)


@rule("argmax", "argmin")
def _argmax(call: Call) -> Any:
    (x,), (n,), axis = call.xs, call.ranks(), call.static["axis"]
    if axis is not None and n:
        return along(call)
    out = call.of([x.reshape(call.size, -1) if call.size else x.reshape(0, 1)], axis=1, keepdims=False)
    return out.reshape(call.size, *(1,) * n) if call.static["keepdims"] else out


@rule("largest", "smallest")
def _extreme(call: Call) -> Any:
    """As the largest over all axes, which shares cotangents likewise."""
    name = "max" if call.op.forward is table["largest"].forward else "min"
    return call.named(name, call.xs, call.which, axis=None, keepdims=False)


@rule("places_along", "last_along")
def _places_along(call: Call) -> Any:
    (indices,), shape = call.xs, call.static["shape"]
    out = call.of([indices], axis=call.static["axis"] % len(shape) + 1, shape=(call.size, *shape))
    if call.op.name == "last_along":
        return out
    return out % max(prod(shape), 1)


@rule("searchsorted")
def _searchsorted(call: Call) -> Any:
    (edges, x), (lines, _) = call.xs, call.which
    if call.ranks()[0] > 1:
        return call.of(call.all_first())
    if not lines:
        return call.of([edges, x])
    x = call.all_first()[1]
    flat = x.reshape(call.size, prod(x.array.shape[1:]))
    return call.of([edges, flat]).reshape(x.array.shape)


@rule("bincount")
def _bincount(call: Call) -> Any:
    """Each example counts in a range of its own."""
    length, xs = call.static["length"], call.all_first()
    starts = xs[0].new_tensor(range(0, call.size * length, length) if length else [0] * call.size)
    xs[0] = xs[0] + starts.reshape(call.size, 1)
    return call.of([x.reshape(-1) for x in xs], length=call.size * length).reshape(call.size, length)


@rule("isin")
def _isin(call: Call) -> Any:
    return one_by_one(call) if call.which[1] else call.of(call.xs)


rule("nonzero", "unique", "runs", "repeated")(refused)
