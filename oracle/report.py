"""What comes out of a run: the table of counts, the disagreements, docs/operators.md."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from oracle.entries import ENTRIES, GROUPS, group_of, name_of
from oracle.known import KNOWN
from oracle.records import COMPILED, TRANSFORMS, Record
from oracle.resolve import callable_for

DOCS = Path(__file__).parent.parent / "docs" / "operators.md"
COLUMNS = ("entries", "value", "gradient", "second", "agree", "disagree", "missing")


def show(records: list[Record], console: Console, against: str, known: dict[str, str]) -> None:
    """The disagreements first, the counts last, where a terminal leaves them in sight."""
    _show_reasons(records, console, known)
    other = [f"{r.name} {line}" for r in records for line in r.other_kind]
    if other:
        console.print(f"[dim]{len(other)} inputs are refused with another kind of exception than PyTorch's:[/]")
        console.print("\n".join(f"    {line}" for line in other), highlight=False, markup=False, soft_wrap=True)
    console.print(_table(records, against))


def show_transforms(records: list[Record], console: Console, known: dict[str, dict[str, str]]) -> None:
    """The same of transforms: how many entries pass each check, and how many fail one."""
    _show_reasons(records, console, {name: why for check in known.values() for name, why in check.items()})
    table = Table(title="Transforms of PyTorch's databases", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("check", "entries", "pass", "fail", "known to"):
        table.add_column(name, justify="left" if name == "check" else "right", no_wrap=True)
    for name in TRANSFORMS:
        found = [(r, r.checks[name]) for r in records if r.checks[name].passed + r.checks[name].failed]
        failed = [r for r, c in found if c.failed]
        counted = len(found), len(found) - len(failed), len(failed), sum(r.name in known.get(name, {}) for r in failed)
        table.add_row(name, *map(str, counted))
    console.print(table)


def show_compiled(records: list[Record], console: Console, known: dict[str, str]) -> None:
    """How many entries compile, how many run eagerly for which reason, and which differ."""
    _show_reasons(records, console, known)
    cause = import_module("oracle.compiled").cause
    by_cause: dict[str, dict[str, str]] = defaultdict(dict)
    for r in records:
        for reason in r.eager:
            by_cause[cause(reason)].setdefault(r.name, reason)
    table = Table(title="Why what is compiled runs eagerly", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("reason", "entries", "such as"):
        table.add_column(name, justify="right" if name == "entries" else "left", overflow="fold")
    for reason, names in sorted(by_cause.items(), key=lambda item: -len(item[1])):
        table.add_row(reason, str(len(names)), ", ".join(list(names)[:4]))
    console.print(table)
    table = Table(title="Entries compiled", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("group", "entries", "compiled", "in part", "eager", "differ", "functions", "of them eager"):
        table.add_column(name, justify="left" if name == "group" else "right", no_wrap=True)
    groups = [[r for r in records if r.group == group] for group in GROUPS]
    for found in [*filter(None, groups), records]:
        tried = [r for r in found if r.compiled or r.eager]
        table.add_row(found[0].group if found is not records else "all", *map(str, (
            len(tried), sum(not r.eager for r in tried), sum(bool(r.eager and r.compiled) for r in tried),
            sum(not r.compiled for r in tried), sum(any(r.checks[c].failed for c in COMPILED) for r in tried),
            sum(r.compiled + len(r.eager) for r in tried), sum(len(r.eager) for r in tried),
        )))  # fmt: skip
    console.print(table)


def _show_reasons(records: list[Record], console: Console, known: dict[str, str]) -> None:
    for record in records:
        for n, reason in enumerate(record.reasons()):
            if n == 0:
                why = f" (known: {known[record.name]})" if record.name in known else ""
                console.print(f"[bold]{record.name}[/]{why}", highlight=False)
            console.print(f"    {reason}", highlight=False, markup=False, soft_wrap=True)


def _table(records: list[Record], against: str) -> Table:
    table = Table(title=f"gradwright against {against}", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("group", no_wrap=True)
    for name in COLUMNS:
        table.add_column(name, justify="right", no_wrap=True)
    groups = [g for g in GROUPS if any(r.group == g for r in records)]
    for group in groups:
        table.add_row(group, *map(str, counts(r for r in records if r.group == group).values()))
    table.add_section()
    table.add_row("all", *map(str, counts(records).values()))
    return table


def counts(records: Iterable[Record]) -> dict[str, int]:
    """How many entries there are, agree in each of the checks and in all, disagree, and are missing."""
    records = list(records)
    found = {"entries": len(records)} | {c: sum(r.agrees_in(c) for r in records) for c in COLUMNS[1:4]}
    return found | {status: sum(r.status == status for r in records) for status in COLUMNS[4:]}


HEADINGS = {
    "elementwise": "Elementwise", "reductions": "Reductions", "tensors": "Other functions and methods of tensors",
    "internal": "PyTorch's internal functions", "modules": "Modules", "optimizers": "Optimisers",
}  # fmt: skip


def operators_page() -> str:
    """The text of docs/operators.md."""
    there: dict[str, dict[str, bool]] = {group: {} for group in GROUPS}
    for entry in ENTRIES:
        there[group_of(entry)][name_of(entry)] = callable_for(entry) is not None
    modules, optimizers = (there[group].values() for group in GROUPS[-2:])
    have, all_ = (sum(f(there[group].values()) for group in GROUPS[:-2]) for f in (sum, len))
    lines = [
        "# Operations, modules and optimisers", "",
        f"gradwright has {have} of the {all_} differentiable operations in PyTorch's own databases,",
        f"{sum(modules)} of the {len(modules)} modules and {sum(optimizers)} of the {len(optimizers)} optimisers, with",
        "PyTorch's names and meaning. An operation with variants has an entry for each: `div.floor_rounding` is `div`",
        "with `rounding_mode=\"floor\"`. `python -m oracle` compares their values, gradients and second gradients with",
        "PyTorch's and wrote this page (`--docs`).",
    ]  # fmt: skip
    for group, names in there.items():
        if not names:
            continue
        title = HEADINGS.get(group, f"`{group}`")
        lines += ["", f"## {title}", "", f"{sum(names.values())} of {len(names)}.", "", "| operation | |", "|---|---|"]
        for name, present in sorted(names.items(), key=lambda item: (item[0].lower(), item[0])):
            note = f", but: {KNOWN[name]}" if name in KNOWN else ""
            lines.append(f"| `{name}` | {'✓' + note if present else 'missing'} |")
    return "\n".join(lines) + "\n"
