"""What a traced run leaves: a program, where its inputs are read, and what is done with its outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradwright.backends.devices import device
from gradwright.backends.numpy import NUMPY
from gradwright.backends.steps import read
from gradwright.base import dtypes
from gradwright.base.upward import slots
from gradwright.compilation.node import Program, same
from gradwright.compilation.spans import Disjoint
from gradwright.compilation.trace.history import Saved, trace_backward
from gradwright.compilation.trace.trace import Trace
from gradwright.compilation.trace.traced import Traced, Untraceable
from gradwright.compilation.trace.units import Setting, Unit, hooks_of, outside
from gradwright.engine.base import TensorBase
from gradwright.engine.grad_mode import set_grad_enabled
from gradwright.engine.memory import layout, lying, overlaps, whole
from gradwright.engine.node import AccumulateGrad
from gradwright.engine.version import Untracked, version
from gradwright.engine.view import alias_of, is_severed, refresh
from gradwright.transform.arguments import flatten


def kind(t: Any) -> tuple[Any, bool, tuple[int, ...] | None]:
    """Of a tensor that is made, its version, whether it is a leaf that requires grad, and how it lies in memory."""
    if type(t) is not slots.tensor:
        raise Untraceable(f"it makes a {type(t).__name__}, and keeps it")
    if getattr(t, "_part", None) is not None and overlaps(t):
        raise Untraceable("it returns a tensor with several entries in one place of memory: return a clone() of it")
    version = t._counter[0]
    return (version if isinstance(version, Untracked) else int(version), type(t._node) is AccumulateGrad,
            lying(np.empty_like(layout(t))))  # fmt: skip


def lies_as(x: Any, of: Any, steps: tuple[Any, ...]) -> bool:
    """Whether ``x`` lies in memory as a view of ``of`` by these steps does."""
    mine, its = getattr(x, "_part", None), getattr(of, "_part", None)
    if mine is None or its is None:
        return mine is its
    return mine.memory is its.memory and _where(mine.layout) == _where(read(its.layout, steps))


def _where(array: Any) -> tuple[Any, ...]:
    return array.__array_interface__["data"], array.shape, array.strides


_PLAIN = (int, float, complex, str, bytes, bool, type(None), type, type(...), slice, range, np.dtype, np.generic,
          dtypes.dtype, device)  # fmt: skip


class Input:
    """The place where an input of a program is read.

    Attributes:
        kind: "argument" (``at``: its place among the leaves of the arguments), "grad" (the ``.grad`` of a tensor),
            "tensor", "array" (the array itself), or "setting".
        tensor: the tensor, or that whose ``.grad`` it is.
        of: the latter, as in `Record.result`.
        setting: the setting.
        array: what it was in the traced run.
        look: how the tensor that holds it was before (`look`).
        owns: that tensor.
        library: that of the array.
        whole: whether it is all of the memory, of this shape and dtype (``of_whole``), of which the tensor shows what
            ``steps`` say.
        place: the device of a setting that is used on one.
    """

    library: Any = NUMPY
    whole = False
    of_whole: tuple[Any, ...] = ()
    steps: tuple[Any, ...] = ()
    place: Any = None

    def __init__(self, kind: str, array: Any, tensor: Any = None, at: int = 0, setting: Setting | None = None) -> None:
        self.kind, self.array, self.at, self.setting = kind, array, at, setting
        self.tensor = tensor
        self.of: Any = None
        self.look: Any = None
        self.owns: Any = None

    @property
    def is_given(self) -> bool:
        """Whether it is read of an argument."""
        return self.kind == "argument" or (self.of is not None and self.of[0] == "argument")

    def holder(self, leaves: Sequence[Any]) -> Any:
        """The tensor that holds it, or what is in its place."""
        if self.kind == "argument":
            return leaves[self.at]
        return getattr(outside(self.of, leaves), "_grad", None) if self.kind == "grad" else self.tensor

    def what(self) -> str:
        """Its description, for people."""
        if self.kind == "setting":
            return f"the option {self.setting.key!r} of an optimiser"  # type: ignore[union-attr]
        if self.kind == "argument":
            return f"argument {self.at}"
        shape = list(self.array.shape if self.look is None else self.look[1])
        return f"{'the .grad of ' * (self.kind == 'grad')}a tensor of shape {shape} from outside"


class Record:
    """A traced run, for others like it.

    Attributes:
        program: arrays in, arrays out.
        sources: where each of its inputs is read.
        owned: arguments, by place, that are the ``.grad`` of a tensor that the program meets, and that tensor.
        grads: for tensors, what their ``.grad`` is afterwards: None, or a leaf as in ``result``.
        versions: tensors whose memory is written, and how often that was.
        made: for each tensor that is made: its version, whether it requires grad as a leaf, and the
            order of its axes in memory (None: row-major).
        outputs: for each of them, the number of the output that it holds.
        spent: for each of them its history, if that has been run through.
        histories: those of the others.
        shown: tensors that are made anew at every call over the memory of others (`Shown`).
        result: the leaves of what is returned: pairs of a kind and a value: "made", "argument", "tensor", "grad" and
            "shown" are tensors; "number" is that of an output, or lists of them, and how it is asked for.
        spec: their tree.
        answers: for tensors, as in ``result``, a question of Python's, a function of it, and the answer.
        shared: whether any of its arrays lies in several processes, all of which have to run it then.
    """

    program: Program
    sources: list[Input]
    owned: list[tuple[int, tuple[str, Any]]]
    grads: list[Any]
    versions: list[Any]
    outputs: list[int]
    spent: list[Any]
    histories: list[Any]
    shown: list[Shown]
    made: list[Any]
    result: list[Any]
    spec: Any
    looks: list[Any]
    answers: list[Any]
    draws: list[Any]
    shared: bool

    def release(self) -> None:
        """Let go of what was computed in the traced run, and of its arguments."""
        for source in self.sources:
            source.owns = None
            if source.kind != "array":
                source.array = None
            if source.kind == "argument" or (source.of and source.of[0] == "argument"):
                source.tensor = None
        parts = [part.program for history in self.histories for part in history.parts]
        for program in (self.program, *(history.program for history in self.histories), *parts):
            for node in program.nodes:
                node.value = None

    @property
    def written(self) -> list[int]:
        """The inputs whose memory is written."""
        return [k for k in self.program.writes if k is not None]

    def is_touched(self, leaves: Sequence[Any]) -> bool:
        """Whether another thread has written, since the run began, memory that the run has written, too."""
        for k in self.written:
            source, node = self.sources[k], self.program.inputs[k]
            t = source.holder(leaves)
            if source.array.__class__ is not np.ndarray:
                held = whole(t) if source.whole else t.array
                if held is not source.array:
                    return True
            elif not same(source.array, node.value):
                return True
        return False

    def versions_now(self, leaves: Sequence[Any]) -> list[int]:
        """How often the memory that a run writes has been written."""
        return [int(outside(t, leaves)._counter[0]) for t, _, _ in self.versions]

    def is_read_otherwise(self, arrays: Sequence[Any], before: Sequence[Any], versions: Sequence[int],
                          leaves: Sequence[Any]) -> bool:  # fmt: skip
        """Whether somebody else has written what a run has read, of which ``before`` are copies, or what it writes."""
        written = set(self.written)
        writes = zip(self.versions, versions, self.versions_now(leaves), strict=True)
        return any(now != was + count for (_, count, _), was, now in writes) or any(
            not same(a, b) for k, (a, b) in enumerate(zip(arrays, before, strict=True)) if k not in written)


class Shown:
    """A tensor over the memory of another one, and how it is made.

    Attributes:
        leaf: that other one, as in `Record.result`.
        how: "grad", "no_grad": a view made in that mode; "alias": of the view, another tensor without history;
            "data": one that has its own version, too.
        steps: the view operations, as in `View.steps`.
    """

    def __init__(self, leaf: tuple[str, Any], how: str, steps: Any, version: int = 0) -> None:
        self.leaf, self.how, self.steps, self.version = leaf, how, steps, version

    def make(self, t: Any) -> Any:
        """It, of that other one."""
        with set_grad_enabled(self.how == "grad"):
            found = read(t, self.steps)
            if self.how in ("alias", "data"):
                found = alias_of(found)
            if self.how == "data":
                found._counter = [self.version]
            return found


def record(trace: Trace, result: Any, leaves: Sequence[Any]) -> Record:
    """Make a record of a traced run that has returned ``result``; ``leaves`` are those of its arguments.

    Raises `Untraceable`.
    """
    return _Recorder(trace, leaves).record(result)


class _Recorder:
    def __init__(self, trace: Trace, leaves: Sequence[Any]) -> None:
        self.trace = trace
        self.known = trace.states
        self.arguments = {id(x): k for k, x in reversed([*enumerate(leaves)]) if isinstance(x, TensorBase)}
        self.outputs: list[Any] = []
        self.writes: list[int | None] = []
        self.made: dict[int, tuple[Any, int]] = {}
        self.shown: dict[int, tuple[Any, Shown]] = {}
        self.owner = trace.before.owners
        self.looks: dict[int, tuple[Any, Any, int | None, tuple[Any, ...]]] = {}

    def record(self, result: Any) -> Record:
        trace, out = self.trace, Record()
        inputs, out.sources = self._inputs()
        self._written(inputs)
        owners = [(k, self.owner[at]) for at, k in self.arguments.items() if at in self.owner]
        out.owned = [(k, self._outside(t)) for k, t in owners if id(t) in self.known or id(t) in self.arguments]
        out.grads, out.versions = self._effects()
        found, out.spec = flatten(result)
        out.result = [self._leaf(x) for x in found]
        kept: list[Any] = []
        while len(kept) < len(self.made):
            t = [t for t, _ in self.made.values()][len(kept)]
            if (grad := getattr(t, "_grad", None)) is not None:
                out.grads.append((("made", len(kept)), self._leaf(grad)))
            kept.append(t)
        trace.notes.check_bits([t.array for t in kept])
        out.made = [kind(t) for t in kept]
        out.shown = [found for _, found in self.shown.values()]
        out.outputs = [k for _, k in self.made.values()]
        self._history(out, kept, inputs)
        out.looks = list(self.looks.values())
        out.answers = [(self._leaf(t), question, answer) for (_, question), (t, answer) in trace.answers.items()
                       if question is not version or id(t) in self.arguments]  # fmt: skip
        if any(leaf[0] == "grad" for leaf, _, _ in out.answers):
            raise Untraceable("it asks of a .grad whether it is a view")
        out.draws = list(trace.sources)
        out.program = trace.notes.program(inputs, self.outputs, self.writes)
        out.shared = self._on_one_device(out.program)
        return out

    def _on_one_device(self, program: Program) -> bool:
        """Whether that is a mesh of several processes; Untraceable if there are several."""
        arrays = [n.value for n in program.nodes if n.library is not NUMPY and n.shape is not None]
        by = program.library
        places = list(dict.fromkeys(by.place_of(a) for a in arrays)) if by is not NUMPY else []
        if len(places) > 1 or any(n.library not in (NUMPY, by) for n in program.nodes):
            raise Untraceable(f"it computes on several devices, {' and '.join(map(str, places[:2]))}: a program of "
                              "JAX's arrays runs on one, or on one mesh. Move tensors outside of it")  # fmt: skip
        return any(by.is_elsewhere(a) for a in arrays)

    def _history(self, out: Record, kept: list[Any], inputs: list[Traced]) -> None:
        out.spent, out.histories = trace_backward(self.trace, kept, self.arguments)
        at, written = {id(x.node): k for k, x in enumerate(inputs)}, set(self.writes)
        for history in out.histories:
            saved: list[Any] = history.saved
            history.saved = []
            for node in saved:
                if node.shape is None:
                    raise Untraceable("its result has a history through a Function that computes in Python")
                k = at.get(id(node))
                if k is not None and k not in written and out.sources[k].look is not None:
                    history.saved.append(Saved(k, True))
                else:
                    history.saved.append(Saved(len(self.outputs), False))
                    self.outputs.append(node)
                    self.writes.append(None)
            history.sources, history.spec = out.sources, out.spec
            history.places = [_place(out, ("made", k)) for k, _, _ in history.outputs]
            history.pure = not (out.versions or out.grads or self.trace.sources)

    def _inputs(self) -> tuple[list[Traced], list[Input]]:
        inputs, sources = [], []
        for unit in self.trace.units:
            if unit.tensor is None:
                continue
            inputs.append(unit.start)
            sources.append(self._source(unit))
            for t, _ in unit.showing:
                if id(t) in self.known and sources[-1].owns is not t:
                    part = unit.parts.get(id(t))
                    self._look_at(t, len(inputs) - 1, part.steps if part is not None and unit.whole else ())
        for setting in self.trace.settings.values():
            inputs.append(setting.start)
            sources.append(Input("setting", None, setting=setting))
        for start, source in zip(inputs, sources, strict=True):
            source.library = start.by
            if source.setting is not None and start.by is not NUMPY:
                source.place = start.by.place_of(start.plain)
        return inputs, sources

    def _source(self, unit: Unit) -> Input:
        t = next((t for t, _ in unit.showing if id(t) in self.arguments), unit.tensor)
        if id(t) in self.arguments:
            out = Input("argument", unit.array, t, at=self.arguments[id(t)])
        elif id(t) in self.owner:
            out = Input("grad", unit.array, self.owner[id(t)])
            out.of = self._outside(out.tensor)
        elif id(t) in self.known:
            out = Input("tensor", unit.array, t)
        else:
            return Input("array", unit.array)
        out.owns = t
        out.whole, out.of_whole = unit.whole, (unit.array.shape, unit.array.dtype)
        out.steps = unit.parts[id(t)].steps if unit.whole else ()
        out.look = self.known[id(t)].look
        return out

    def _outside(self, t: Any) -> tuple[str, Any]:
        """A tensor that was there before, as in ``result``."""
        return ("argument", self.arguments[id(t)]) if id(t) in self.arguments else ("tensor", t)

    def _look_at(self, t: Any, unit: int | None = None, steps: tuple[Any, ...] = ()) -> None:
        self.looks.setdefault(id(t), (self._outside(t), self.known[id(t)].look, unit, steps))

    def _written(self, inputs: list[Traced]) -> None:
        at = {id(x): k for k, x in enumerate(inputs)}
        units = [u for u in self.trace.units if u.tensor is not None]
        written = [k for k, unit in enumerate(units) if unit.now() is not unit.start]
        arrays = [unit.array for unit in units]
        numpys = [k for k, array in enumerate(arrays) if isinstance(array, np.ndarray)]
        if not Disjoint(numpys, written).of_all(arrays) and any(
                np.shares_memory(arrays[k], arrays[j])
                for k in written if k in numpys for j in numpys if j != k):  # fmt: skip
            raise Untraceable("a tensor is written that shows a part of the memory of another one that is read")
        for unit in (units[k] for k in written):
            new = unit.now()
            self.outputs.append(new)
            self.writes.append(at[id(unit.start)])

    def _effects(self) -> tuple[list[Any], list[Any]]:
        grads, versions, seen = [], [], set()
        shown = {id(t) for unit in self.trace.units for t, _ in unit.showing}
        for state in self.trace.states.values():
            t = state.tensor
            if t._node is not state.node:
                raise Untraceable("a tensor from outside of the function gets a history, or requires grad from now on")
            if t._node is not None and hooks_of(t._node) != state.look[-1]:
                raise Untraceable("a hook is hung on a tensor from outside of the function, or taken from it")
            if t._view is not state.view or t.array.shape != state.look[1]:
                raise Untraceable("a tensor from outside of the function is given another shape, or is a view from "
                                  "now on")  # fmt: skip
            if t.array is not state.array and id(t) not in shown:
                raise Untraceable("a tensor from outside of the function is given other memory (its .data is set)")
            if t._counter is not state.counter:
                raise Untraceable("a tensor from outside of the function shares memory with another one from now on")
            if (delta := int(state.counter[0]) - int(state.version)) and id(state.counter) not in seen:
                seen.add(id(state.counter))
                versions.append((self._outside(t), delta, state.counter[1] if len(state.counter) > 1 else None))
            grad = getattr(t, "_grad", None)
            if grad is not state.grad:
                self._look_at(t)
                grads.append((self._outside(t), None if grad is None else self._leaf(grad)))
        return grads, versions

    def _leaf(self, x: Any) -> tuple[str, Any]:
        number = self.trace.notes.numbers.of(x)
        if number is not None:
            self.outputs.append(number.node)
            self.writes.append(None)
            return "number", (len(self.outputs) - 1, number.how)
        if not isinstance(x, TensorBase):
            if isinstance(x, _PLAIN):
                return "value", x
            raise Untraceable(f"it returns an object of {type(x).__name__}: tensors, numbers, text, and lists, tuples, "
                              "dictionaries and dataclasses of them can be made again")  # fmt: skip
        if id(x) in self.arguments:
            return "argument", self.arguments[id(x)]
        if id(x) in self.trace.before.known:
            owner = self.owner.get(id(x))
            return ("tensor", x) if owner is None else ("grad", self._outside(owner))
        self.trace.adopt(x)
        if x._node is not None and type(x._node) is not AccumulateGrad and getattr(x, "retains_grad", False):
            raise Untraceable("it returns a tensor of which the gradient is retained: call retain_grad() on what it "
                              "returns")  # fmt: skip
        if id(x) in self.shown or self._shows(x):
            return "shown", [*self.shown].index(id(x))
        if id(x) not in self.made:
            self.made[id(x)] = x, len(self.outputs)
            self.outputs.append(x.array)
            self.writes.append(None)
        return "made", [*self.made].index(id(x))

    def _shows(self, x: Any) -> bool:
        """Whether a tensor shows the memory of another one: then it is made anew of that."""
        view, part = x._view, getattr(x, "_part", None)
        others = [] if part is None else [t for t in part.memory.tensors() if t is not x]
        known = [t for t in others if id(t) in self.trace.before.known or id(t) in self.made]
        if view is not None and view.origin in (None, "no_grad", "several") and not view.itself:
            refresh(x)
            plain = x._node is None or is_severed(x._node)
            if not plain and (view.origin == "no_grad" or view.base._node is None):
                raise Untraceable("it returns a view with a history that its base has not")
            how = "no_grad" if view.origin == "no_grad" or (plain and view.base._node is not None) else "grad"
            of, steps = view.base, view.steps
        elif not known:
            return False
        else:
            alike = [t for t in known if not t._part.steps and t._view is None]
            whole = next(iter(sorted(alike, key=lambda t: t._counter is not x._counter)), None)
            if whole is None or x._node is not None or x._view is not None or x.is_inference():
                raise Untraceable("it returns a tensor that shows memory of another one, and is no view of it: "
                                  "return a clone() of it")  # fmt: skip
            how = "alias" if whole._counter is x._counter else "data"
            of, steps = whole, x._part.steps
        if not lies_as(x, of, steps):
            raise Untraceable("it returns a view of a tensor that has been given another shape or other memory since: "
                              "return a clone() of it")  # fmt: skip
        self.shown[id(x)] = x, Shown(self._leaf(of), how, steps, 0 if how != "data" else int(x._counter[0]))
        return True


def _place(out: Record, leaf: tuple[str, Any]) -> tuple[str, Any]:
    """Where a tensor that a run has made is to be found: see `History.places`."""
    for j, found in enumerate(out.result):
        if found == leaf:
            return "result", j
        if found[0] == "shown" and out.shown[found[1]].leaf == leaf and out.shown[found[1]].how in ("grad", "no_grad"):
            return "base", j
    owner = next((t for (kind, t), found in out.grads if found == leaf and kind == "tensor"), None)
    return "grad", owner
