"""Other people's packages on gradwright: ``python -m wild [NAMES]...``, which ``make wild`` runs.

Each program in ``wild/programs`` uses one package from the index, and keeps some numbers. It is run with PyTorch and by
``gradwright run``, and the numbers are compared.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PACKAGES = ROOT / ".wild"
TOLERANCE = 1e-4
TIME = 600


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


def main() -> int:
    """Run the programs of the given names, or all; the exit status is 1 if one does not agree."""
    parser = argparse.ArgumentParser(prog="python -m wild")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--keep", help="a folder for the numbers and what was said on errors")
    arguments = parser.parse_args()
    programs = {p.stem.removeprefix("use_"): p for p in sorted((HERE / "programs").glob("use_*.py"))}
    chosen = arguments.names or list(programs)
    agree = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(arguments.keep or scratch)
        folder.mkdir(exist_ok=True)
        for name in chosen:
            found = one(programs[name], folder)
            agree += found == "agrees"
            print(f"{name:<32} {found}", flush=True)
    print(f"{agree} of {len(chosen)} agree")
    return agree < len(chosen)


if __name__ == "__main__":
    sys.exit(main())
