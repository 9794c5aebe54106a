"""One program of a function: which calls it stands for, its inputs gathered, and its outputs handed on.

Both are text written for the program and compiled: a call of a small program takes as long as its Python does.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from sys import getrefcount
from typing import Any

import numpy as np

from gradwright.backends.devices import device
from gradwright.backends.numpy import NUMPY
from gradwright.base.upward import slots
from gradwright.compilation.comparison import Looks
from gradwright.compilation.race import Race
from gradwright.compilation.seen import Seen, asks_for_grad
from gradwright.compilation.spans import Disjoint
from gradwright.compilation.trace.record import Input, Record
from gradwright.compilation.trace.units import hooks_of, look, outside, place
from gradwright.compilation.watch.guards import Guard, compiled_guards, is_atom, same, same_array
from gradwright.engine.base import TensorBase
from gradwright.engine.memory import laid, rebind
from gradwright.engine.node import AccumulateGrad
from gradwright.engine.view import refresh
from gradwright.function.contract.trees import tree_unflatten


def _count() -> int:
    array = object()
    return getrefcount(array)


ONE_VARIABLE = _count()
"""How many references `getrefcount` tells of what one variable holds."""


def _reading(source: Input, array: str, t: str, last: str, name: Callable[[Any], str], written: bool) -> list[str]:
    """The lines that read an input into ``array`` from the tensor ``t``; None is returned where it does not fit."""
    _, shape, dtype, lies, *_ = source.look
    shown = f"{t}.array"
    lines = []
    if written or source.whole:
        lines.append(f"p{array} = getattr({t}, '_part', None)")
    if source.whole:
        lines.append(f"if p{array} is None or p{array}.steps != {name(source.steps)}: return None")
        shown, (shape, dtype) = f"p{array}.memory.array", source.of_whole
    return [
        *lines,
        f"{array} = {shown}",
        f"if {array} is not {last} or {t}._view is not None:",
        f"    if {t}._view is not None: is_current({t})",
        f"    if getattr({array}, 'sharding', None) != {name(lies)} or {array}.shape != {tuple(shape)!r}: return None",
        f"    if {array}.dtype != {name(dtype)}: return None",
        "    moved = True",
    ]


def _looking(state: tuple[Any, ...], t: str, array: str, owner: str | None, steps: Any,
            name: Callable[[Any], str]) -> list[str]:  # fmt: skip
    """The lines that look at another tensor over memory that has been read, or at one of which nothing was read."""
    _, shape, dtype, lies, *_ = state
    lines = [f"{array} = {t}.array", f"if getattr({array}, 'sharding', None) != {name(lies)}: return None",
             f"if {array}.shape != {shape!r} or {array}.dtype != {name(dtype)}: return None"]  # fmt: skip
    if owner is not None:
        lines += [f"part = getattr({t}, '_part', None)",
                  f"if part is None or part.memory is not {owner}.memory or part.steps != {name(steps)}: return None"]
    return [*lines, f"{array} = None"]  # which would count as holding it


def held_by_us(array: Any, part: Any, t: Any) -> int:
    """How many references there are to an array that the program has made and a tensor holds, if nobody else has it."""
    variable_and_argument = ONE_VARIABLE
    tensor, last_arrays = 1, 1
    memory = part is not None
    leaf = t._node is not None and t._node._array is array
    return variable_and_argument + tensor + last_arrays + memory + leaf


def _using_up(array: str, t: str, last: str) -> list[str]:
    """The lines that copy an array unless the program has made it, and nobody else holds it."""
    ours = f"held_by_us({array}, p{array}, {t})"
    return [f"if {array} is not {last} or count({array}) != {ours}: {array} = {array}.copy()"]


def _exchanging(t: str, array: str, whole: bool) -> list[str]:
    """The lines that let a tensor hold a new array: `rebind`, whose shortest way they take without a call."""
    return [
        f"t = {t}",
        f"if getattr(t, '_part', None) is not None: rebind(t, {array}, {whole})",
        "else:",
        f"    t.array = {array}",
        f"    if t._node is not None and t._node._array is not None: t._node._array = {array}",
    ]


def _no_shared_writes(record: Record) -> Callable[[Sequence[Any]], bool]:
    """From the tensors of all inputs to whether none shows memory that is written through another one."""
    kept = [k for k, s in enumerate(record.sources) if s.look is not None and s.library is not NUMPY]
    written = set(record.written)

    def check(tensors: Sequence[Any]) -> bool:
        seen: dict[int, bool] = {}
        for k in kept:
            part = getattr(tensors[k], "_part", None)
            if part is not None:
                at = id(part.memory)
                if at in seen and (seen[at] or k in written):
                    return False
                seen[at] = k in written
        return True

    return check


def _arrays_of(value: float, source: Input) -> Callable[[float], Any]:
    """From a number to an array of it on the device where it is used; the last one is kept."""
    held = [value, source.library.brought(np.array(value), None, source.place)]

    def array(number: float) -> Any:
        if held[0] != number:
            held[:] = number, source.library.brought(np.array(number), None, source.place)
        return held[1]

    return array


_number = count().__next__
_NUMBERS = {"item": "{}.item()", "tolist": "{}.tolist()", "float": "float({}.item())"}


_RAISED = (ValueError, TypeError, LookupError, AttributeError, RuntimeError, ArithmeticError)


class Failed(Exception):  # noqa: N818 - no error: an eager run tells, or catches it as the function does
    """A program has raised, and nothing is written yet."""


class Entry:
    """A recorded run, made ready to be done again.

    Attributes:
        record: what was recorded.
        runner: its program, made ready.
        guards: what Python code has read.
        changed: a function: which of the guards does not hold any more; None if all do.
        unchanged: a quick one: whether all do.
        gather: from the leaves of arguments to the array of each input; None if the program does not stand for them.
        commit: from outputs, leaves and the arrays of inputs to what the function returns; does all else that it did.
        checked: whether a run of it has been compared with an eager one.
        looks: when it is done again.
        borrows: whether its guards are those of another size, until it has been compared.
        touched: how often that said nothing, as another thread has written what it reads.
        last: the arrays of inputs that the last call was given, or has left.
        number: larger than that of every entry made before.
        place: which of its function's programs it is.
        race: whether it is quicker than an eager run, while that is not known, or if it is not.
    """

    def __init__(self, record: Record, runner: Any, leaves: Sequence[Any], guards: Sequence[Guard] = (),
                 checked: bool = False) -> None:  # fmt: skip
        self.record, self.runner = record, runner
        self.checked, self.place, self.touched = checked, 0, 0
        self.looks = Looks()
        self.borrows = False
        self.race: Race | None = None
        self.guard(guards, leaves)

    def guard(self, guards: Sequence[Guard], leaves: Sequence[Any]) -> None:
        """Look at these from now on; ``leaves`` are those of the arguments of a call that it stands for."""
        record, self.guards = self.record, guards
        held = [s.tensor for s in record.sources if s.look is not None and not s.is_given]
        self.changed = compiled_guards(guards, held)
        self.unchanged: Callable[[], bool] = self.changed.check  # type: ignore[attr-defined]
        for history in record.histories:
            history.unchanged = self.unchanged
        text = _Text(record, leaves, guards, self.runner)
        self._fixed = text.fixed
        lines = text.gather() + text.commit()
        self.text = "\n".join(lines)
        self.number = _number()
        filename = f"<gradwright compiled call {self.number}>"
        linecache.cache[filename] = (len(self.text), None, self.text.splitlines(keepends=True), filename)
        exec(compile(self.text, filename, "exec"), text.scope)  # noqa: S102 - the text is written here
        self.last: list[Any] = text.scope[text.last]
        self.gather: Callable[[Sequence[Any]], list[Any] | None] = text.scope["gather"]
        self.commit: Callable[[Sequence[Any], Sequence[Any], Sequence[Any]], Any] = text.scope["commit"]

    def called(self, arrays: Sequence[Any], leaves: Sequence[Any]) -> Any:
        """What the function returns for arrays that `gather` gave; all that it writes is written."""
        try:
            return self.commit(self.run(arrays), leaves, arrays)
        finally:
            if self.runner.done:  # what was written is used up, and an interrupt, or an error, came in between
                self._settle(leaves)

    def asked(self, leaves: Sequence[Any]) -> Any:
        """What a call does that finds it, from the question whether the program stands for it."""
        arrays = self.gather(leaves) if self.unchanged() else None
        if arrays is None:
            raise Failed
        return self.called(arrays, leaves)

    def run(self, arrays: Sequence[Any]) -> Any:
        """The outputs of the program. Raises `Failed` where it raises before it has written anything."""
        try:
            return self.runner(arrays)
        except _RAISED as e:
            if self.runner.done or self.record.shared:
                raise
            raise Failed from e

    def _settle(self, leaves: Sequence[Any]) -> None:
        for at, array in self.runner.left():
            source = self.record.sources[at]
            rebind(source.holder(leaves), array, source.whole)
        self.runner.done.clear()

    def moved(self, leaves: Sequence[Any]) -> str:
        """Why `gather` has returned None, for people."""
        for k, was in self._fixed:
            if k < len(leaves) and is_atom(was) and is_atom(leaves[k]) and not same(was, leaves[k]):
                return (f"argument {k}, which was {was!r}, is {leaves[k]!r}: each value has a program of its own. Give "
                        "a number that changes as a tensor")  # fmt: skip
        for source in self.record.sources:
            if source.look is not None:
                if what := _differs(source.look, source.holder(leaves)):
                    return f"{source.what()}: {what}"
            elif source.kind == "setting" and source.setting.read() is None:  # type: ignore[union-attr]
                return f"the option {source.setting.key!r} of an optimiser"  # type: ignore[union-attr]
        for leaf, state, *_ in self.record.looks:
            if what := _differs(state, outside(leaf, leaves)):
                return f"a tensor of shape {list(state[1])} from outside: {what}"
        return ("which tensors share memory or are the same one, memory that is read-only, or an argument that is no "
                "tensor")  # fmt: skip


def _differs(old: Any, t: Any) -> str:
    if not isinstance(t, TensorBase):
        return "it is None now" if t is None else f"it is an object of {type(t).__name__} now"
    names = "class", "shape", "dtype", "strides or device", "history", "absence of a .grad", "hooks"
    pairs = zip(names, old, look(t), strict=True)
    return ", ".join(f"{name} {new!r} in place of {was!r}" for name, was, new in pairs if was != new)


class _Text:
    """The two functions as text, and what their names stand for."""

    def __init__(self, record: Record, leaves: Sequence[Any], guards: Sequence[Guard], runner: Any) -> None:
        self.record, self.donates, self.done = record, runner.donates, runner.done
        self.at: dict[int, int] = {}
        self.again: list[tuple[int, int]] = []
        for k, x in enumerate(leaves):
            if isinstance(x, TensorBase) and self.at.setdefault(id(x), k) != k:
                self.again.append((k, self.at[id(x)]))
        self.outside = tensors_of(guards)
        self.bound = {at: x for at, x in self.outside.items() if at in self.at}
        self.fixed = [(k, x) for k, x in enumerate(leaves) if not isinstance(x, TensorBase)]
        leaves_out = [*record.result, *(leaf for _, leaf in record.grads if leaf), *(s.leaf for s in record.shown)]
        self.owners = [*{(of[0], id(of[1]) if of[0] == "tensor" else of[1]): of
                         for kind, of in leaves_out if kind == "grad"}.values()]  # fmt: skip
        self.tensors = [k for k, x in enumerate(leaves) if isinstance(x, TensorBase)]
        self.scope: dict[str, Any] = {
            "AccumulateGrad": AccumulateGrad, "TensorBase": TensorBase, "count": getrefcount,
            "held_by_us": held_by_us, "hooks_of": hooks_of, "is_current": refresh, "laid": laid, "lying": _lying,
            "ndarray": np.ndarray, "new": object.__new__, "place": place, "rebind": rebind,
            "seen": Seen(record, runner), "slots": slots,
            "unflatten": tree_unflatten, "up_to_date": up_to_date,
        }  # fmt: skip
        self.last = self.name([None] * (len(record.sources) + len(record.looks)), "last")
        self.kept = {k for k, s in enumerate(record.sources) if s.library is not NUMPY}
        self.sees = not self.kept

    def name(self, value: Any, stem: str = "v") -> str:
        """A name for a value."""
        found = f"{stem}{len(self.scope)}"
        self.scope[found] = value
        return found

    # -- before --

    def which(self) -> list[str]:
        """Which of the arguments are one tensor, and which of them have to be a certain one."""
        own = sorted(self.at.values())
        lines = [f"if leaves[{k}] is not leaves[{j}]: return None" for k, j in self.again]
        lines += [f"if leaves[{self.at[k]}] is not {self.name(t)}: return None" for k, t in self.bound.items()]
        if len(own) > 1:
            lines.append(f"if len({{{', '.join(f'id(leaves[{k}])' for k in own)}}}) != {len(own)}: return None")
        tensors = [*(s.tensor for s in self.record.sources), *(look[0][1] for look in self.record.looks)]
        others = self.outside | {id(t): t for t in tensors if isinstance(t, TensorBase)}
        others = {at: t for at, t in others.items() if at not in self.at}
        if others:
            ids = self.name(frozenset(others))
            lines += [f"if id(leaves[{k}]) in {ids}: return None" for k in own]
        lines += [f"if leaves[{k}] is not {self._given(of)}._grad: return None" for k, of in self.record.owned]
        for leaf, question, answer in self.record.answers:
            asked = f"{self.name(question)}({self._given(leaf)})"
            lines.append(f"if {asked} {'!=' if type(answer) is int else 'is not'} {self.name(answer)}: return None")
        return lines

    def gather(self) -> list[str]:
        """The function `Entry.gather`: what is outside is looked at unless it is known to be as it was (`Seen`)."""
        record, last, n = self.record, self.last, len(self.record.sources)
        lines = [f"if not {self.name(_same_as(x))}(leaves[{k}]): return None" for k, x in self.fixed]
        lines += [*self.which(), "moved = given = False"]
        arrays = [f"a{k}" for k in range(n)]
        given = [k for k, source in enumerate(record.sources) if source.is_given]
        looks = self._looks()
        if self.sees:
            lines += ["again = seen.differs()", "if again:", "    moved = seen.noted", *_within(looks["moved"]),
                      *looks["given"], *looks["settings"], f"if again: arrays = [{', '.join(arrays)}]",
                      "else:", "    arrays = seen.hold()", *(f"    arrays[{k}] = a{k}" for k in given)]  # fmt: skip
        else:
            lines += [*looks["moved"], *looks["given"], *looks["settings"]]
        lines += self._checks()
        taken = [k for k in self.tensors if all(s.kind != "argument" or s.at != k for s in record.sources)]
        lines += [f"if not isinstance(leaves[{k}], TensorBase): return None" for k in taken]
        for k in self.donates:
            lines += _using_up(f"a{k}", f"t{k}", f"{last}[{k}]")
        known = [a if k not in self.donates else f"{last}[{k}]" for k, a in enumerate(arrays)]
        known += [f"b{k}" if isinstance(look[1][3], tuple) else "None" for k, look in enumerate(record.looks)]
        given += [n + k for k in range(len(record.looks)) if self._is_given(k)]
        lines += ["if moved:", f"    {last}[:] = [{', '.join(known)}]"]
        if given:
            lines += ["elif given:", *(f"    {last}[{k}] = {known[k]}" for k in given)]
        if self.sees:
            lines += ["if again: seen.note(arrays, moved)", "return arrays"]
        else:
            lines.append(f"return [{', '.join(arrays)}]")
        return ["def gather(leaves):", *_within(lines), ""]

    def _is_given(self, look: int) -> bool:
        """Whether a look at another tensor is one at an argument, or at what shows memory of an argument."""
        (kind, _), _, unit, _ = self.record.looks[look]
        return kind == "argument" or (unit is not None and self.record.sources[unit].is_given)

    def _looks(self) -> dict[str, list[str]]:
        """The lines that look at what is outside ("moved"), at what is an argument, or of one ("given"), at settings.

        The first two are called by the variable that becomes true if an array is another one.
        """
        record, last = self.record, self.last
        found: dict[str, list[str]] = {"moved": [], "given": [], "settings": []}
        for k, source in enumerate(record.sources):
            what = "given" if source.is_given else "moved"
            if source.kind == "array":
                found[what].append(f"a{k} = {self.name(source.array)}")
                if k not in self.kept:
                    state = 0, source.array.shape, source.array.dtype, source.array.strides
                    found[what] += self._lies(state, f"a{k}", k in record.written)
            elif source.kind == "setting":
                found["settings"] += self._setting(source, f"a{k}")
            elif k in self.kept:
                found[what] += self._state(source.look, f"t{k}", self._where(source))
                found[what] += _reading(source, f"a{k}", f"t{k}", f"{last}[{k}]", self.name, k in record.written)
            else:
                found[what] += self._tensor(source.look, f"t{k}", self._where(source), f"a{k}", k, what)
        for k, (t, state, unit, steps) in enumerate(record.looks):
            what = "given" if self._is_given(k) else "moved"
            if isinstance(state[3], tuple):
                at = len(record.sources) + k
                found[what] += self._tensor(state, f"s{k}", self._given(t), f"b{k}", at, what)
            elif not any(self._is_of(s, t) for s in record.sources):  # else it has been looked at
                found[what] += self._state(state, f"s{k}", self._given(t))
                of = f"pa{unit}" if unit is not None and record.sources[unit].whole else None
                found[what] += _looking(state, f"s{k}", f"b{k}", of, steps, self.name)
        return found

    def _checks(self) -> list[str]:
        """The lines that ask, where arrays are others, whether they lie to each other as they did."""
        record, n = self.record, len(self.record.sources)
        own = [f"arrays[{k}]" if self.sees else f"a{k}" for k in range(n)]
        listed = "arrays" if self.sees else f"[{', '.join(own)}]"
        found: dict[bool, list[str]] = {False: [], True: []}
        for k, (_, state, unit, _) in enumerate(record.looks):
            if unit is not None and isinstance(state[3], tuple):
                found[self._is_given(k)].append(f"if place(b{k}) != place({own[unit]}): return None")
        numpys = [k for k in range(n) if k not in self.kept]
        if record.written and len(numpys) > 1:
            given = [k for k in numpys if record.sources[k].is_given]
            disjoint = self.name(Disjoint(numpys, record.written, given))
            found[False].append(f"if not {disjoint}.of_all({listed}): return None")
            found[True] += [f"if not moved and not {disjoint}.of_given({listed}): return None"] * bool(given)
        if record.written and self.kept:
            tensors = ["None" if s.look is None else f"t{k}" for k, s in enumerate(record.sources)]
            unshared = self.name(_no_shared_writes(record))
            found[True].append(f"if not {unshared}([{', '.join(tensors)}]): return None")
        lines = ["if moved:", *_within(found[False])] * bool(found[False])
        return lines + ["if moved or given:", *_within(found[True])] * bool(found[True])

    def _is_of(self, source: Input, leaf: tuple[str, Any]) -> bool:
        """Whether an input is read from this tensor from outside."""
        if source.kind == "argument":
            return leaf == ("argument", source.at)
        return source.kind == "tensor" and leaf[0] == "tensor" and leaf[1] is source.tensor

    def _where(self, source: Input) -> str:
        if source.kind == "argument":
            return f"leaves[{source.at}]"
        return f"{self._given(source.of)}._grad" if source.kind == "grad" else self.name(source.tensor, "tensor")

    def _setting(self, source: Input, array: str) -> list[str]:
        setting: Any = source.setting
        place, held = self.name(setting.container), np.array(setting.value)
        value = f"{place}.get({setting.key!r})"
        number = None if source.library is NUMPY else self.name(_arrays_of(setting.value, source))
        lines = [f"value = {value}"]
        if setting.index is not None:
            lines.append(f"value = value[{setting.index}] if value.__class__ is tuple "
                         f"and len(value) == {len(setting.container[setting.key])} else None")  # fmt: skip
        lines.append("if value.__class__ is not float or value == 0: return None")
        if number is not None:
            return [*lines, f"{array} = {number}(value)"]
        lines.append(f"{array} = {self.name(held)}")
        return [*lines, f"if {array} != value: {array}[()] = value"]

    def _state(self, state: tuple[Any, ...], t: str, where: str) -> list[str]:
        """What a tensor is, beside its array."""
        cls, _, _, _, history, no_grad, hooks = state
        lines = [f"{t} = {where}", f"if {t}.__class__ is not {self.name(cls)}: return None"]
        if history == "none":
            lines.append(f"if {t}._node is not None: return None")
        else:
            word = "is not" if history == "leaf" else "is"
            no = " or node is None" if history == "made" else ""
            lines += [f"node = {t}._node", f"if node.__class__ {word} AccumulateGrad{no}: return None"]
            if hooks:
                lines.append(f"if hooks_of(node) != {self.name(hooks)}: return None")
            else:
                lines.append("if node._hooks is not None and hooks_of(node): return None")
        if asks_for_grad(state):
            lines.append(f"if getattr({t}, '_grad', None) is {'not None' if no_grad else 'None'}: return None")
        return lines

    def _tensor(self, state: tuple[Any, ...], t: str, where: str, array: str, at: int, what: str) -> list[str]:
        """A tensor and its array of NumPy's, number ``at`` in ``last``; ``what`` becomes true if it is another one."""
        return [
            *self._state(state, t, where),
            f"{array} = {t}.array",
            f"if {array} is not {self.last}[{at}] or {t}._view is not None:",
            f"    {array} = up_to_date({t})",
            f"    if {array}.__class__ is not ndarray: return None",
            f"    {what} = {what} or {array} is not {self.last}[{at}]",
            *self._lies(state, array, at in self.record.written),
        ]

    def _lies(self, state: tuple[Any, ...], array: str, written: bool) -> list[str]:
        """The lines that look whether an array, which may change in place, lies as it did."""
        _, shape, dtype, strides, *_ = state
        flag = "behaved" if written else "aligned"
        return [f"if {array}.shape != {shape!r} or {array}.strides != {strides!r}: return None",
                f"if {array}.dtype != {self.name(dtype)} or not {array}.flags.{flag}: return None"]  # fmt: skip

    # -- after --

    def commit(self) -> list[str]:
        """The function `Entry.commit`."""
        record = self.record
        lines: list[str] = []
        lines_after: list[str] = []
        for k, at in enumerate(record.program.writes):
            if at in self.kept:
                source = record.sources[at]
                lines += _exchanging(self._where(source), f"outputs[{k}]", source.whole)
                lines.append(f"{self.last}[{at}] = outputs[{k}]")
        if self.donates:
            lines.append(f"{self.name(self.done)}.clear()")
        for k, out in enumerate(record.outputs):
            order = record.made[k][2]
            if record.program.outputs[out].library is not NUMPY:
                lines_after += [f"laid(m{k}, {order})"] * (order is not None)
            elif order is not None:
                lines.append(f"outputs[{out}] = lying(outputs[{out}], {order})")
            elif len(record.program.outputs[out].shape) > 1:
                lines.append(f"if not outputs[{out}].flags.c_contiguous: outputs[{out}] = outputs[{out}].copy()")
            lines += [
                f"m{k} = new(slots.tensor)", f"m{k}.array = outputs[{out}]",
                f"m{k}._counter = [{self.name(record.made[k][0])}]", f"m{k}._view = None",
                f"m{k}._node = {'None' if record.spent[k] is None else self.name(record.spent[k])}",
            ]  # fmt: skip
            if record.made[k][1]:
                lines.append(f"m{k}._node = AccumulateGrad(m{k})")
        lines += lines_after
        lines += [f"g{k} = {self._given(t)}._grad" for k, t in enumerate(self.owners)]
        for history in record.histories:
            made = ", ".join(f"m{k}" for k in range(len(record.outputs)))
            lines.append(f"{self.name(history)}.attach([{made}], outputs, arrays, leaves)")
        for t, writes, at in record.versions:
            where = self.name(at)
            lines += [f"counter = {self._given(t)}._counter", f"counter[0] += {writes}",
                      f"if len(counter) == 2: counter[1] = {where}", f"else: counter[1:] = ({where},)"]  # fmt: skip
        for k, shown in enumerate(record.shown):
            lines.append(f"n{k} = {self.name(shown.make)}({self._given(shown.leaf)})")
        for t, leaf in record.grads:
            lines.append(f"{self._given(t)}._grad = {'None' if leaf is None else self._given(leaf)}")
        result = [self._given(x) for x in record.result]
        if record.spec.is_leaf():
            lines.append(f"return {result[0]}")
        else:
            lines.append(f"return unflatten([{', '.join(result)}], {self.name(record.spec)})")
        return ["def commit(outputs, leaves, arrays):", *_within(lines), ""]

    def _given(self, leaf: tuple[str, Any]) -> str:
        kind, value = leaf
        if kind == "made":
            return f"m{value}"
        if kind == "argument":
            return f"leaves[{value}]"
        if kind == "shown":
            return f"n{value}"
        if kind == "number":
            return _NUMBERS[value[1]].format(f"outputs[{value[0]}]")
        if kind == "grad":
            return f"g{next(k for k, of in enumerate(self.owners) if of[0] == value[0] and of[1] is value[1])}"
        return self.name(value)


def _within(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _same_as(value: Any) -> Callable[[Any], bool]:
    """From an argument that is no tensor to whether it is this one, as it is now."""
    if isinstance(value, np.ndarray):
        kept = value.copy()
        return lambda x: x is value and same_array(x, kept)
    if isinstance(value, device):
        return lambda x: isinstance(x, device) and x == value
    return lambda x: x is value or same(x, value)


def tensors_of(guards: Sequence[Guard]) -> dict[int, Any]:
    """The tensors that guards are about: found, asked for, used as keys, or of which something was read."""
    found = (source.now() for guard in guards for source in guard.sources())
    return {id(value): value for value in found if isinstance(value, TensorBase)}


def up_to_date(t: Any) -> Any:
    """The NumPy array of a tensor, whose history is read anew; an array even where it holds a scalar."""
    if t._view is not None:
        refresh(t)
    if isinstance(t.array, np.generic):
        t.array = np.asarray(t.array)
    return t.array


def _lying(array: Any, order: tuple[int, ...]) -> Any:
    """An array whose axes lie in memory in this order: itself, or a copy."""
    turned = array.transpose(order)
    return array if turned.flags.c_contiguous else turned.copy(order="C").transpose(np.argsort(order))
