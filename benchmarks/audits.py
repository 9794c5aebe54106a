"""What audits find and cost: ``python -m benchmarks.audits`` prints the table of docs/auditing.md.

Each program runs by itself, in an audit, and in an audit with a fault in its derivatives: those of the tests have one
behind ``--fault``; in the examples 1 % is added to what every backward and vjp returns first, in a copy of the files.
Apart from durations, the first two print the same. The last column says whether both audits take at most twice as long
as the program by itself, and the budget. Times are those of processors, so that nothing else that runs counts.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = sorted((ROOT / "tests/verify/audit/programs").glob("*.py"))
EXAMPLES = ("compiled_legendre", "ctypes_bessel", "custom_exp", "double_backward", "fortran_tridiagonal", "gamma_fit",
            "graph_pages", "heat_rod", "legendre_fit", "linear_function", "lltm", "numba_garch", "ode_fit")  # fmt: skip
BUDGET = 20.0
HEAD = """\
| program | on | looked at | false alarms | faults found | same numbers | plain | audited | with faults | in time |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"""
DURATION = re.compile(r"\s*\d[\d.,]*\s*(?:[nµm]?s|seconds?)\b[^\n]*")
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONWARNINGS": "ignore", "OMP_NUM_THREADS": "1"}


class _Plant(ast.NodeTransformer):
    """Adds 1 % to the first gradient that backward methods, and functions that register a vjp, return."""

    def __init__(self) -> None:
        self.depth = 0
        self.planted = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        by = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
        own = node.name == "backward" or any(isinstance(d, ast.Attribute) and d.attr == "vjp" for d in by)
        self.depth += own
        self.generic_visit(node)
        self.depth -= own
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        if not self.depth or node.value is None:
            return node
        self.planted += 1
        return ast.copy_location(ast.Return(ast.Call(ast.Name("_more", ast.Load()), [node.value], [])), node)


MORE = """
def _more(r):
    if isinstance(r, dict):
        return dict(zip(r, _more(tuple(r.values()))))
    if isinstance(r, tuple):
        k = next(k for k, v in enumerate(r) if v is not None)
        return (*r[:k], _more(r[k]), *r[k + 1 :])
    return r * 1.01
"""


def planted(source: str) -> str | None:
    """A program with 1 % more in its derivatives; None if it has none."""
    plant = _Plant()
    tree = ast.fix_missing_locations(plant.visit(ast.parse(source)))
    if not plant.planted:
        return None
    first = next(k for k, s in enumerate(tree.body) if isinstance(s, ast.ClassDef | ast.FunctionDef))
    tree.body[first:first] = ast.parse(MORE).body
    return ast.unparse(tree)


def _run(*command: str, folder: Path) -> tuple[str, float, int]:
    start = _spent()
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False, env=ENVIRONMENT,
                          cwd=folder, timeout=1200)  # fmt: skip
    return done.stdout, _spent() - start, done.returncode


def _spent() -> float:
    """Seconds of processors that processes started from here have used, theirs included."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _audited(file: Path, *args: str, torch: bool) -> tuple[str, float, dict[str, Any]]:
    """What it prints, how long it takes, and the report."""
    report = file.with_suffix(".json")
    options = ["--torch"] if torch else []
    command = ["-m", "gradwright", "audit", *options, "--budget", f"{BUDGET:g}", "--json", str(report), str(file)]
    printed, seconds, _ = _run(*command, *args, folder=file.parent)
    return printed, seconds, json.loads(report.read_text())


def _plain(file: Path, torch: bool) -> tuple[str, float]:
    how = [] if torch else ["-m", "gradwright", "run"]
    printed, seconds, status = _run(*how, str(file), folder=file.parent)
    assert status == 0, f"{file.name} does not run"
    return printed, seconds


def _row(file: Path, wrong: Path, args: tuple[str, ...], torch: bool) -> str:
    plain, alone = min((_plain(file, torch) for _ in range(2)), key=lambda pair: pair[1])
    printed, seconds, right = _audited(file, torch=torch)
    same = _still(printed).startswith(_still(plain))
    _, faulty, bad = _audited(wrong, *args, torch=torch)
    found = [c["name"] for c in bad["checked"] if c["verdict"] == "FAIL"]
    alarms = [c["name"] for c in right["checked"] if c["verdict"] == "FAIL"]
    where = "PyTorch" if torch else "gradwright"
    within = max(seconds, faulty) <= 2 * alone + BUDGET
    return (f"| {file.stem} | {where} | {len(right['checked'])} | {', '.join(alarms) or 'none'} | "
            f"{len(found)} of {len(bad['checked'])} | {'yes' if same else 'no'} | {alone:.1f} s | {seconds:.1f} s | "
            f"{faulty:.1f} s | {'yes' if within else 'no'} |")  # fmt: skip


def _still(text: str) -> str:
    """What is printed, without durations, and without the table of the audit."""
    return DURATION.sub("some time", text)


def rows(names: list[str]) -> Iterator[str]:
    """A row for each program."""
    torch = importlib.util.find_spec("torch") is not None
    with tempfile.TemporaryDirectory() as made:
        for part in ("right", "wrong"):
            shutil.copytree(ROOT / "examples", Path(made, part))
        for file in Path(made, "wrong").glob("*.py"):
            if (text := planted(file.read_text())) is not None:
                file.write_text(text)
        for program in PROGRAMS:
            shutil.copy(program, made)
        for name in EXAMPLES:
            if names and name not in names:
                continue
            right, wrong = (Path(made, part, f"{name}.py") for part in ("right", "wrong"))
            yield _row(right, wrong, (), False)
        for program in PROGRAMS:
            file = Path(made, program.name)
            for real in (False, True)[: 1 + torch]:
                if not names or program.stem in names:
                    yield _row(file, file, ("--fault",), real)


if __name__ == "__main__":
    print(HEAD)
    for row in rows(sys.argv[1:]):
        print(row, flush=True)
