"""The command line: ``python -m benchmarks [--quick] [--only NAME] [--json FILE]``."""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import gradwright
from benchmarks import (
    beyond,
    by_jax,
    compiled,
    depth,
    extension,
    footprint,
    graph,
    indexing,
    large,
    lltm,
    memory,
    networks,
    overhead,
    pictures,
    training,
    transforms,
)
from benchmarks.runner import Case, Pace, Result, amount, measure

MODULES = (
    overhead, indexing, training, networks, beyond, extension, lltm, graph, transforms, compiled, depth, large,
    by_jax, pictures, memory, footprint,
)  # fmt: skip
CASES = [c for module in MODULES for c in vars(module).values() if isinstance(c, Case)]
FULL, QUICK = Pace(11, 0.1), Pace(5, 0.05)
RESULTS = Path(__file__).parent / "results" / "bench-results.json"


def main() -> int:
    options = _options()
    console = Console()
    try:
        import torch
    except ImportError:
        console.print("[red]The benchmarks compare with PyTorch, which is not installed:[/] pip install -e '.[oracle]'")
        return 1
    cases = [c for c in CASES if not options.only or any(_named(c, name) for name in options.only)]
    if not cases:
        console.print(f"[red]No case is named {' or '.join(options.only)}.[/] The names are:")
        console.print("\n".join(f"  {f.name}" for c in CASES for f in c.figures), highlight=False)
        return 1

    machine = _machine(torch)
    for name, fact in machine.items():
        console.print(f"[dim]{name}[/] {fact}", highlight=False)
    results = _measured(cases, torch, QUICK if options.quick else FULL, console)
    console.print(_table(results))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({"machine": machine, "figures": [*map(_record, results)]}, indent=1) + "\n")
    console.print(f"[dim]Every sample is in[/] {options.json}", highlight=False)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure gradwright against PyTorch.")
    parser.add_argument("--quick", action="store_true", help="a rough picture in a quarter of the time")
    parser.add_argument("--only", action="append", metavar="NAME", help="the cases with this in their name; repeatable")
    parser.add_argument("--json", type=Path, default=RESULTS, metavar="FILE", help="where to write every sample")
    return parser.parse_args()


def _named(case: Case, name: str) -> bool:
    return any(name.lower() in figure.name.lower() for figure in case.figures)


def _machine(torch: Any) -> dict[str, str]:
    cpu = platform.processor()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), cpu)
    threads = ", ".join(f"{k}={v}" for k, v in os.environ.items() if k.endswith("NUM_THREADS"))
    return {
        "date": datetime.now().astimezone().isoformat(" ", "minutes"),
        "machine": f"{platform.system()} {platform.machine()}, {cpu or 'unknown CPU'}, {os.cpu_count()} CPUs",
        "load": ", ".join(f"{n:.2f}" for n in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown",
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "gradwright": gradwright.__version__,
        "threads set": threads or "none, each library's default",
        "PyTorch": f"{torch.__version__}, {torch.get_num_threads()} threads",
    }


def _measured(cases: list[Case], torch: Any, pace: Pace, console: Console) -> list[Result]:
    results: list[Result] = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(cases))
        for case in cases:
            progress.update(task, description=case.figures[0].name)
            results += measure(case, gradwright, torch, pace)
            progress.advance(task)
    return results


def _table(results: list[Result]) -> Table:
    table = Table("what", title="gradwright against PyTorch, medians")
    for column in ("gradwright", "PyTorch", "ratio", "limit"):
        table.add_column(column, justify="right")
    table.add_column("")
    for r in results:
        mark = {None: "", True: "[green]✓[/]", False: "[red]✗[/]"}[r.good]
        limit = "" if r.figure.limit is None else f"{r.figure.limit}"
        times = [amount(m, r.figure.unit) for m in r.medians]
        ratio = "" if math.isnan(r.ratio) else f"{r.ratio:.2f}{'' if r.reliable else ' ?'}"
        table.add_row(r.figure.name, *times, ratio, limit, mark)
    if not all(r.reliable for r in results):
        table.caption = "?  other programs kept the CPUs busy: run it again when the machine is quiet"
    return table


def _record(r: Result) -> dict[str, Any]:
    ours, theirs = r.medians
    alone = math.isnan(theirs)  # there is no way to do it with PyTorch
    return {
        **r.figure._asdict(),
        "gradwright": ours,
        "PyTorch": None if alone else theirs,
        "ratio": None if alone else r.ratio,
        "good": r.good,
        "reliable": r.reliable,
        "rounds that count": r.quiet,
        "CPUs used by others": r.others,
        "samples": {"gradwright": r.gradwright, "PyTorch": [] if alone else r.torch},
    }


if __name__ == "__main__":
    sys.exit(main())
