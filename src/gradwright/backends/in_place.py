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
from itertools import compress
from typing import Any

import numpy as np

from gradwright.backends.notes import OPERATORS, Notes
from gradwright.backends.numpy import namespace
from gradwright.backends.programs import assembled
from gradwright.base.cpython.at_once import Call
from gradwright.native import core

_WRITING = {
    "abs", "add", "divide", "maximum", "minimum", "multiply", "negative", "positive", "sign", "sqrt", "subtract",
}  # fmt: skip
_BY_NAME = {"maximum", "minimum"}  # NumPy wants the place that these write to by name
_TESTS = {"less", "greater"}
_SCOPE = {"setitem": operator.setitem, "partial": partial, "empty": np.empty, "int8": np.int8, "negative": np.negative,
          "bitwise_and": np.bitwise_and, "bitwise_xor": np.bitwise_xor}  # fmt: skip


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
        self._rule, self._arrays, self._numbers = rule, arrays, numbers
        notes, results = self._noted()
        if strange := {name for _, name, _ in notes.calls} - (_WRITING | _TESTS | {"where"}):
            raise NotImplementedError(f"xp.{min(strange)} in a rule that works in place: it cannot write into an array")
        calls = [(out, f, [f"{x}_" if x in notes.used else x for x in at]) for out, f, at in notes.calls]
        lines, spares, tests = _placed(calls, {out: name for name, out in results.items()})
        text = " ".join(lines)
        self.text = "\n    ".join([
            f"def given({', '.join(['of', *numbers])}):",
            *(f"{out} = number_{f}({', '.join(at)})" for out, f, at in notes.numbers),
            f"return ({''.join(f'of({x}), ' for x in notes.used)})",
            f"\ndef calls({', '.join([*(f'{x}_' for x in notes.used), *arrays, *spares])}):",
            *(f"{x} = empty({arrays[0]}.shape, int8)" for x in tests),
            *(f"{x} = {x[:-4]}.view(f'i{{{x[:-4]}.itemsize}}')" for x in sorted(set(re.findall(r"\w+bits", text)))),
            "return (",
            *(f"    ({line})," for line in lines),
            ")",
        ])  # fmt: skip
        self.spares = len(spares)
        scope: dict[str, Any] = _SCOPE | notes.constants | {f"number_{f}": OPERATORS[f] for _, f, _ in notes.numbers}
        scope |= {f: getattr(namespace, f) for _, f, _ in notes.calls}
        exec(compile(self.text, "<rule>", "exec"), scope)  # noqa: S102 - the text is written here
        self._given, self._calls = scope["given"], scope["calls"]
        self._taken = [x not in notes.constants for x in notes.used]
        self._programs: dict[Any, Any] = {}

    def _noted(self, dtype: Any = None) -> tuple[Notes, dict[str, str]]:
        """The rule as noted, and for each array that is replaced the name of what it is replaced by."""
        notes = Notes(dtype)
        given = {name: notes.given(name) for name in self._arrays}
        new = self._rule(notes, **given, **{name: notes.given(name, False) for name in self._numbers})
        results: dict[str, str] = {}
        for name in self._arrays:
            out = new.get(name, given[name])
            if out is not given[name]:
                copied = out.name in given or out.name in results.values()
                results[name] = (notes.note("positive", out) if copied else out).name
        return notes, results

    def calls(self, dtype: Any, *numbers: Any) -> Callable[..., tuple[Call, ...]]:
        """From the arrays and the spare ones, all of one NumPy dtype, to the calls for these numbers."""
        return partial(self._calls, *self._given(dtype.type, *numbers))

    def update(self, dtype: Any, *numbers: Any) -> tuple[Callable[..., Any], tuple[Any, ...]] | None:
        """The rule as one call in C for many arrays, and these numbers as it takes them; None where there is none."""
        if core is None or dtype.char not in "fd":
            return None
        if dtype not in self._programs:
            notes, results = self._noted(dtype)
            inputs = [*self._arrays, *(x for x in notes.used if x not in notes.constants)]
            self._programs[dtype] = assembled(notes, inputs, {out: inputs.index(x) for x, out in results.items()})
        program = self._programs[dtype]
        return program and (program.update, tuple(compress(self._given(dtype.type, *numbers), self._taken)))


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
