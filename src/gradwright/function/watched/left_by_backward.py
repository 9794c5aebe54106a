"""What an earlier backward, which was not recorded, has left on ctx: tensors without history.

A recorded backward does not get them: to it, ctx is as forward left it, so that it computes them anew, recorded. Where
that cannot be, since they were put into a list of forward's, it gets them, and a second derivative through them warns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradwright.base.dtypes import FLOAT, of
from gradwright.engine.base import TensorBase
from gradwright.function.contract.reached import TENSORLESS, held_in

_ABSENT: Any = object()


class LeftByBackward:
    """The values taken off a ctx.

    Attributes:
        off: the attributes, by name.
        rest: the tensors that are still there, with the names of their places.
    """

    def __init__(self, node: Any) -> None:
        self.node, self.off, self.rest = node, {}, []
        own, left = node.__dict__, getattr(node, "_left", {})
        for name, value in [*own.items()]:
            found = [] if value.__class__ in TENSORLESS else [*_tensors(f"ctx.{name}", value)]
            if not found:
                continue
            if left.get(name, _ABSENT) is value:
                self.rest += found
                continue
            self.off[name] = value
            if name in left:
                own[name] = left[name]
            else:
                del own[name]

    def put_back(self) -> None:
        """Put the attributes back that have not been set anew."""
        own, left = self.node.__dict__, getattr(self.node, "_left", {})
        for name, value in self.off.items():
            if own.get(name, _ABSENT) is left.get(name, _ABSENT):
                own[name] = value


def _tensors(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    for path, t, _ in held_in(name, value):
        if isinstance(t, TensorBase) and t._node is None and of(t.array.dtype).category >= FLOAT:
            yield path, t
