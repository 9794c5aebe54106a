"""Packages' own tests on gradwright: ``python -m wild --tests [NAMES]...``.

The source releases in ``wild/suites.txt`` hold tests; ``python -m wild.suites FOLDER`` fetches and unpacks them. Each
suite is run by pytest with PyTorch and by ``gradwright run -m pytest``, and the tests that pass are compared by their
names.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
SECONDS = 900


class Suite(NamedTuple):
    """Where a package's tests are in its source release, and what pytest is told besides."""

    tests: str
    options: Sequence[str] = ()


SUITES: Mapping[str, Suite] = {
    "ema_pytorch": Suite("tests"),
    "julius": Suite("tests", ["--ignore=tests/test_resample.py"]),  # which needs resampy, to compare with
    "memcnn": Suite("memcnn/models memcnn/utils"), "nflows": Suite("tests"), "pytorch_warmup": Suite("test"),
    "sparsemax": Suite("tests"), "torch-optimizer": Suite("tests"),
}


class Counted(NamedTuple):
    """How many tests pass on PyTorch, how many of these on gradwright, and which do not."""

    passed: int
    kept: int
    lost: Sequence[str]


def fetch(packages: Path) -> None:
    """Fetch the source releases, and unpack them."""
    fetched = packages / "fetched"
    command = [sys.executable, "-m", "pip", "download", "-qq", "--no-deps", "--no-build-isolation", "--no-binary",
               ":all:", "-d", str(fetched), "-r", str(HERE / "suites.txt")]  # fmt: skip
    subprocess.run(command, check=True)
    for archive in sorted(fetched.iterdir()):
        unpack(archive, packages / "sources")
    if missing := [name for name in SUITES if source(name, packages) is None]:
        sys.exit(f"wild/suites.txt has no source release of {', '.join(missing)}, whose tests wild/suites.py runs")


def unpack(archive: Path, folder: Path) -> None:
    """Unpack a source release, a ``.tar.gz`` or a ``.zip``."""
    filtered = {} if archive.suffix == ".zip" else {"filter": "data"}
    shutil.unpack_archive(archive, folder, **filtered)


def source(name: str, packages: Path) -> Path | None:
    """The folder of a package's unpacked source release, if it is there."""
    return next((packages / "sources").glob(f"{name}-*"), None)


def run(name: str, ours: bool, source: Path, packages: Path, out: Path) -> set[str]:
    """Run a suite; the names of the tests that pass."""
    suite = SUITES[name]
    way = ["-m", "gradwright", "run"] if ours else []
    command = [sys.executable, "-W", "ignore", *way, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore",
               "--rootdir", ".", "--continue-on-collection-errors", f"--junitxml={out}", *suite.options,
               *suite.tests.split()]  # fmt: skip
    path = os.pathsep.join([str(HERE.parent / "src"), str(packages)])
    env = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1",
           "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    try:
        done = subprocess.run(command, env=env, cwd=source, capture_output=True, text=True, timeout=SECONDS,
                              check=False)  # fmt: skip
    except subprocess.TimeoutExpired:
        return set()
    out.with_suffix(".txt").write_text(done.stdout + done.stderr)
    if not out.exists():
        return set()
    cases = ET.parse(out).iter("testcase")
    return {f"{case.get('classname')}::{case.get('name')}" for case in cases if not len(case.findall("*[@message]"))}


def compare(name: str, packages: Path, out: Path) -> Counted:
    """How a package's tests fare."""
    folder = source(name, packages)
    if folder is None:
        raise FileNotFoundError(f"no source release of {name} in {packages / 'sources'}: make .wild/.ready")
    theirs = run(name, False, folder, packages, out / f"{name}.torch.xml")
    ours = run(name, True, folder, packages, out / f"{name}.gradwright.xml")
    return Counted(len(theirs), len(theirs & ours), sorted(theirs - ours))


if __name__ == "__main__":
    fetch(Path(sys.argv[1]))
