"""What type checkers know of ordinary programs: every `assert_type` in them holds, every planted mistake is found.

Both look at the installed package as a user's editor does, with ``py.typed`` and the annotations in the code.
"""

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import gradwright

PROGRAMS = Path(__file__).parent / "typed_programs"
SOURCE = Path(gradwright.__file__).parents[1]
MISTAKES = PROGRAMS / "mistakes.py"
PLANTED = {n for n, line in enumerate(MISTAKES.read_text().splitlines(), 1) if "# mistake" in line}
RIGHT = [path for path in sorted(PROGRAMS.glob("*.py")) if path != MISTAKES]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("mypy")


def mypy(path: Path, cache: Path) -> dict[int, str]:
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--allow-untyped-defs", "--config-file=", "--no-error-summary",
         "--cache-dir", cache, path],
        capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(SOURCE)},
    )  # fmt: skip
    assert not found.stderr
    errors = [line for line in found.stdout.splitlines() if ": error: " in line]
    places = [re.match(rf"(?:.*/)?{re.escape(path.name)}:(\d+): error: (.*)", line) for line in errors]
    assert all(places), errors
    return {int(m[1]): m[2] for m in places if m}


def pyright(path: Path) -> dict[int, str]:
    found = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, path],
        capture_output=True, text=True, cwd=PROGRAMS, env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )  # fmt: skip
    reports = json.loads(found.stdout)["generalDiagnostics"]
    return {d["range"]["start"]["line"] + 1: d["message"] for d in reports if d["severity"] == "error"}


needs_pyright = pytest.mark.skipif(find_spec("pyright") is None, reason="pyright is not installed")


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_mypy_has_no_complaint_of_right_programs(path, cache):
    assert mypy(path, cache) == {}


@needs_pyright
@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_pyright_has_no_complaint_of_right_programs(path):
    assert pyright(path) == {}


def test_mypy_finds_every_mistake(cache):
    assert mypy(MISTAKES, cache).keys() == PLANTED


@needs_pyright
def test_pyright_finds_every_mistake():
    assert pyright(MISTAKES).keys() == PLANTED
