"""What a compiled function says of itself: `explain`, `source`, `guards`; and `reset`."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from gradwright.base.pages.shown import Shown
from gradwright.base.source_line import Place
from gradwright.compilation.entry import Entry
from gradwright.compilation.node import CHECK, CONSTANT, HOST, INPUT, Node, Program
from gradwright.compilation.trace.host import Backward, Draw, Forward
from gradwright.compilation.watch.guards import IS
from gradwright.engine.base import TensorBase

_SHORT = 6
"""The table of so many lines is shown at once."""
_NAMED = 3
"""Programs, and lines of the user's, of so many is told in a summary."""
_READ = "Python reads the value, so it must be what it was"
_PARTS = {"C": ("loop in C", "loops in C"), "BLAS": ("product of matrices", "products of matrices"),
          "NumPy": ("stretch by NumPy", "stretches by NumPy"),
          "host": ("call in Python", "calls in Python"),
          _READ: ("value that Python reads", "values that Python reads")}  # fmt: skip
_IN_PYTHON = frozenset({"NumPy", "host"})
_HEAD = ("", "in", "what", "nodes", "entries", "time", "line", "why in Python")
_RIGHT = (True, False, False, True, True, True, False, False)


class Row(NamedTuple):
    """A loop, a product of matrices, or a call in Python: what `Explanation` has a line of for.

    Attributes:
        where: "C", "BLAS", "NumPy" or "host" (Python).
        what: its operations.
        nodes: how many they are.
        entries: over how many entries a loop goes; 0 of what is no loop.
        seconds: how long it has taken while it was timed.
        line: the first of the user's lines in it.
        why: why it is not in C; "" if it is.
    """

    where: str
    what: str
    nodes: int
    entries: int
    seconds: float
    line: str
    why: str


class Explained(NamedTuple):
    """One program.

    Attributes:
        arguments: what it is called with.
        nodes: how many operations were traced.
        rows: what is done, in order.
        backward: the same of the backward pass of its results, if that is another program.
        slow: how long it takes, and an eager run, if it is not run as it is slower; else "".
    """

    arguments: str
    nodes: int
    rows: list[Row]
    backward: list[Row]
    slow: str = ""


class Explanation(Shown):
    """The result of `explain`. It prints as a summary, and as a table, too, if that is short or was asked for.

    Attributes:
        name: of the function.
        reason: why it runs eagerly; "" if it does not.
        traced: how often it was traced, and what had varied each time.
        programs: the programs, newest first.
        sized: the arguments of whose first dimension one program stands for all sizes.
        apart: why there is no such program; "" unless it was tried.
        full: whether the table is printed.
    """

    def __init__(self, programs: Any, full: bool | None = None) -> None:
        self.name = getattr(programs.function, "__qualname__", type(programs.function).__name__)
        self.reason: str = programs.reason
        self.traced: list[str] = list(programs.traced)
        self.apart: str = programs.apart
        self.sized = sorted({template.at for template in programs.templates.values()})
        self.programs = [_explained(entry) for entry in entries_of(programs)]
        rows = [row for program in self.programs for row in (*program.rows, *program.backward)]
        self.full = len(rows) <= _SHORT or any(row.seconds for row in rows) if full is None else full

    def _head(self) -> Iterator[str]:
        n = len(self.programs)
        yield f"{self.name}: {_several(n, 'program')}, traced {_several(len(self.traced), 'time')}"
        if self.reason:
            yield f"It runs eagerly: {self.reason}"
        elif not n:
            yield "There is no program yet: the first call runs the function, the second one leaves a program"
        for k, why in enumerate(self.traced):
            if why:
                yield f"Trace {k + 1} was made since this was another: {why}"

        for at in self.sized:
            yield f"One program stands for all sizes of the first dimension of argument {at}"
        if self.apart:
            yield f"Each size has a program of its own{self.apart}"
        for k, program in enumerate(self.programs[:_NAMED]):
            title = f"{self._name(k)}: {program.arguments}; {_several(program.nodes, 'node')} in "
            yield from _summary(title, program.rows)
            yield from _summary("Its backward pass: ", program.backward)
            if program.slow:
                yield f"  its calls are eager, as it is slower: {program.slow}"
        if n > _NAMED:
            yield f"and {_several(n - _NAMED, 'older program')}"
        if not self.full:
            yield "explain(full=True) has the table: what runs where, over how many entries, from which line"

    def _name(self, k: int) -> str:
        return f"Program {len(self.programs) - k}"

    def _tables(self) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
        for k, program in enumerate(self.programs if self.full else ()):
            yield self._name(k), _cells(program.rows)
            if program.backward:
                yield "Its backward pass", _cells(program.backward)

    def __str__(self) -> str:
        lines = [*self._head()]
        for title, rows in self._tables():
            used = [k for k in range(len(_HEAD)) if k == 0 or any(row[k] for row in rows)]
            table = [[row[k] for k in used] for row in [_HEAD, *rows]]
            widths = [max(map(len, column)) for column in zip(*table, strict=True)]
            form = "  ".join(f"{{:{'>' if _RIGHT[k] else '<'}{w}}}" for k, w in zip(used, widths, strict=True))
            lines += ["", title, *(form.format(*row).rstrip() for row in table)]
        return "\n".join(lines)

    __repr__ = __str__

    def __rich__(self) -> Any:
        from rich.console import Group  # noqa: PLC0415 - only rich calls this
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        parts: list[Any] = [Text(line, style="" if k else "bold") for k, line in enumerate(self._head())]
        for title, rows in self._tables():
            made = Table(title=Text(title), title_justify="left")
            used = [k for k in range(len(_HEAD)) if k == 0 or any(row[k] for row in rows)]
            for k in used:
                made.add_column(_HEAD[k], justify="right" if _RIGHT[k] else "left")
            for row in rows:
                made.add_row(*(Text(row[k], style="yellow" if row[1] in _IN_PYTHON else "") for k in used))
            parts += ["", made]
        return Group(*parts)


