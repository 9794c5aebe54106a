"""What a derivative must not depend on: experiments, of which gradcheck, diagnose and check word what is found.

Each calls a subject and its backward again with one thing changed, and they must come to the same. Where they refuse,
that is not silent, and so no fault, unless it is asked for. And what is marked as non-differentiable must be.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gradwright.engine.backward import walk
from gradwright.engine.node import Node
from gradwright.engine.strict import strict
from gradwright.function.ctx import BackwardNode
from gradwright.transform.arguments import settled
from gradwright.verify.numeric.again import UNASKED, USUAL, Calls, Change, OfFunction, Outcome, floats, pulled, usual
from gradwright.verify.numeric.differences import differences, here
from gradwright.verify.numeric.draws import draw
from gradwright.verify.numeric.jacobian import Subject, rounding, tensors, wider

REFUSED = (
    ArithmeticError, AssertionError, AttributeError, BufferError, LookupError, RuntimeError, TypeError, ValueError,
)  # fmt: skip
"""Exceptions that a function may raise where it need not be defined."""


_PAIRS = 6
"""So many pairs of inputs at most are made one tensor."""


class Fault(NamedTuple):
    """Something that a derivative depends on and must not.

    Attributes:
        name: of the experiment. sentence: what was found. mend: what to do. cause: the kind, as finely as is known.
        error: what was raised, if that is what was found.
    """

    name: str
    sentence: str
    mend: str
    cause: str = ""
    error: Exception | None = None


class Visit:
    """A call of a subject at another point, best before all others: what it keeps of its first call is wrong then.

    Attributes:
        change: what is changed to call it there, with cotangents of equal entries.
        level: whether all entries of an input are alike there; else it refuses that, and they are near the inputs.
        outcome: what came of it; None where it refuses both.
    """

    def __init__(self, calls: Calls) -> None:
        self.calls, self.outcome = calls, None
        with quiet():
            for elsewhere in (_level, nearby):
                points = [elsewhere(a) if w else a for a, w in zip(calls.arrays, calls.wanted, strict=True)]
                self.change = Change(points, cotangents=_level_cotangent)
                found = _tried(self.again)
                if found is not None and all(np.isfinite(a).all() for part in found for a in part if _is_array(a)):
                    self.outcome, self.level = found, elsewhere is _level
                    break

    def again(self) -> Outcome:
        """The outcome of another call there."""
        return self.calls.outcome(self.change)


@dataclass(frozen=True, eq=False)
class Trying:
    """A subject that was found right at a point, to be tried in other conditions.

    Attributes:
        calls: how it is called. right: what it returns, and what backward makes of the usual cotangents.
        names: of the inputs. atol, rtol: how far others may be off, beside the largest.
        visit: another point, where it was called before. kept: the gradients by another pass over the graph of `right`.
        marked: which outputs are marked as non-differentiable. unit: the rounding of its numbers.
        cotangents: those that `right` was made with.
        refusing: whether it is a fault to raise where arrays lie otherwise, or others are asked for.
        foreign: whether it is of a library that has no negative strides.
    """

    calls: Calls
    right: Outcome
    names: Sequence[str]
    atol: float
    rtol: float
    visit: Visit | None = None
    kept: Callable[[], list[Any]] | None = None
    marked: Sequence[int] = ()
    unit: float = 0.0
    cotangents: Callable[[int, Any], Any] = usual
    refusing: bool = False
    foreign: bool = False

    def first(self, name: str, mend: str, tries: Sequence[tuple[str, Change]], refusing: bool = False) -> Fault | None:
        """The fault of the first of these changes that makes a difference."""
        for when, change in tries:
            off, error = self.differs(change, self.right)
            if off and (error is None or (refusing and self.refusing)):
                return Fault(name, f"{when} {off}", mend, error=error)
        return None

    def differs(self, change: Change, due: Outcome) -> tuple[str, Exception | None]:
        """What is another than is due with this change, ``""`` if nothing is; and what was raised."""
        try:
            found = self.calls.outcome(change)
        except REFUSED as e:
            return f"it raises {type(e).__name__}: {e}", e
        return self.off(found, due), None

    def off(self, found: Outcome, due: Outcome) -> str:
        """What is another than is due, by more than may be; ``""`` if nothing is, or it cannot be compared."""
        if len(found.values) != len(due.values):
            return ""
        for k, (a, b) in enumerate(zip(found.values, due.values, strict=True)):
            if self._differ(a, b, due.values):
                return f"output {k} is another"
        for j, (a, b) in enumerate(zip(found.gradients, due.gradients, strict=False)):
            if a is not UNASKED and b is not UNASKED and self._differ(a, b, due.gradients):
                return f"backward gives another gradient of `{self.names[j]}`"
        return ""

    def _differ(self, a: Any, b: Any, among: Sequence[Any]) -> bool:
        if a is b or (a is not None and b is not None and a.shape == b.shape and (a == b).all()):
            return False
        if a is not None and b is not None and a.shape != b.shape:
            return True
        a, b = (np.zeros(()) if z is None else z for z in (a, b))
        return bool((~(np.abs(a - b) <= self.atol + self.rtol * _largest(among)) & np.isfinite(b)).any())


# ---- the experiments -------------------------------------------------------------------------------------


def _other_calls(t: Trying) -> Fault | None:
    if t.visit is not None and t.visit.outcome is not None:
        _tried(t.visit.again)
    off = t.off(t.right._replace(gradients=t.kept()), t.right) if t.kept is not None else ""
    if not off:
        return None
    return Fault("stale state", f"after another call of forward {off}: it uses what that left behind",
                 "keep what backward needs on ctx (save_for_backward for tensors), not on the class or in a global")


def _recording(t: Trying) -> Fault | None:
    return t.first("grad mode", "compute the same whether gradwright.is_grad_enabled() or not", [
        ("where nothing is recorded (no_grad)", Change(plain=True)),
        ("in a pass that is recorded (create_graph=True)", Change(recorded=True))])  # fmt: skip


def _asking(t: Trying) -> Fault | None:
    """Half of the inputs require grad, then the others; so that of any two each once does without the other."""
    wanted = [j for j, w in enumerate(t.calls.wanted) if w]
    tries = []
    for bit in range((len(wanted) - 1).bit_length()):
        for side in (0, 1):
            asked = [i for k, i in enumerate(wanted) if k >> bit & 1 == side]
            names = ", ".join(f"`{t.names[i]}`" for i in asked)
            one = Change(asked=[j in asked for j in range(len(t.names))])
            tries.append((f"where only {names} requires grad", one))
    return t.first("needs_input_grad", "look at what depends on ctx.needs_input_grad, or on requires_grad", tries,
                   refusing=True)


def _strides(t: Trying) -> Fault | None:
    n, visit = len(t.calls.arrays), t.visit
    arrays = [*t.calls.arrays, *(np.zeros(0) if a is None else a for a in t.right.values)]
    several = [slot for slot, a in enumerate(arrays) if a.size > 1]
    if visit is not None and visit.outcome is not None:
        level = [j for j in several if j >= n or (visit.level and t.calls.wanted[j])]
        if (found := _laid_out(t, visit.change, visit.outcome, dict.fromkeys(level, "stride-0"))) is not None:
            return found
    names = ["negative-stride", "strided", "transposed"]
    if all(arrays[slot].ndim < 2 for slot in several):
        names.remove("transposed")
    if t.foreign:
        names.remove("negative-stride")
    for turn in range(len(names) if several else 0):  # arrays side by side never lie alike
        layouts = {slot: names[(turn + slot) % len(names)] for slot in several}
        if (found := _laid_out(t, USUAL, t.right, layouts)) is not None:
            return found
    return None


def _laid_out(t: Trying, base: Change, due: Outcome, layouts: dict[int, str]) -> Fault | None:
    """The fault if arrays that lie so do not give what is due; if both refuse, only inputs or cotangents lie so."""
    n = len(t.names)
    for some in (layouts, {s: lay for s, lay in layouts.items() if s >= n},
                 {s: lay for s, lay in layouts.items() if s < n}):  # fmt: skip
        off, error = t.differs(base._replace(layouts=some), due)
        if error is not None and not t.refusing:
            continue
        if off and (error is not None or not _is_rounding(t, base, due)):
            return _blamed(t, base, due, some, off)
        return None
    return None


def _is_rounding(t: Trying, base: Change, due: Outcome) -> bool:
    """Whether numbers that rounding may have made of these make a difference, too."""
    near = [(a * (1 + 8 * t.unit * draw(a, 70))).astype(a.dtype) if w else a
            for a, w in zip(base.arrays or t.calls.arrays, t.calls.wanted, strict=True)]  # fmt: skip
    return bool(t.differs(base._replace(arrays=near), due)[0])


def _blamed(t: Trying, base: Change, due: Outcome, layouts: Mapping[int, str], off: str) -> Fault:
    """The fault, and which of the arrays it is about."""
    n = len(t.names)
    what, cause, error = "arrays that lie in several ways", "", None
    for slot, lay in ((s, lay) for s, all_so in layouts.items() for lay in ("read-only", all_so)):
        if lay == "read-only" and t.foreign:
            continue
        differs, error = t.differs(base._replace(layouts={slot: lay}), due)
        if differs and (error is None or t.refusing):
            what, off = f"a {lay} {f'`{t.names[slot]}`' if slot < n else 'grad_output'}", differs
            cause = f"{lay} {'input' if slot < n else 'cotangent'}"
            break
    mend = "keep to the library's functions, or take a contiguous copy first: contiguous()"
    if cause.startswith("read-only") and error is not None:
        mend = "do not write to it: work on a clone()"
    than = "" if error is not None else " than for contiguous memory with the same numbers"
    return Fault("strides", f"for {what} {off}{than}", mend, cause, error)


def _marked(t: Trying) -> Fault | None:
    """What a Function marks as non-differentiable does not grow with the inputs; it may jump."""
    if not t.marked:
        return None
    arrays, wanted = t.calls.arrays, t.calls.wanted
    ways = [way(a) if w else 0 for a, w in zip(arrays, wanted, strict=True)]

    def at(s: float) -> list[Any]:
        moved = [(a + s * way_of).astype(a.dtype) for a, way_of in zip(arrays, ways, strict=True)]
        return [np.zeros(1) if a is None else a for a in t.calls.outcome(Change(moved, plain=True)).values]

    k = _tried(lambda: growing(at, t.unit, t.marked))
    return None if k is None else Fault(
        "non-differentiable", f"output {k} is marked as non-differentiable, but changes smoothly with the inputs",
        "give it a gradient in backward instead of ctx.mark_non_differentiable; or do not return it")  # fmt: skip


def _linear(t: Trying) -> Fault | None:
    """Backward of no cotangents, of negative, small, large and other ones, against what it must be if it is linear.

    Factors are powers of two, which what is linear is multiplied by to the bit.
    """
    far = 2.0**20 if t.unit < 1e-10 else 2.0**10 if t.unit < 1e-4 else 2.0**6
    near = 2.0**-12 if t.unit < 1e-4 else 2.0**-4
    loose = replace(t, rtol=max(t.rtol, 1e-6, t.unit**0.5))
    due = t.right.gradients

    def fault(how: str, off: str) -> Fault:
        return Fault("not linear", f"backward is not linear in grad_output: {how} {off}",
                     "use grad_output once in every term, and no function of it such as abs, a power, a threshold or "
                     "clipping")  # fmt: skip

    def given(cotangents: Callable[[int, Any], Any]) -> list[Any] | None:
        found = _tried(lambda: t.calls.outcome(Change(cotangents=cotangents)))
        return None if found is None else found.gradients

    def differs(found: list[Any] | None, due: list[Any]) -> str:
        known = [UNASKED if _is_array(a) and not np.isfinite(a).all() else a for a in found or ()]  # overflow
        return loose.off(Outcome([], known), Outcome([], due))

    for how, factor in (("of 0", 0.0), ("of the other sign", -1.0), ("far smaller", near), ("far larger", far),
                        ("far larger, of the other sign", -far)):  # fmt: skip
        found = given(partial(_scaled, t, factor))
        if off := differs(_times(found, 1 / factor if factor else 1.0), due if factor else _times(due, 0.0)):
            return fault(f"for one {how}", off.replace("another gradient", "another gradient than that times the factor"
                                                       if factor else "a gradient that is not 0"))  # fmt: skip
    other = lambda k, like: (3 * draw(like, 103 + k)).astype(like.dtype)
    one, both = given(other), given(lambda k, like: t.cotangents(k, like) + other(k, like))
    if one is not None and both is not None:
        sums = [a if b is None or b is UNASKED else b if a is None else a + b for a, b in zip(due, one, strict=True)]
        if off := differs(both, sums):
            return fault("for the sum of two", off.replace("another gradient", "another gradient than the sum"))
    return None


def _same_tensor(t: Trying) -> Fault | None:
    """One tensor for two inputs has the sum of the gradients that two tensors of its numbers have."""
    if hasattr(getattr(t.calls, "func", None), "first"):  # a gradient by such a tensor returns the sum itself
        return None
    arrays, kinds = t.calls.arrays, [(a.shape, a.dtype) if w else None for a, w in
                                     zip(t.calls.arrays, t.calls.wanted, strict=True)]  # fmt: skip
    pairs = [(i, j) for j in range(len(arrays)) for i in range(j) if kinds[i] is not None and kinds[i] == kinds[j]]
    for i, j in pairs[:_PAIRS]:
        alike = Change([arrays[i].copy() if k in (i, j) else a for k, a in enumerate(arrays)], cotangents=t.cotangents)
        alone, one = (_tried(partial(t.calls.outcome, c)) for c in (alike, alike._replace(same=(i, j))))
        if alone is None or one is None:
            continue
        parts = [g for g in (alone.gradients[k] for k in (i, j)) if g is not None]
        due = [sum(parts) if k in (i, j) and parts else g for k, g in enumerate(alone.gradients)]
        if off := t.off(one, Outcome(alone.values, due)):
            return Fault("same tensor", f"where `{t.names[i]}` and `{t.names[j]}` are one tensor {off} than for two "
                         "tensors of the same numbers", "return the gradient of each argument as if the other were "
                         "another tensor: they are added up")  # fmt: skip
    return None


def _dtype(t: Trying) -> Fault | None:
    """In float64 the same numbers have the same gradients, but for what rounding does."""
    arrays = t.calls.arrays
    wide = [a.astype(wider(a.dtype)) if w else a for a, w in zip(arrays, t.calls.wanted, strict=True)]
    narrow = [a.dtype.name for a, b in zip(arrays, wide, strict=True) if a.dtype != b.dtype]
    if not narrow:
        return None

    def cotangents(k: int, like: Any) -> Any:
        return t.cotangents(k, like.astype(t.right.values[k].dtype)).astype(like.dtype)

    return narrower(t, narrow[0], wide, lambda at: t.calls.outcome(Change(at, cotangents=cotangents)))


def narrower(t: Trying, dtype: str, wide: list[Any], run: Callable[[list[Any]], Outcome]) -> Fault | None:
    """The fault if gradients are others than those of the same call in float64, which ``run`` makes of these inputs.

    What is lost where digits cancel, by what inputs are rounded to or by how large its results are, is no fault;
    and where the results are others, gradients are not compared.
    """
    near = [(a * (1 + 4 * t.unit * draw(a, 71))).astype(a.dtype) if w else a
            for a, w in zip(wide, t.calls.wanted, strict=True)]  # fmt: skip
    due, rounded = (_tried(partial(run, at)) for at in (wide, near))
    part = max(1e-3, 8 * t.unit)
    values = t.right._replace(gradients=[])
    if due is None or rounded is None or replace(t, rtol=part).off(due._replace(gradients=[]), values):
        return None
    largest = _largest(due.gradients)
    given = _largest([t.cotangents(k, a) for k, a in enumerate(due.values) if a is not None])
    room = t.atol + part * largest + 8 * t.unit * given * _largest(due.values) / min(_largest(wide) or 1.0, 1.0)
    for a, b, c, name in zip(t.right.gradients, due.gradients, rounded.gradients, t.names, strict=True):
        if _is_array(a) and _is_array(b) and _is_array(c) and a.shape == b.shape == c.shape:
            off = np.abs(a.astype(b.dtype) - b)
            off = np.where(np.isfinite(off), off - np.where(np.isfinite(c), np.abs(b - c), np.inf), 0)
            if (off > room).any():
                return Fault("dtype", f"in {dtype} backward gives another gradient of `{name}` than in float64, by "
                             f"{off.max() / (largest or 1):.2g} of the largest",
                             "look at what depends on the dtype in backward, and for digits that cancel")  # fmt: skip
    return None


def _largest(found: Sequence[Any]) -> float:
    return max((float(np.abs(z[np.isfinite(z)]).max(initial=0)) for z in found if _is_array(z)), default=0.0)


def _off_axis(t: Trying) -> Fault | None:
    """Complex inputs that are real, or imaginary, are turned; there the gradients must be those of differences."""
    arrays, wanted = t.calls.arrays, t.calls.wanted
    axis = [j for j, (a, w) in enumerate(zip(arrays, wanted, strict=True))
            if w and a.dtype.kind == "c" and a.size and not (a.imag.any() and a.real.any())]  # fmt: skip
    points = [(np.where(a == 0, 0.2, a) * (0.8 + 0.4j)).astype(a.dtype) if j in axis else a
              for j, a in enumerate(arrays)]  # fmt: skip
    given: dict[int, Any] = {}

    def noted(k: int, like: Any) -> Any:
        return given.setdefault(k, t.cotangents(k, like))

    there = _tried(lambda: t.calls.outcome(Change(points, cotangents=noted))) if axis else None
    if there is None:
        return None
    ways = [draw(a, 60) * np.maximum(np.abs(a), 0.05) if j in axis else np.zeros(a.shape) for j, a in enumerate(arrays)]

    def sampler(s: Any) -> tuple[Any, list[Any]]:
        moved = [(p + s * u).astype(p.dtype) if j in axis else p
                 for j, (p, u) in enumerate(zip(points, ways, strict=True))]  # fmt: skip
        values = t.calls.outcome(Change(moved, plain=True)).values
        return s, [np.array([[sum(_inner(g, values[k]) for k, g in given.items())]])]

    h = t.unit ** (1 / 3)
    taken = [_tried(partial(differences, sampler, step)) for step in (h, h / 2)]
    whole, half = (np.nan if d is None else d.slopes[0].item() for d in taken)
    if not np.isfinite(whole - half):
        return None
    pairs = [(there.gradients[j], ways[j]) for j in axis if there.gradients[j] is not None]
    found = sum(_inner(g, u) for g, u in pairs)
    size = max(sum(float(np.abs(g * u).sum()) for g, u in pairs), abs(half))
    if not abs(found - half) > 10 * abs(whole - half) + max(t.rtol, 20 * t.unit ** (2 / 3)) * size:
        return None
    names = ", ".join(f"`{t.names[j]}`" for j in axis)
    return Fault("off the axis", f"where {names} is turned off the axis that its entries are on, backward gives a "
                 f"slope of {found:.6g}, and differences {half:.6g}", "conjugate what grad_output is multiplied with: "
                 "3 * grad_output * (z * z).conj() for z**3")  # fmt: skip


def _inner(a: Any, b: Any) -> float:
    return float(np.sum((np.conj(a) * b).real))


def _scaled(t: Trying, factor: float, k: int, like: Any) -> Any:
    return (factor * t.cotangents(k, like)).astype(like.dtype)


def _times(gradients: list[Any] | None, factor: float) -> list[Any]:
    return [g * factor if _is_array(g) else g for g in gradients or ()]


class Experiment(NamedTuple):
    """One of the table.

    Attributes:
        changed: what is. stays: what must not change with it. fault: what finds out.
        own: whether it is only of interest where a derivative may be the user's: gradwright's own do not ask.
    """

    changed: str
    stays: str
    fault: Callable[[Trying], Fault | None]
    own: bool = True


EXPERIMENTS: dict[str, Experiment] = {
    "stale state": Experiment("another call before backward", "the gradients", _other_calls, own=False),
    "grad mode": Experiment("whether forward, or backward, is recorded", "results and gradients", _recording,
                            own=False),
    "not linear": Experiment("the grad_outputs: by a factor, or another is added", "that the gradients change likewise",
                             _linear),
    "same tensor": Experiment("two inputs become one tensor", "results; and the gradient is the sum", _same_tensor),
    "off the axis": Experiment("complex inputs that are all real, or imaginary", "that differences give the gradients",
                               _off_axis),
    "dtype": Experiment("the dtype: float64 for one that is narrower", "the gradients, but for rounding", _dtype),
    "needs_input_grad": Experiment("which inputs require grad", "results and the gradients of these", _asking),
    "strides": Experiment("how inputs and grad_outputs lie in memory", "results and gradients", _strides),
    "non-differentiable": Experiment("the inputs, smoothly", "what is marked as non-differentiable", _marked),
}  # fmt: skip
"""All of them, in order, by the name of what they find."""


def fault(t: Trying, *names: str) -> Fault | None:
    """The first fault that these experiments find."""
    with quiet():
        return next((found for name in names if (found := EXPERIMENTS[name].fault(t)) is not None), None)


# ---- of functions of tensors -----------------------------------------------------------------------------


class Conditions:
    """A function of tensors that was found right at a point, tried in other conditions.

    Attributes:
        cotangents: one for each output. right: what it returns, and what backward makes of them.
    """

    def __init__(self, visit: Visit, subject: Subject, atol: float, rtol: float) -> None:
        calls = visit.calls
        assert isinstance(calls, OfFunction)
        self.subject, self.varied = subject, calls.varied
        self.cotangents = [usual(k, o.array) for k, o in zip(subject.which, subject.outputs, strict=True)]
        kept = lambda: pulled(subject.outputs, calls.varied, self.cotangents)
        self.right = Outcome(floats(subject.returned), kept())
        known = {id(x): n for n, x in zip(subject.names, subject.varied, strict=True)}
        unit = max((rounding(a.dtype) for a in calls.arrays), default=0.0)
        self.trying = Trying(calls, self.right, [known[id(x)] for x in calls.varied], atol, rtol, visit, kept,
                             _marked_by(subject), unit)  # fmt: skip

    def fault(self, *names: str) -> Fault | None:
        """The first one that is found by these experiments; by all that are fit, if none are named."""
        by_hand = self._by_hand()
        return fault(self.trying, *(n for n in names or EXPERIMENTS if by_hand or not EXPERIMENTS[n].own))

    def gradient(self, x: Any) -> Any:
        """That of one of the inputs."""
        return next(g for g, v in zip(self.right.gradients, self.varied, strict=True) if v is x)

    def _by_hand(self) -> bool:
        """Whether a derivative here may be the user's: gradwright's own do not ask how arrays lie."""
        outputs = self.subject.outputs
        if (first := getattr(self.subject.func, "first", None)) is not None:  # a gradient hides whose it is
            outputs = [t for t in settled(tensors(first(*self.subject.inputs))) if t.requires_grad]
        return any(map(_of_the_user, walk([o._node for o in outputs])))


def _marked_by(subject: Subject) -> list[int]:
    """Which of the tensors returned are of floating point, and by their looks marked by a Function."""
    pairs = zip(subject.returned, floats(subject.returned), strict=True)
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


# ---- what it takes ---------------------------------------------------------------------------------------


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


def _tried(run: Callable[[], Any]) -> Any:
    """Its result; None if it refuses."""
    try:
        return run()
    except REFUSED:
        return None


def _is_array(value: Any) -> bool:
    return value is not None and value is not UNASKED


def _level_cotangent(k: int, like: Any) -> Any:
    """One of equal entries."""
    return np.full(like.shape, 1.25 / (k + 1), like.dtype)


def _level(array: Any) -> Any:
    """Numbers that are all alike."""
    return np.full(array.shape, array.reshape(-1)[:1].sum() * 0.8731 or 0.25, array.dtype)


def nearby(array: Any) -> Any:
    """Numbers inside most domains that these are inside of."""
    return array * array.dtype.type(0.8731) if array.any() else array + array.dtype.type(0.25)


@contextmanager
def quiet() -> Iterator[None]:
    """Without complaints, which were made where nothing was changed."""
    with strict(False), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield
