"""Running a piece of code again as if nothing had happened since it ran first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from gradwright.backends.generator import shared
from gradwright.engine.memory import content, refill
from gradwright.engine.mode import now
from gradwright.function.contract.reached import Spot


def at_level(level: Any, f: Callable[..., Any], *args: Any) -> Any:
    """The result of ``f`` with ``level`` as the innermost one, as it is further outside; else without levels."""
    inner = now().level
    return f(*args) if inner is None or inner is level else inner.outside(at_level, level, f, *args)


@contextmanager
def as_it_was(
    random: dict[Any, Any] | None,
    places: Sequence[tuple[Spot, Any]] = (),
    memory: Sequence[tuple[Any, Any]] = (),
    nodes: Sequence[tuple[Any, Any]] = (),
) -> Iterator[None]:
    """Inside, all of this is as it was; afterwards it is as it is now, whatever happens inside.

    ``random`` has the state of each source of random numbers; None if what is drawn inside counts. ``places`` has what
    each place held, ``memory`` the content of what holds memory, ``nodes`` the history of each tensor.
    """
    sources = () if random is None else {*random, shared}
    present = (
        {source: source.get_state() for source in sources if source.is_on},
        [(spot, spot.get()) for spot, _ in places],
        [(one, content(one)) for one, _ in memory],
        [(t, t._node) for t, _ in nodes],
    )
    try:
        _put(random or {}, places, memory, nodes)
        yield
    finally:
        _put(*present)


def _put(random: dict[Any, Any], places: Sequence[tuple[Spot, Any]], memory: Sequence[tuple[Any, Any]],
         nodes: Sequence[tuple[Any, Any]]) -> None:  # fmt: skip
    for source, state in random.items():
        source.set_state(state)
    for spot, value in places:
        spot.put(value)
    for one, values in memory:
        refill(one, values)
    for t, node in nodes:
        t._node = node
