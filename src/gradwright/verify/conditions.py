"""What a derivative must not depend on: other calls, whether it is recorded, who else asks, how arrays lie in memory.

A function and its backward are run again with one of these changed, and must come to the same. Where they refuse, that
is not silent, and so no fault. And what is marked as non-differentiable must be.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gradwright.base import dtypes
from gradwright.engine.backward import walk
from gradwright.engine.base import wrap
from gradwright.engine.calls import grad
from gradwright.engine.grad_mode import no_grad
from gradwright.engine.node import Node
from gradwright.engine.strict import strict
from gradwright.function.ctx import BackwardNode
from gradwright.transform.arguments import settled
from gradwright.verify.numeric.differences import differences, here, replaced
from gradwright.verify.numeric.draws import draw
from gradwright.verify.numeric.jacobian import Subject, exchanged, leaf, rounding, tensors
from gradwright.verify.numeric.layouts import LAYOUTS, expanded

REFUSED = (
    ArithmeticError, AssertionError, AttributeError, BufferError, LookupError, RuntimeError, TypeError, ValueError,
)  # fmt: skip
"""What a function may raise where it need not be defined."""


class Fault(NamedTuple):
    """Something that a derivative depends on and must not: its kind in a word or two, what was found, the mend."""

    name: str
    sentence: str
    mend: str


class Outcome(NamedTuple):
    """What a call came to: arrays of what was returned, None for one of integers; and the gradients of the inputs."""

    values: list[Any]
    gradients: list[Any]


UNASKED = object()
"""In the place of the gradient of an input that did not require grad."""
Layouts = Mapping[int, str]
"""How some arrays lie: of n inputs number j by j, the cotangent of the tensor k that is returned by n + k."""


class Visit:
    """A call of a function at another point before it is looked at: what it keeps of its first call is wrong then.

    Attributes:
        varied: the inputs that require grad, each once.
        points: where it was called.
        level: whether all entries of an input are alike there; else it refuses that, and they are near the inputs.
        outcome: what came of it; None where it refuses both.
    """

    def __init__(self, func: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
        self.func, self.inputs = func, inputs
        self.varied = [x for x in {id(t): t for t in tensors(inputs)}.values() if x.requires_grad]
        self.outcome: Outcome | None = None
        with _quiet():
            for elsewhere in (_level, _nearby):
                self.points = [elsewhere(np.asarray(x.array)) for x in self.varied]
                found = self.again({})
                if found is not None and all(np.isfinite(a).all() for part in found for a in part if a is not None):
                    self.outcome, self.level = found, elsewhere is _level
                    break

    def again(self, layouts: Layouts, by: float = 0.0) -> Outcome | None:
        """What comes of another call there, with tensors of its own and cotangents of equal entries."""
        fresh = {id(x): leaf(a) for x, a in zip(self.varied, self._laid_out(self.points, layouts, by), strict=True)}
        inputs = exchanged(self.inputs, lambda t: fresh.get(id(t), t))
        return _tried(lambda: self.run(inputs, [*fresh.values()], _level_cotangent, layouts))

    def here(self, layouts: Layouts, by: float = 0.0) -> Outcome | None:
        """What comes of a call with the inputs as they are, but for how they lie."""
        arrays = self._laid_out([np.asarray(x.array) for x in self.varied], layouts, by)
        with ExitStack() as stack:
            for x, a in zip(self.varied, arrays, strict=True):
                stack.enter_context(replaced(x, a))
            return _tried(lambda: self.run(self.inputs, self.varied, _cotangent, layouts))

    def _laid_out(self, arrays: Sequence[Any], layouts: Layouts, by: float) -> list[Any]:
        if by:
            arrays = [(a * (1 + by * draw(a, 70))).astype(a.dtype) for a in arrays]
        return [_laid(a, layouts.get(j)) for j, a in enumerate(arrays)]

    def run(self, inputs: Any, varied: Sequence[Any], cotangent: Callable[[int, Any], Any],
            layouts: Layouts) -> Outcome:
        """Call the function, and backward with ``cotangent(k, array)`` for that array, the one returned at ``k``."""
        returned, n = tensors(self.func(*inputs)), len(varied)
        outs = {k: t for k, t in enumerate(returned) if t.requires_grad}
        asked = [x for x in varied if x.requires_grad]
        given = [_laid(cotangent(k, t.array), layouts.get(n + k)) for k, t in outs.items()]
        found = iter(_pulled([*outs.values()], asked, given))
        return Outcome([a if a is None else np.array(a) for a in _floats(returned)],
                       [next(found) if x.requires_grad else UNASKED for x in varied])  # fmt: skip


class Conditions:
    """A function that was found right at a point, tried in other conditions.

    Attributes:
        cotangents: one for each output.
        right: what it returns, and what backward makes of them.
    """

    def __init__(self, visit: Visit, subject: Subject, atol: float, rtol: float) -> None:
        self.visit, self.subject, self.atol, self.rtol = visit, subject, atol, rtol
        self.cotangents = [_cotangent(k, o.array) for k, o in zip(subject.which, subject.outputs, strict=True)]
        self.right = Outcome(_floats(subject.returned), self._pulled())

    @cached_property
    def names(self) -> list[str]:
        """How to call each of the inputs."""
        known = {id(x): n for n, x in zip(self.subject.names, self.subject.varied, strict=True)}
        return [f"`{known[id(x)]}`" for x in self.visit.varied]

    @cached_property
    def _by_hand(self) -> bool:
        """Whether a derivative here may be the user's: gradwright's own do not ask how arrays lie."""
        outputs = self.subject.outputs
        if (first := getattr(self.subject.func, "first", None)) is not None:  # a gradient hides whose it is
            outputs = [t for t in settled(tensors(first(*self.subject.inputs))) if t.requires_grad]
        return any(map(_of_the_user, walk([o._node for o in outputs])))

    def fault(self) -> Fault | None:
        """The first one that is found."""
        with _quiet():
            looks = [self._other_calls, self._recording]
            if self._by_hand:
                looks += [self._asking, self._layouts, self._marked]
            return next((found for look in looks if (found := look()) is not None), None)

    def gradient(self, x: Any) -> Any:
        """That of one of the inputs."""
        return next(g for g, v in zip(self.right.gradients, self.visit.varied, strict=True) if v is x)

    def _other_calls(self) -> Fault | None:
        visit, n = self.visit, len(self.visit.varied)
        laid_out = None
        if visit.outcome is not None and self._by_hand:
            level = range(n) if visit.level else ()
            slots = [*level, *(n + k for k in self.subject.which)]
            laid_out = self._laid_out(visit.again, visit.outcome, dict.fromkeys(slots, "stride-0"))
        off = self._off(self.right._replace(gradients=self._pulled()), self.right)
        if not off:
            return laid_out
        return Fault("stale state", f"after another call of forward {off}: it uses what that left behind",
                     "keep what backward needs on ctx (save_for_backward for tensors), not on the class or in a global")

    def _recording(self) -> Fault | None:
        func = self.subject.func
        plain = getattr(func, "for_values", no_grad()(func))
        values = _tried(lambda: _floats(tensors(plain(*self.subject.inputs))))
        if values is not None and (off := self._off(self.right._replace(values=values), self.right)):
            return Fault("grad mode", f"where nothing is recorded (no_grad) {off}", SAME)
        grads = _tried(lambda: self._pulled(recorded=True))  # forward may run again for it
        if grads is not None and (off := self._off(self.right._replace(gradients=grads), self.right)):
            return Fault("grad mode", f"in a pass that is recorded (create_graph=True) {off}", SAME)
        return None

    def _asking(self) -> Fault | None:
        """Half of the inputs require grad, then the others; so that of any two each once does without the other."""
        varied = self.visit.varied
        for bit in range((len(varied) - 1).bit_length()):
            for side in (0, 1):
                asked = [j >> bit & 1 == side for j in range(len(varied))]
                with _constant([x for x, a in zip(varied, asked, strict=True) if not a]):
                    found = _tried(lambda: self.visit.run(self.subject.inputs, varied, _cotangent, {}))
                if found is not None and (off := self._off(found, self.right)):
                    names = ", ".join(n for n, a in zip(self.names, asked, strict=True) if a)
                    return Fault("needs_input_grad", f"where only {names} requires grad {off}",
                                 "look at what depends on ctx.needs_input_grad, or on requires_grad")  # fmt: skip
        return None

    def _layouts(self) -> Fault | None:
        arrays = [np.asarray(t.array) for t in (*self.visit.varied, *self.subject.returned)]
        several = [slot for slot, a in enumerate(arrays) if a.size > 1]
        names = ["negative-stride", "strided", "transposed"]
        if all(arrays[slot].ndim < 2 for slot in several):
            names.pop()
        for turn in range(len(names) if several else 0):  # arrays side by side never lie alike
            layouts = {slot: names[(turn + slot) % len(names)] for slot in several}
            if (found := self._laid_out(self.visit.here, self.right, layouts)) is not None:
                return found
        return None

    def _laid_out(self, run: Callable[..., Outcome | None], due: Outcome, layouts: Layouts) -> Fault | None:
        """The fault if arrays that lie so do not give what is due; if both refuse, only inputs or cotangents lie so."""
        n = len(self.visit.varied)
        for some in (layouts, {s: lay for s, lay in layouts.items() if s >= n},
                     {s: lay for s, lay in layouts.items() if s < n}):  # fmt: skip
            found = run(some)
            if found is not None and self._off(found, due):
                unit = max(rounding(x.array.dtype) for x in self.visit.varied)
                near = run({}, 8 * unit)
                if near is None or self._off(near, due):  # as rounding does
                    return None
                return self._blamed(run, due, some)
            if found is not None and some is layouts:
                return None
        return None

    def _blamed(self, run: Callable[..., Outcome | None], due: Outcome, layouts: Layouts) -> Fault:
        names = self.names
        what, off = "arrays that lie in several ways", "results are others"
        for slot, lay in ((s, lay) for s in layouts for lay in ("read-only", layouts[s])):
            found = run({slot: lay})
            if found is not None and (differs := self._off(found, due)):
                what, off = f"a {lay} {names[slot] if slot < len(names) else 'grad_output'}", differs
                break
        return Fault("strides", f"for {what} {off} than for contiguous memory with the same numbers",
                     "keep to gradwright's functions, or take a contiguous copy first: contiguous()")  # fmt: skip

    def _marked(self) -> Fault | None:
        """What a Function marks as non-differentiable does not grow with the inputs; it may jump."""
        marked = _marked(self.subject)
        if not marked:
            return None
        here = [np.asarray(x.array) for x in self.visit.varied]
        ways = [way(a) for a in here]

        def at(t: float) -> list[Any]:
            with ExitStack() as stack, no_grad():
                for x, a, way_of in zip(self.visit.varied, here, ways, strict=True):
                    stack.enter_context(replaced(x, (a + t * way_of).astype(a.dtype)))
                return [np.array(t.array) for t in tensors(self.subject.func(*self.subject.inputs))]

        k = _tried(lambda: growing(at, max(rounding(a.dtype) for a in here), marked))
        return None if k is None else Fault("non-differentiable", f"output {k} {GROWS}", DECLARED)

    def _pulled(self, recorded: bool = False) -> list[Any]:
        return _pulled(self.subject.outputs, self.visit.varied, self.cotangents, recorded)

    def _off(self, found: Outcome, due: Outcome) -> str:
        """What is another than is due, by more than may be; ``""`` if nothing is, or it cannot be compared."""
        if len(found.values) != len(due.values):
            return ""
        for k, (a, b) in enumerate(zip(found.values, due.values, strict=True)):
            if self._differ(a, b, due.values):
                return f"output {k} is another"
        for j, (a, b) in enumerate(zip(found.gradients, due.gradients, strict=True)):
            if a is not UNASKED and self._differ(a, b, due.gradients):
                return f"backward gives another gradient of {self.names[j]}"
        return ""

    def _differ(self, a: Any, b: Any, among: Sequence[Any]) -> bool:
        if a is b or (a is not None and b is not None and a.shape == b.shape and (a == b).all()):
            return False
        if a is not None and b is not None and a.shape != b.shape:
            return True
        a, b = (np.zeros(()) if z is None else z for z in (a, b))
        scale = max((float(np.abs(z[np.isfinite(z)]).max(initial=0)) for z in among if z is not None), default=0.0)
        return bool((~(np.abs(a - b) <= self.atol + self.rtol * scale) & np.isfinite(b)).any())


SAME = "compute the same whether gradwright.is_grad_enabled() or not"
GROWS = "is marked as non-differentiable, but changes smoothly with the inputs"
DECLARED = "give it a gradient in backward instead of ctx.mark_non_differentiable; or do not return it"


def growing(at: Callable[[float], Sequence[Any]], unit: float, which: Sequence[int]) -> int | None:
    """The first ``which`` of the arrays ``at(t)`` grows with ``t``; one that jumps does not."""
    far = unit**0.25
    whole, half = (differences(lambda t: (t, [np.reshape(a, (1, -1)) for a in at(t)]), h) for h in (far, far / 2))
    for k in which:
        size = np.abs(whole.slopes[k])
        steady = np.abs(whole.slopes[k] - half.slopes[k]) < size / 10
        if (steady & (2 * size > far * np.abs(here(whole.up[k])))).any():
            return k
    return None


def way(array: Any) -> Any:
    """A way to move all entries of an array at once, each by its size."""
    return draw(array, 50) * np.clip(np.abs(array), 0.05, 1)


# ---- what it takes


def _cotangent(k: int, like: Any) -> Any:
    """The cotangent of the tensor number ``k`` that is returned: large ones, of which clipping would show."""
    return (3 * draw(like, 3 + k)).astype(like.dtype)


def _level_cotangent(k: int, like: Any) -> Any:
    """One of equal entries."""
    return np.full(like.shape, 1.25 / (k + 1), like.dtype)


def _pulled(outputs: Sequence[Any], inputs: Sequence[Any], cotangents: Sequence[Any], recorded: bool = False) -> Any:
    """The gradients of the inputs, arrays or None."""
    if not outputs or not inputs:
        return [None] * len(inputs)
    given = [wrap(v) for v in cotangents]
    found = grad(outputs, inputs, given, retain_graph=True, create_graph=recorded, allow_unused=True)
    return [None if g is None else np.asarray(g.array) for g in found]


def _tried(run: Callable[[], Any]) -> Any:
    """What it returns; None if it refuses."""
    try:
        return run()
    except REFUSED:
        return None


def _laid(array: Any, layout: str | None) -> Any:
    if layout is None or array.size < 2:
        return array
    array = expanded(array) if layout == "stride-0" else LAYOUTS[layout](array)
    array.flags.writeable = layout in ("negative-stride", "transposed")
    return array


def _level(array: Any) -> Any:
    """Numbers that are all alike."""
    return np.full(array.shape, array.reshape(-1)[:1].sum() * 0.8731 or 0.25, array.dtype)


def _nearby(array: Any) -> Any:
    """Numbers inside most domains that these are inside of."""
    return array * array.dtype.type(0.8731) if array.any() else array + array.dtype.type(0.25)


def _floats(returned: Sequence[Any]) -> list[Any]:
    """Their arrays; None for one that is not of floating point."""
    return [t.array if dtypes.of(t.array.dtype).category >= dtypes.FLOAT else None for t in returned]


def _marked(subject: Subject) -> list[int]:
    """Which of the tensors returned are of floating point, and by their looks marked by a Function."""
    pairs = zip(subject.returned, _floats(subject.returned), strict=True)
    silent = {k: a for k, (t, a) in enumerate(pairs) if a is not None and not t.requires_grad}
    if not silent:
        return []
    nodes = [n for n in walk([o._node for o in subject.outputs]) if isinstance(n, BackwardNode)]
    metas = [m for n in nodes for k, m in enumerate(n._outputs) if m is not None and k not in (n._ports or (0,))]
    return [k for k, a in silent.items() if (a.shape, a.dtype) in metas]


def _of_the_user(node: Node) -> bool:
    """Whether a node is of a Function, or of an operation that is declared elsewhere than in gradwright."""
    op = getattr(type(node), "_op", None)
    return isinstance(node, BackwardNode) or not (op is None or op.forward.__module__.startswith("gradwright."))


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


@contextmanager
def _quiet() -> Iterator[None]:
    """Without complaints, which were made where nothing was changed."""
    with strict(False), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield
