"""Rules that return new arrays, run in NumPy so that they write into the arrays they were given.

A rule is run once on stand-ins, which note what is done to them. What was noted becomes a list of NumPy calls, each
with a place for its result: the array that the result replaces, where the old entries are no longer needed, or else
one of a few spare arrays. The calls are made `gradwright.base.cpython.at_once`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gradwright.backends.numpy import namespace
from gradwright.base.cpython.at_once import Call

_OPERATORS = {"add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
              "less": operator.lt, "greater": operator.gt, "negative": operator.neg}  # fmt: skip
_WRITING = {
    "abs", "add", "divide", "maximum", "minimum", "multiply", "negative", "positive", "sign", "sqrt", "subtract",
}  # fmt: skip
_BY_NAME = {"maximum", "minimum"}  # NumPy wants the place that these write to by name
_TESTS = {"less", "greater"}
_SCOPE = {"setitem": operator.setitem, "partial": partial, "empty": np.empty, "int8": np.int8, "negative": np.negative,
          "bitwise_and": np.bitwise_and, "bitwise_xor": np.bitwise_xor}  # fmt: skip


class _Value:
    """A stand-in for an array or a number of a rule, which has a name."""

    def __init__(self, notes: _Notes, name: str, is_array: bool) -> None:
        self.notes, self.name, self.is_array = notes, name, is_array


def _operator(name: str, swapped: bool = False) -> Callable[..., _Value]:
    def noted(x: _Value, *other: Any) -> _Value:
        return x.notes.note(name, *((*other, x) if swapped else (x, *other)))

    return noted


for _name, _f in _OPERATORS.items():
    setattr(_Value, f"__{_f.__name__.strip('_')}__", _operator(_name))
    if _name in ("add", "subtract", "multiply", "divide"):
        setattr(_Value, f"__r{_f.__name__.strip('_')}__", _operator(_name, swapped=True))


class _Notes:
    """The `xp` of a rule that is noted.

    Attributes:
        scope: what names stand for: functions, constants.
        numbers: the calls on numbers alone: the names of the result, the function and the arguments.
        calls: those on arrays.
        used: the numbers that these take; there, their names end with an underscore.
    """

    def __init__(self) -> None:
        self.scope: dict[str, Any] = dict(_SCOPE)
        self.numbers: list[tuple[str, str, list[str]]] = []
        self.calls: list[tuple[str, str, list[str]]] = []
        self.used: dict[str, None] = {}

    def note(self, name: str, *given: Any) -> _Value:
        parts = [x if isinstance(x, _Value) else self._constant(x) for x in given]
        is_array = any(x.is_array for x in parts)
        out = _Value(self, f"v{len(self.calls) + len(self.numbers)}", is_array)
        if is_array:
            if name not in _WRITING | _TESTS | {"where"}:
                raise NotImplementedError(f"xp.{name} in a rule that works in place: it cannot write into an array")
            self.scope.setdefault(name, getattr(namespace, name))
            self.used |= dict.fromkeys(x.name for x in parts if not x.is_array)
            self.calls.append((out.name, name, [x.name + "_" * (not x.is_array) for x in parts]))
        else:
            self.scope[f"number_{name}"] = _OPERATORS[name]
            self.numbers.append((out.name, f"number_{name}", [x.name for x in parts]))
        return out

    def _constant(self, value: float) -> _Value:
        name = f"c{len(self.scope)}"
        self.scope[name] = value
        return _Value(self, name, False)

    def __getattr__(self, name: str) -> Any:
        return partial(self.note, name)


class InPlace:
    """A rule, ``rule(xp, **arrays, **numbers) -> {name: new array}``, as calls that overwrite the arrays.

    Args:
        rule: works entry by entry, on floating-point arrays of one length and dtype.
        arrays: their names. Those for which the rule returns nothing are only read.
        numbers: the names of its numbers.

    Attributes:
        text: a function of the arrays that returns the calls, inside one that takes the numbers.
        spares: how many more arrays it needs.
    """

    def __init__(self, rule: Callable[..., dict[str, Any]], arrays: tuple[str, ...], numbers: tuple[str, ...]) -> None:
        notes = _Notes()
        given = {name: _Value(notes, name, True) for name in arrays}
        new = rule(notes, **given, **{name: _Value(notes, name, False) for name in numbers})
        targets: dict[str, str] = {}
        for name in arrays:
            out = new.get(name, given[name])
            if out is not given[name]:
                copied = out.name in given or out.name in targets
                targets[(notes.note("positive", out) if copied else out).name] = name
        lines, spares, tests = _placed(notes.calls, targets)
        text = " ".join(lines)
        self.text = "\n    ".join([
            f"def given({', '.join(['of', *numbers])}):",
            *(f"{out} = {f}({', '.join(at)})" for out, f, at in notes.numbers),
            *(f"{x}_ = of({x})" for x in notes.used),
            f"def calls({', '.join([*arrays, *spares])}):",
            *(f"    {x} = empty({arrays[0]}.shape, int8)" for x in tests),
            *(f"    {x} = {x[:-4]}.view(f'i{{{x[:-4]}.itemsize}}')" for x in sorted(set(re.findall(r"\w+bits", text)))),
            "    return (",
            *(f"        ({line})," for line in lines),
            "    )",
            "return calls",
        ])  # fmt: skip
        self.spares = len(spares)
        exec(compile(self.text, "<rule>", "exec"), notes.scope)  # noqa: S102 - the text is written here
        self._given = notes.scope["given"]

    def calls(self, dtype: Any, *numbers: Any) -> Callable[..., tuple[Call, ...]]:
        """From the arrays and the spare ones, all of one NumPy dtype, to the calls for these numbers."""
        made: Callable[..., tuple[Call, ...]] = self._given(dtype.type, *numbers)
        return made


def _placed(
    calls: list[tuple[str, str, list[str]]], targets: dict[str, str]
) -> tuple[list[str], list[str], list[str]]:
    """Calls with places to write to, and the names of the spare arrays and of those for tests: -1 where one holds.

    Args:
        calls: as noted.
        targets: for each result that is to be kept, the array that it replaces.
    """
    last = {x: k for k, (_, _, at) in enumerate(calls) for x in at}
    place: dict[str, str] = {}
    replaced = set(targets.values())
    unused = replaced - last.keys()
    lines: list[str] = []
    spares: list[str] = []
    tests: list[str] = []
    free: list[str] = []
    for k, (out, f, at) in enumerate(calls):
        where = [place.get(x, x) for x in at]
        ending = [place.get(x, x) for x in dict.fromkeys(at) if last[x] == k and x not in targets]
        free += [x for x in ending if x in spares]
        unused |= replaced.intersection(ending)
        if f in _TESTS:
            tests.append(out)
            lines.append(", ".join([f, *where, f"{out}.view(bool)"]))
            lines.append(f"negative, {out}, {out}")
            continue
        kept = where[2] if f == "where" else ""  # is read after its result has been written to
        spare = [x for x in free if x != kept][-1:]
        if out in targets:
            mine = [targets[out]] if targets[out] in unused and targets[out] != kept else spare
        else:
            mine = [x for x in ending if (x in free or x in unused) and x != kept] or spare
        if not mine:
            mine = [f"s{len(spares)}"]
            spares += mine
        place[out] = mine[0]
        free = [x for x in free if x != mine[0]]
        unused.discard(mine[0])
        if f == "where":
            mask = where[0] if where[0] in tests else f"int8(-bool({where[0]}))"
            yes, no, new = (f"{x}bits" for x in (*where[1:], mine[0]))  # see `gradwright.backends.select`
            lines.append(f"bitwise_xor, {yes}, {no}, {new}")
            lines.append(f"bitwise_and, {new}, {mask}, {new}")
            lines.append(f"bitwise_xor, {new}, {no}, {new}")
        elif f in _BY_NAME:
            lines.append(", ".join([f"partial({f}, out={mine[0]})", *where]))
        else:
            lines.append(", ".join([f, *where, mine[0]]))
    for out, target in targets.items():
        if place.get(out, out) != target:
            lines.append(f"setitem, {target}, ..., {place.get(out, out)}")
    return lines, spares, tests