def explain(programs: Any, timed: bool | None = None, *, full: bool | None = None) -> Explanation:
    """What was compiled, what stays in Python and why, what has varied.

    Args:
        full: True has a line for each loop and call printed, False only the summary; else it depends on how many there
            are, and whether they were timed.
        timed: True lets the calls from now on measure how long each loop takes, which makes them slower; the next
            explanation tells. False ends that.
    """
    if timed is not None:
        for entry in entries_of(programs):
            for runner in _runners(entry):
                runner.timed = timed
                for record in getattr(runner, "loops", ()) if timed else ():
                    record["seconds"] = 0.0
    return Explanation(programs, full)


def source(programs: Any, compiled: bool = False) -> str:
    """The text of the newest program, and that of its backward pass; a remark if there is none.

    It is C, Python, or what XLA is given (StableHLO); ``compiled``: what XLA has made of that.
    """
    for entry in entries_of(programs):
        texts = [runner.text(True) if compiled and hasattr(runner, "text") else
                 getattr(runner, "source", "") or repr(runner.program) for runner in _runners(entry)]  # fmt: skip
        return "\n\n".join(texts)
    return f"# There is no program: {programs.reason or 'call the function twice first'}\n"


def guards(programs: Any) -> list[str]:
    """What must be as it was for the newest program to be run, each with the line that read it."""
    for entry in entries_of(programs):
        return [*dict.fromkeys([*_tensors(entry), *map(str, entry.guards)])]
    return []


def reset(programs: Any) -> None:
    """Forget all programs, and why it ran eagerly: the next call is a first one."""
    programs.forget()


METHODS: dict[str, Callable[..., Any]] = {"explain": explain, "source": source, "guards": guards, "reset": reset}
"""What a compiled function has as attributes, of its `Programs`."""


def entries_of(programs: Any) -> list[Entry]:
    """The programs that there are, newest first."""
    found = [*programs.entries.values(), *programs.sized.values()]
    return sorted((entry for entries in found for entry in entries), key=lambda e: -e.number)


def names_of(entry: Entry) -> list[str]:
    """What the program calls each of the inputs of an entry: by the name that the function's code has for it."""
    called: dict[int, str] = {}
    for guard in entry.guards:
        if guard.kind is IS and isinstance(t := guard.source.now(), TensorBase):
            called.setdefault(id(t), guard.name)
    found = []
    for source in entry.record.sources:
        name = called.get(id(source.tensor)) if source.kind in ("tensor", "grad") else None
        found.append(source.what() if name is None else f"{name}.grad" if source.kind == "grad" else name)
    return found


def _runners(entry: Entry) -> list[Any]:
    return [entry.runner, *(history.runner for history in entry.record.histories)]


def _tensors(entry: Entry) -> Iterator[str]:
    for source, name in zip(entry.record.sources, names_of(entry), strict=True):
        if source.look is not None:
            cls, shape, dtype, _, history, no_grad, hooks = source.look
            kind = {"none": "", "leaf": ", a leaf that requires grad", "made": ", with a history"}[history]
            grad = ", without a .grad" if history == "leaf" and no_grad else ""
            hooked = f", with {_several(len(hooks), 'hook')}" if hooks else ""
            yield f"{name} is a {cls.__name__}: {dtype} {list(shape)}{kind}{grad}{hooked}"
        elif source.kind == "setting":
            yield f"{name} is a number other than 0"


