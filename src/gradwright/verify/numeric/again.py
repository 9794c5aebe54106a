"""A subject called again, with one thing changed: other numbers, other strides, recorded or not, others asked for.

`Calls` says what a call came to, as arrays, whatever library runs it. `OfFunction` is a function of gradwright's
tensors, some of which it may hold itself; what is always called on fresh tensors, of PyTorch's too, is
`gradwright.verify.check.trial.Trial`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import numpy as np

from gradwright.base import dtypes
from gradwright.engine.base import wrap
from gradwright.engine.calls import grad
from gradwright.engine.grad_mode import no_grad
from gradwright.verify.numeric.differences import replaced
from gradwright.verify.numeric.draws import draw
from gradwright.verify.numeric.jacobian import exchanged, leaf, tensors
from gradwright.verify.numeric.layouts import LAYOUTS, expanded

UNASKED = object()
"""In the place of the gradient of an input that did not require grad."""


class Outcome(NamedTuple):
    """The outcome of a call: arrays of its results, None for one of integers; and the gradients of the inputs."""

    values: list[Any]
    gradients: list[Any]


def usual(k: int, like: Any) -> Any:
    """The cotangent of the tensor number ``k`` that is returned: large ones, of which clipping would show."""
    return (3 * draw(like, 3 + k)).astype(like.dtype)


class Change(NamedTuple):
    """The differences of a call from a usual one.

    Attributes:
        arrays: the numbers of the inputs. same: two of them, the second of which is the very tensor of the first; this
            goes with ``arrays``. layouts: how some arrays lie: of n inputs number j by j, the cotangent of
            the tensor k that is returned by n + k.
        asked: which of the inputs require grad; of those that do as a rule.
        cotangents: the cotangent of the tensor number ``k`` that is returned, given that; None leaves it out.
        recorded: whether the backward pass is. plain: that nothing is recorded, so that there is none.
    """

    arrays: Sequence[Any] | None = None
    layouts: Mapping[int, str] = {}
    asked: Sequence[bool] | None = None
    cotangents: Callable[[int, Any], Any] = usual
    recorded: bool = False
    plain: bool = False
    same: tuple[int, int] | None = None


USUAL = Change()


class Calls(ABC):
    """A subject at a point, that can be called again.

    Attributes:
        arrays: the numbers of the inputs. wanted: which of them require grad.
    """

    arrays: list[Any]
    wanted: list[bool]

    @abstractmethod
    def outcome(self, change: Change = USUAL) -> Outcome:
        """The outcome of a call of its own. Raises whatever it raises."""

    def laid_out(self, change: Change) -> list[Any]:
        """The numbers of the inputs, lying as asked for."""
        arrays = self.arrays if change.arrays is None else change.arrays
        return [laid(a, change.layouts.get(j)) for j, a in enumerate(arrays)]

    def asked(self, change: Change) -> list[bool]:
        """Which of the inputs require grad."""
        return [w and a for w, a in zip(self.wanted, change.asked or self.wanted, strict=True)]

    def given(self, change: Change, outputs: Mapping[int, Any]) -> list[Any]:
        """The cotangents of these arrays, by their number among what is returned."""
        n = len(self.arrays)
        found = {k: change.cotangents(k, a) for k, a in outputs.items()}
        return [None if g is None else laid(np.asarray(g), change.layouts.get(n + k)) for k, g in found.items()]


class OfFunction(Calls):
    """A function of gradwright's tensors: at other numbers it is given other tensors, else these, lying otherwise.

    Attributes:
        varied: the inputs that require grad, each once.
    """

    def __init__(self, func: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
        self.func, self.inputs = func, inputs
        self.varied = [x for x in {id(t): t for t in tensors(inputs)}.values() if x.requires_grad]
        self.wanted = [True] * len(self.varied)

    @property
    def arrays(self) -> list[Any]:  # type: ignore[override]
        """The numbers of the inputs."""
        return [np.asarray(x.array) for x in self.varied]

    def outcome(self, change: Change = USUAL) -> Outcome:
        """The outcome of a call."""
        arrays, asked, inputs, varied = self.laid_out(change), self.asked(change), self.inputs, self.varied
        with ExitStack() as stack:
            if change.arrays is None:
                for x, a in zip(varied, arrays, strict=True):
                    stack.enter_context(replaced(x, a))
            else:
                fresh = {id(x): leaf(a) for x, a in zip(varied, arrays, strict=True)}
                if change.same is not None:
                    first, second = (id(varied[j]) for j in change.same)
                    fresh[second] = fresh[first]
                inputs, varied = exchanged(inputs, lambda t: fresh.get(id(t), t)), [*fresh.values()]
            stack.enter_context(_constant([x for x, a in zip(varied, asked, strict=True) if not a]))
            if change.plain:
                plain = getattr(self.func, "for_values", no_grad()(self.func))
                return Outcome(floats(tensors(plain(*inputs))), [])
            returned = tensors(self.func(*inputs))
            outs = {k: t for k, t in enumerate(returned) if t.requires_grad}
            given = self.given(change, {k: t.array for k, t in outs.items()})
            wanted = [x for x in varied if x.requires_grad]
            found = iter(pulled([*outs.values()], wanted, given, change.recorded))
            return Outcome([a if a is None else np.array(a) for a in floats(returned)],
                           [next(found) if a else UNASKED for a in asked])  # fmt: skip


def pulled(outputs: Sequence[Any], inputs: Sequence[Any], cotangents: Sequence[Any],
           recorded: bool = False) -> list[Any]:  # fmt: skip
    """The gradients of the inputs, arrays or None, by one pass over the graph of these outputs, which is kept."""
    pairs = [(o, wrap(v)) for o, v in zip(outputs, cotangents, strict=True) if v is not None]
    if not pairs or not inputs:
        return [None] * len(inputs)
    found = grad([o for o, _ in pairs], inputs, [v for _, v in pairs], retain_graph=True, create_graph=recorded,
                 allow_unused=True)  # fmt: skip
    return [None if g is None else np.asarray(g.array) for g in found]


def floats(returned: Sequence[Any]) -> list[Any]:
    """The arrays of tensors; None for one that is not of floating point."""
    return [t.array if dtypes.of(t.array.dtype).category >= dtypes.FLOAT else None for t in returned]


def laid(array: Any, layout: str | None) -> Any:
    """An array that lies so, if it has more than one entry."""
    if layout is None or array.size < 2:
        return array
    array = expanded(array) if layout == "stride-0" else LAYOUTS[layout](array)
    array.flags.writeable = layout in ("negative-stride", "transposed")
    return array


@contextmanager
def _constant(inputs: Sequence[Any]) -> Iterator[None]:
    """Tensors that require grad, as ones that do not."""
    nodes = [x._node for x in inputs]
    try:
        for x in inputs:
            x._node = None
        yield
    finally:
        for x, node in zip(inputs, nodes, strict=True):
            x._node = node
