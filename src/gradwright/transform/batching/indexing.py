"""Where the batch goes where entries are read and written at arrays of indices.

With a batch of index arrays each example reads and writes its own part: at the index that counts the examples, beside
the others. An example's entries then come first; where its own index arrays stand together they go back to there.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from gradwright import backends
from gradwright.backends.generic import HERE
from gradwright.backends.steps import places as places_of
from gradwright.base import dtypes
from gradwright.engine.apply import apply
from gradwright.engine.base import wrap
from gradwright.ops.declare import table
from gradwright.transform.batching.rules import Call, first, one_by_one, padded, refused, rule

_ALL = slice(None)


@rule("at")
def _at(call: Call) -> Any:
    (x, *places), (mine, *own) = call.xs, call.which
    if (other := _otherwise(places, own)) is not None:
        return other(call)
    key, places, own = _without_masks(call.static["key"], places, own)
    together = _together(key)
    if not any(own) and together:
        return call.of([x, *places], key=(_ALL, *key))
    spread = _broadcast(places, own)
    at = _where(key, x.array.ndim - mine) if together else 0
    if not mine:  # the examples are a dim of what is named
        out = call.of([x, *spread], key=key)
        return _moved(out, at, 0)
    out = call.of([x, _examples(call, spread), *spread], key=(HERE, *key))
    return _back(out, at, max(p.array.ndim for p in spread) - 1)


@rule("put", "add_at")
def _put(call: Call) -> Any:
    (x, value, *places), (_, filled, *own), size = call.xs, call.which, call.size
    x = first(x, call.which[0], size)
    if (other := _otherwise(places, own)) is not None:
        return other(call)
    key, places, own = _without_masks(call.static["key"], places, own)
    if not any(own) and _together(key):
        return call.of([x, _aligned(value, filled, x, places, key, size), *places], key=(_ALL, *key))
    spread = _broadcast(places, own)
    at, n = _where(key, x.array.ndim - 1) if _together(key) else 0, max(p.array.ndim for p in spread) - 1
    if call.ranks()[1]:
        value = _there(first(value, filled, size), at, n)
    elif filled:
        value = value.reshape(size, *(1,) * (_rank_at(x, spread, key, n) - 1))
    return call.of([x, value, _examples(call, spread), *spread], key=(HERE, *key))


@rule("unindex")
def _unindex(call: Call) -> Any:
    (x, *places), (mine, *own), size = call.xs, call.which, call.size
    if (other := _otherwise(places, own)) is not None:
        return other(call)
    shape = (size, *call.static["shape"])
    key, places, own = _without_masks(call.static["key"], places, own)
    x = first(x, mine, size)
    if not any(own) and _together(key):
        return call.of([x, *places], key=(_ALL, *key), shape=shape)
    spread = _broadcast(places, own)
    at, n = _where(key, len(shape) - 1) if _together(key) else 0, max(p.array.ndim for p in spread) - 1
    return call.of([_there(x, at, n), _examples(call, spread), *spread], key=(HERE, *key), shape=shape)


@rule("last_at")
def _last_at(call: Call) -> Any:
    key, places, own = _without_masks(call.static["key"], call.xs, call.which)
    shape, spread = (call.size, *call.static["shape"]), _broadcast(places, own)
    out = call.of([_examples(call, spread), *spread], key=(HERE, *key), shape=shape)
    at = _where(key, len(shape) - 1) if _together(key) else 0
    return _back(out, at, max(p.array.ndim for p in spread) - 1)


@rule("take")
def _take(call: Call) -> Any:
    axis = call.static["axis"] % call.ranks()[0]
    if not call.which[1]:
        return call.of(call.xs, axis=axis + 1)
    return call.named("at", call.xs, call.which, key=(*(_ALL,) * axis, HERE))


@rule("write_view")
def _write_view(call: Call) -> Any:
    """The places are those of one example in each."""
    base, value = call.all_first()
    shape, complex_ = base.array.shape[1:], dtypes.of(base.array.dtype).is_complex
    where = places_of(shape, complex_, call.static["steps"])
    value_complex = dtypes.of(value.array.dtype).is_complex
    flat = _parts(base) if complex_ else base
    if value_complex:
        value = _parts(value) if value.array.size // max(call.size, 1) < where.size else value.real
    flat, value = (t.reshape(call.size, prod(t.array.shape[1:])) for t in (flat, value))
    place = wrap(backends.namespace(base.array).asarray(where, device=base.array.device))
    out = apply(table["put"], (flat, value, place), {"key": (_ALL, HERE)})
    if not complex_:
        return out.reshape(base.array.shape)
    return apply(table["view_as_complex"], (out.reshape(*base.array.shape, 2),), {})


def _parts(x: Any) -> Any:
    return apply(table["view_as_real"], (x,), {})


def _otherwise(places: Sequence[Any], own: Sequence[bool]) -> Any:
    """The rule for masks that are another one in each example, or have no dims; else None."""
    masks = [(p, b) for p, b in zip(places, own, strict=True) if _is_mask(p)]
    if any(b for _, b in masks):
        return refused
    return one_by_one if any(not p.array.ndim for p, _ in masks) else None


def _is_mask(place: Any) -> bool:
    return dtypes.of(place.array.dtype) is dtypes.boolean


def _without_masks(key: Sequence[Any], places: Sequence[Any], own: Sequence[bool]) -> tuple[Any, list[Any], list[bool]]:
    """The index with the indices that masks, the same for all examples, stand for."""
    parts: list[Any] = []
    found: list[Any] = []
    which: list[bool] = []
    given = zip(places, own, strict=True)
    for k in key:
        if k is not HERE:
            parts.append(k)
            continue
        place, b = next(given)
        if not _is_mask(place):
            found.append(place)
            which.append(b)
            parts.append(HERE)
            continue
        named = apply(table["nonzero"], (place,), {})
        found += named
        which += [False] * len(named)
        parts += [HERE] * len(named)
    return tuple(parts), found, which


def _together(key: Sequence[Any]) -> bool:
    """Whether all index arrays stand side by side, so that what they name stands there, and not first."""
    here = [i for i, k in enumerate(key) if k is HERE]
    return not here or here[-1] - here[0] == len(here) - 1


def _where(key: Sequence[Any], ndim: int) -> int:
    """How many dims of the result come before what the index arrays name."""
    rest = ndim - sum(k is not None and k is not ... for k in key)
    before = key[: list(key).index(HERE)]
    return sum(rest if k is ... else 1 for k in before)


def _broadcast(places: Sequence[Any], own: Sequence[bool]) -> list[Any]:
    """Index arrays of which each has the examples as its first dim, be it of length 1, and all as many dims."""
    most = max(p.array.ndim - b for p, b in zip(places, own, strict=True))
    return [padded(p if b else p.unsqueeze(0), most - (p.array.ndim - b)) for p, b in zip(places, own, strict=True)]


def _examples(call: Call, spread: Sequence[Any]) -> Any:
    """The number of each example, beside such index arrays."""
    like = spread[0].array
    numbers = backends.namespace(like).arange(call.size, device=like.device)
    return wrap(numbers).reshape(call.size, *(1,) * (max(p.array.ndim for p in spread) - 1))


def _moved(x: Any, source: int, target: int) -> Any:
    return x if source == target else x.movedim(source, target)


def _back(out: Any, at: int, n: int) -> Any:
    """What ``n`` dims behind the first name, to after ``at`` others."""
    return out if not at else out.movedim(tuple(range(1, 1 + n)), tuple(range(1 + at, 1 + at + n)))


def _there(value: Any, at: int, n: int) -> Any:
    """The inverse of `_back`."""
    return value if not at else value.movedim(tuple(range(1 + at, 1 + at + n)), tuple(range(1, 1 + n)))


def _aligned(value: Any, filled: bool, x: Any, places: Sequence[Any], key: Sequence[Any], size: int) -> Any:
    """A value for each example, or one for all, in the shape of what is written to."""
    if filled and value.array.ndim == 1:  # a number each
        n = max([p.array.ndim for p in places], default=0)
        return value.reshape(size, *(1,) * (_rank_at(x, places, key, n) - 1))
    return first(value, filled, size) if value.array.ndim else value


def _rank_at(x: Any, places: Sequence[Any], key: Sequence[Any], n: int) -> int:
    """How many dims what is written to has, the examples included."""
    rest = x.array.ndim - 1 - sum(k is not None and k is not ... for k in key)
    return 1 + n + sum(rest if k is ... else k is not HERE for k in key) + rest * (... not in key)
