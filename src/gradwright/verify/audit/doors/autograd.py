"""autograd: the vjps that `defvjp` gives to a primitive, at the arguments that backward passes call them with."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial, wraps
from typing import Any

import numpy as np

from gradwright.verify.audit.doors.door import Call, Door, Pairs, door
from gradwright.verify.audit.doors.heard import FIRST, LATER, copied, named, place
from gradwright.verify.pairs import Pair, Point
from gradwright.verify.pairs.pair import VJP

_LAST = FIRST + LATER


@door("autograd.core", "defvjp")
def defvjp(call: Call) -> Pairs | None:
    """A primitive and its vjps, which are heard until the program ends."""
    fun, makers = call.given["fun"], call.given.get("vjpmakers", ())
    numbers = call.given.get("kwargs", {}).get("argnums", range(len(makers)))
    call.about = [getattr(fun, "fun", fun), *(m for m in makers if m is not None)]
    kept: dict[int, list[Any]] = {}
    made = [m if m is None else _heard(m, kept.setdefault(n, [])) for n, m in zip(numbers, makers, strict=False)]
    call.given["vjpmakers"] = tuple(made)
    call.lasts = True
    plain = dict(zip(numbers, makers, strict=False))

    name = named(getattr(fun, "fun", fun))

    def pairs() -> Iterator[Pair]:
        for n, calls in kept.items():
            maker = plain[n]
            at = lambda args, x, n=n: (*args[:n], x, *args[n + 1 :])
            value = lambda x, args, kwargs, at=at: fun(*at(args, x), **kwargs)

            def product(x: Any, w: Any, args: Any, kwargs: Any, maker: Any = maker, at: Any = at) -> Any:
                moved = at(args, x)
                return maker(fun(*moved, **kwargs), *moved, **kwargs)(w)

            points = tuple(Point(args[n], (args, kwargs), g, returned, ans, None, k)
                           for k, args, kwargs, ans, g, returned in calls)  # fmt: skip
            if points:
                yield Pair(VJP, value, product, points, (name, f"vjp {n} of {name}"), place(maker),
                           "autograd.extend.defvjp", calls=len(points))  # fmt: skip

    return pairs


def _heard(maker: Any, kept: list[Any]) -> Any:
    """A maker of vjps, whose calls with arrays are kept."""
    number = [0]

    @wraps(maker)
    def made(ans: Any, *args: Any, **kwargs: Any) -> Any:
        vjp = maker(ans, *args, **kwargs)
        number[0] += 1
        plain = all(isinstance(a, (np.ndarray, np.generic, int, float, complex)) for a in (ans, *args))
        if not plain or len(kept) >= _LAST or (number[0] > FIRST and number[0] & (number[0] - 1)):
            return vjp
        given, answer = copied(args), copied(ans)
        return partial(_kept, vjp, kept, number[0], given, kwargs, answer)

    return made


def _kept(vjp: Any, kept: list[Any], number: int, args: Any, kwargs: Any, ans: Any, g: Any) -> Any:
    found = vjp(g)
    if isinstance(g, (np.ndarray, np.generic, int, float)):
        kept.append((number, args, kwargs, ans, copied(g), copied(found)))
    return found


DOORS: list[Door] = [*defvjp]