def _explained(entry: Entry) -> Explained:
    given = sorted(((s.at, s.look) for s in entry.record.sources if s.kind == "argument"), key=itemgetter(0))
    shapes = ", ".join(f"{dtype} {list(shape)}" for _, (_, shape, dtype, *_) in given) or "no tensors as arguments"
    nodes = sum(1 for node in entry.record.program.nodes if node.op not in (INPUT, CONSTANT))
    backward = [row for history in entry.record.histories for row in _rows(history.runner)]
    slow = str(entry.race) if entry.race is not None and entry.race.lost else ""
    return Explained(shapes, nodes, _rows(entry.runner), backward, slow)


def _rows(runner: Any) -> list[Row]:
    loops: Sequence[dict[str, Any]] | None = getattr(runner, "loops", None)
    if loops is None:
        loops = _calls(runner.program)
    by_numpy = all(record["kind"] in _IN_PYTHON for record in loops)
    return [_row(record, by_numpy) for record in loops]


def _calls(program: Program) -> list[dict[str, Any]]:
    """A program run by NumPy: stretches of it between what is Python."""
    found: list[dict[str, Any]] = []
    for node in program.nodes:
        if node.op in (INPUT, CONSTANT):
            continue
        kind = "host" if node.op in (HOST, CHECK) else "NumPy"
        if kind == "host" or not found or found[-1]["kind"] == "host":
            found.append({"kind": kind, "nodes": [], "entries": 0, "seconds": 0.0})
        found[-1]["nodes"].append(node)
    for record in found:
        record["name"] = ", ".join(dict.fromkeys(n.op for n in record["nodes"]))
    return found


def _row(record: dict[str, Any], by_numpy: bool) -> Row:
    nodes: list[Node] = record["nodes"]
    where = record["kind"]
    place = next((Place(*n.place) for n in nodes if n.place), None)
    line = f"{os.path.basename(place.code.co_filename)}:{place.line}" if place else ""
    why = "" if by_numpy and where == "NumPy" and nodes[0].op != CHECK else _why(where, nodes[0])
    name = repr(nodes[0].args[0]).strip("<>") if nodes[0].op == HOST else record["name"]
    return Row(where, name, len(nodes), record["entries"], record["seconds"], line, why)


def _why(where: str, node: Node) -> str:
    """Why a node is not in C."""
    if node.op == CHECK:
        return _READ
    if where == "NumPy":
        return f"{node.op} is NumPy's: there is no loop for it"
    if where != "host":
        return ""
    call = node.args[0]
    if isinstance(call, Draw):
        return f"random numbers ({call.name}) are drawn as in an eager run"
    if isinstance(call, Forward):
        return f"{call.cls.__name__}.forward computes in Python"
    if isinstance(call, Backward):
        return f"{call.cls.__name__}.backward computes in Python"
    return "it is Python code"


def _summary(title: str, rows: list[Row]) -> Iterator[str]:
    """How many parts there are of each kind, the largest loop, and why what is in Python is there."""
    if not rows:
        return
    kinds = [_READ if row.why == _READ else row.where for row in rows]
    parts = [(names, kinds.count(kind)) for kind, names in _PARTS.items()]
    yield title + ", ".join(f"{n} {names[n != 1]}" for names, n in parts if n)
    loop = max(rows, key=lambda row: row.entries)
    if loop.entries:
        yield f"  the largest goes over {loop.entries:,} entries: {_short(loop.what)} ({loop.line})"
    for why in dict.fromkeys(row.why for row in rows if row.why):
        lines = [row.line for row in rows if row.why == why]
        named = [*dict.fromkeys(filter(None, lines))]
        more = ", ..." if len(named) > _NAMED else ""
        times = f"{len(lines)} times, " if len(lines) > 1 else ""
        yield f"  in Python: {why} ({times}{', '.join(named[:_NAMED])}{more})"


def _cells(rows: list[Row]) -> list[tuple[str, ...]]:
    whole = math.fsum(row.seconds for row in rows)
    return [
        (str(k + 1), row.where, _short(row.what), str(row.nodes), f"{row.entries:,}" if row.entries else "",
         f"{1e6 * row.seconds:,.0f} µs, {row.seconds / whole:.0%}" if whole else "", row.line, row.why)
        for k, row in enumerate(rows)
    ]  # fmt: skip


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57].rpartition(', ')[0]}, ..."


def _several(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
