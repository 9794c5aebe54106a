"""The command line: see ``python -m oracle --help``."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from importlib import import_module

from rich.console import Console
from rich.progress import track

if importlib.util.find_spec("torch") is None:
    sys.exit("The oracle compares with PyTorch, which is not installed: pip install -e '.[oracle]'")

from oracle import differences
from oracle.check import Options
from oracle.entries import GROUPS, chosen, name_of
from oracle.known import COMPILED, KNOWN, TRANSFORMED
from oracle.libraries import LIBRARIES
from oracle.refused import REFUSED
from oracle.report import DOCS, operators_page, show, show_compiled, show_transforms
from oracle.resolve import callable_for
from oracle.runner import run


def main() -> int:
    """Run what the command line asks for; 1 if something disagrees that is not known to."""
    asked = _arguments()
    console = Console()
    if asked.docs:
        DOCS.write_text(operators_page(), encoding="utf-8")
        differences.write()
        console.print(f"Wrote {DOCS} and {', '.join(map(str, differences.PAGES.values()))}")
        return 0
    entries = chosen(asked.op, asked.group)
    if not entries:
        console.print("[red]No entry has such a name.[/]")
        return 2
    if asked.missing:
        console.print("\n".join(name_of(e) for e in entries if callable_for(e) is None), highlight=False)
        return 0
    options = Options(asked.samples, asked.dtypes, asked.forms, asked.errors, asked.library, asked.transforms,
                      asked.backend if asked.compiled else "", asked.exact)
    order = {name_of(e): place for place, e in enumerate(entries)}
    running = run(entries, options, asked.jobs)
    if console.is_terminal:
        running = track(running, "Comparing", total=len(entries), console=console, transient=True)
    records = sorted(running, key=lambda r: order[r.name])
    if asked.transforms:
        show_transforms(records, console, TRANSFORMED)
        return int(any(import_module("oracle.transforms").fails(r) for r in records))
    if asked.compiled:
        show_compiled(records, console, COMPILED)
        return int(any(import_module("oracle.compiled").fails(r) for r in records))
    known = REFUSED[asked.library] if asked.library else KNOWN
    show(records, console, asked.library or "PyTorch's databases", known)
    return int(any(r.status == "disagree" and r.name not in known for r in records))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m oracle", description="Compare gradwright with PyTorch.")
    parser.add_argument("--op", action="append", default=[], metavar="NAME", help="'linalg.*': these; repeatable")
    parser.add_argument("--group", action="append", default=[], choices=GROUPS, help="this group; repeatable")
    parser.add_argument("--samples", type=_count, default=8, metavar="N", help="per entry, or 'all' (default 8)")
    parser.add_argument("--dtypes", action="store_true", help="float32, complex128, int64 and bool too")
    parser.add_argument("--forms", action="store_true", help="methods, operators and in-place forms too")
    parser.add_argument("--errors", action="store_true", help="inputs that must be refused too")
    parser.add_argument("--library", default="", choices=LIBRARIES, help="compare its arrays with NumPy's instead")
    parser.add_argument("--transforms", action="store_true", help="check tangents and batches instead")
    parser.add_argument("--compiled", action="store_true", help="check what is compiled against what is not instead")
    parser.add_argument("--backend", default="auto", help="compile by this (default auto)")
    parser.add_argument("--exact", action="store_true", help="compile with exact=True")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default 1)")
    parser.add_argument("--missing", action="store_true", help="only list what gradwright lacks")
    parser.add_argument("--docs", action="store_true", help="only write docs/operators.md and docs/differences.md")
    return parser.parse_args()


def _count(text: str) -> int | None:
    return None if text == "all" else int(text)


if __name__ == "__main__":
    sys.exit(main())
