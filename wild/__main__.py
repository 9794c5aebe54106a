"""Other people's packages on gradwright: ``python -m wild [--tests] [NAMES]...``, which ``make wild`` runs.

Each program in ``wild/programs`` uses one package from the index, and keeps some numbers. It is run with PyTorch and by
``gradwright run``, and the numbers are compared. With ``--tests``, packages' own tests are run in both ways (`suites`).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from wild import suites

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PACKAGES = ROOT / ".wild"
TOLERANCE = 1e-4
TIME = 600


def stale() -> bool:
    """Whether `.wild` is not there, or made before another release was asked for."""
    ready = PACKAGES / ".ready"
    return not ready.exists() or any((HERE / asked).stat().st_mtime > ready.stat().st_mtime
                                     for asked in ("requirements.txt", "suites.txt"))  # fmt: skip


def run(program: Path, ours: bool, out: Path) -> str:
    """Run one program; the last line of what went wrong, or nothing."""
    path = os.pathsep.join([str(ROOT / "src"), str(PACKAGES), str(HERE)])
    way = ["-m", "gradwright", "run"] if ours else []
    command = [sys.executable, "-W", "ignore", *way, str(program)]
    env = {**os.environ, "PYTHONPATH": path, "WILD_OUT": str(out), "OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=TIME, check=False,
                              cwd=out.parent)  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"did not end within {TIME} s"
    if done.returncode == 0 and out.exists():
        return ""
    (out.parent / f"{out.stem}.err").write_text(done.stderr)
    return (done.stderr.strip().splitlines() or [f"ended with status {done.returncode}"])[-1]


def compare(theirs: Path, ours: Path) -> str:
    """What differs between the numbers of two runs, or nothing."""
    with np.load(theirs) as a, np.load(ours) as b:
        if set(a) != set(b):
            return f"other results: {sorted(set(a) ^ set(b))}"
        for name in a:
            x, y = a[name], b[name]
            if x.shape != y.shape or x.dtype != y.dtype:
                return f"{name}: {x.dtype} {x.shape} and {y.dtype} {y.shape}"
            if not np.allclose(x, y, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
                return f"{name}: differ by {np.abs(x - y).max():.2g}"
    return ""


def one(program: Path, folder: Path) -> str:
    """How a program fares: "agrees", or why not."""
    theirs, ours = folder / f"{program.stem}.torch.npz", folder / f"{program.stem}.gradwright.npz"
    wrong = run(program, False, theirs)
    if wrong:
        return f"fails on PyTorch: {wrong}"
    return run(program, True, ours) or compare(theirs, ours) or "agrees"


def tested(name: str, folder: Path) -> str:
    """How a package's own tests fare: "agrees", or how many do not pass."""
    found = suites.compare(name, PACKAGES, folder)
    if not found.passed:
        return "no test passes on PyTorch"
    if not found.lost:
        return f"agrees: {found.passed} tests"
    return f"{found.kept} of the {found.passed} tests that pass on PyTorch; not {', '.join(found.lost)}"


def each(names: Sequence[str], how: Callable[[str], str]) -> int:
    """Say of each how it fares, two at a time; how many agree."""

    def timed(name: str) -> tuple[str, float]:
        begun = time.perf_counter()
        return how(name), time.perf_counter() - begun

    agree = 0
    with ThreadPoolExecutor(2) as pool:
        for k, (name, (found, seconds)) in enumerate(zip(names, pool.map(timed, names), strict=True), 1):
            agree += found.startswith("agrees")
            print(f"[{k:>3}/{len(names)}] {seconds:5.0f} s  {name:<28} {found}", flush=True)
    return agree


def main() -> int:
    """Run the programs, or the tests, of the given names, or all; the exit status is 1 if one does not agree."""
    parser = argparse.ArgumentParser(prog="python -m wild")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--tests", action="store_true", help="run packages' own tests instead of programs")
    parser.add_argument("--keep", help="a folder for the numbers and what was said on errors")
    arguments = parser.parse_args()
    programs = {p.stem.removeprefix("use_"): p for p in sorted((HERE / "programs").glob("use_*.py"))}
    known = list(suites.SUITES) if arguments.tests else list(programs)
    if unknown := set(arguments.names) - set(known):
        parser.error(f"no {'tests' if arguments.tests else 'program'} of {', '.join(sorted(unknown))}; there are: "
                     f"{', '.join(known)}")  # fmt: skip
    names = arguments.names or known
    if stale():
        parser.error("what wild/requirements.txt and wild/suites.txt ask for is not installed: make .wild/.ready")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(arguments.keep or scratch).resolve()
        folder.mkdir(exist_ok=True)
        agree = each(names, lambda n: tested(n, folder) if arguments.tests else one(programs[n], folder))
    print(f"{agree} of {len(names)} agree")
    return agree < len(names)


if __name__ == "__main__":
    sys.exit(main())
