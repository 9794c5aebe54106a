"""Where the batch goes where entries are read and written at arrays of indices.

With a batch of index arrays each example reads and writes its own part: at the index that counts the examples, beside
the others. An example's entries then come first; where its own index arrays stand together they go back to there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


class _Places:
    """The index arrays of an operation, with those that masks stand for.

    Attributes:
        key: the index, in which each of them stands as HERE; ``places`` they themselves.
        shared: whether they are the same for all examples and stand side by side: the batch is one dim before.
        spread: else, they with the examples as their first dim, be it of length 1, and all of as many dims.
        at, n: how many dims of the result come before what they name, and how many that has.
    """

    def __init__(self, call: Call, places: Sequence[Any], own: Sequence[bool]) -> None:
        self._call = call
        self.key, self.places, own = _without_masks(call.static["key"], places, own)
        here = [i for i, k in enumerate(self.key) if k is HERE]
        together = not here or here[-1] - here[0] == len(here) - 1
        self.shared = together and not any(own)
        self.n = max([p.array.ndim - b for p, b in zip(self.places, own, strict=True)], default=0)
        if not self.shared:
            self.spread = [padded(p if b else p.unsqueeze(0), self.n - (p.array.ndim - b))
                           for p, b in zip(self.places, own, strict=True)]  # fmt: skip
            self.at = sum(self.rest if k is ... else 1 for k in self.key[: here[0]]) if together else 0

    @property
    def rest(self) -> int:
        """How many dims of what is indexed the index does not name."""
        static = self._call.static
        ndim = len(static["shape"]) if "shape" in static else self._call.ranks()[0]
        return ndim - sum(k is not None and k is not ... for k in self.key)

    def rank(self) -> int:
        """How many dims what is indexed has, with the examples."""
        return 1 + self.n + sum(self.rest if k is ... else k is not HERE for k in self.key) + self.rest * (
            ... not in self.key
        )

    def of_all(self, *xs: Any, **static: Any) -> Any:
        """The operation with these arrays before the index arrays, which are the same for all examples."""
        return self._call.of([*xs, *self.places], key=(_ALL, *self.key), **static)

    def of_each(self, *xs: Any, **static: Any) -> Any:
        """The operation in which each example is at its number, beside its index arrays."""
        like, size = self.spread[0].array, self._call.size
        numbers = wrap(backends.namespace(like).arange(size, device=like.device)).reshape(size, *(1,) * self.n)
        return self._call.of([*xs, numbers, *self.spread], key=(HERE, *self.key), **static)

    def back(self, out: Any) -> Any:
        """What they name, from where it is with the examples, the first dims, to where it is in one example."""
        n, at = self.n, self.at
        return out.movedim(tuple(range(1, 1 + n)), tuple(range(1 + at, 1 + at + n))) if at else out

    def there(self, value: Any) -> Any:
        """The inverse of `back`."""
        n, at = self.n, self.at
        return value.movedim(tuple(range(1 + at, 1 + at + n)), tuple(range(1, 1 + n))) if at else value


def _indexed(count: int, *names: str) -> Callable[[Callable[..., Any]], Any]:
    """The rule ``f(call, places, *xs)`` of operations with so many arrays before the index arrays.

    Masks that are another one in each example are refused; with such as have no dims it is one after another.
    """

    def enter(f: Callable[..., Any]) -> Any:
        def found(call: Call) -> Any:
            places, own = call.xs[count:], call.which[count:]
            masks = [(p, b) for p, b in zip(places, own, strict=True) if _is_mask(p)]
            if any(b for _, b in masks):
                return refused(call)
            if any(not p.array.ndim for p, _ in masks):
                return one_by_one(call)
            return f(call, _Places(call, places, own), *call.xs[:count])

        return rule(*names)(found)

    return enter


@_indexed(1, "at")
def _at(call: Call, places: _Places, x: Any) -> Any:
    if places.shared:
        return places.of_all(x)
    if call.which[0]:
        return places.back(places.of_each(x))
    out = call.of([x, *places.spread], key=places.key)  # the examples are a dim of what is named
    return out.movedim(places.at, 0) if places.at else out


@_indexed(2, "put", "add_at")
def _put(call: Call, places: _Places, x: Any, value: Any) -> Any:
    (mine, filled, *_), size, (_, n, *_) = call.which, call.size, call.ranks()
    x = first(x, mine, size)
    if filled and not n:  # a number each
        value = value.reshape(size, *(1,) * (places.rank() - 1))
    elif n:
        value = first(value, filled, size)
    if places.shared:
        return places.of_all(x, value)
    return places.of_each(x, places.there(value) if n else value)


@_indexed(1, "unindex")
def _unindex(call: Call, places: _Places, x: Any) -> Any:
    x, shape = first(x, call.which[0], call.size), (call.size, *call.static["shape"])
    return places.of_all(x, shape=shape) if places.shared else places.of_each(places.there(x), shape=shape)


@_indexed(0, "last_at")
def _last_at(call: Call, places: _Places) -> Any:
    return places.back(places.of_each(shape=(call.size, *call.static["shape"])))


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
