"""Random numbers in a traced run: each draw is a node that is run anew at every call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwright.compilation.node import HOST
from gradwright.compilation.trace.traced import Notes
from gradwright.compilation.trace.untraceable import Untraceable


class Drawing:
    """NumPy's generator in a trace: what it draws is drawn anew at every call.

    ``left`` are the states in which sources were after their last draw. In another state the next one is a draw of the
    same numbers once more, as a checkpointed function's: `Untraceable`.
    """

    def __init__(self, notes: Notes, source: Any, left: dict[Any, Any]) -> None:
        self._notes, self._source, self._left = notes, source, left

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)

        def draw(*args: Any, **kwargs: Any) -> Any:
            source, left = self._source, self._left
            if source.get_state() != left.get(source, source.get_state()):
                raise Untraceable("random numbers are drawn from a state that was set in the step, as those of a "
                                  "checkpointed function are in its second run")  # fmt: skip
            values = [self._notes.noted(a) for a in args]
            call = Draw(self._source, name, kwargs)
            value = call(*[v.value if hasattr(v, "value") else v for v in values])
            left[source] = source.get_state()
            return self._notes.hold(self._notes.enter(HOST, (call, *values), {}, value), value)

        return draw


class Draw:
    """One draw of random numbers."""

    def __init__(self, source: Any, name: str, kwargs: dict[str, Any]) -> None:
        self.source, self.name, self.kwargs = source, name, kwargs

    def __call__(self, *args: Any) -> Any:
        return getattr(self.source.generator(), self.name)(*args, **self.kwargs)

    def __repr__(self) -> str:
        return f"<draw {self.name}>"
