"""What type checkers know of ordinary programs: every `assert_type` in them holds, every planted mistake is found.

Both look at the installed package as a user's editor does, with ``py.typed`` and the annotations in the code.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

import gradwright

ROOT = Path(__file__).parents[1]
PROGRAMS = Path(__file__).parent / "typed_programs"
SOURCE = Path(gradwright.__file__).parents[1]
MISTAKES = PROGRAMS / "mistakes.py"
PLANTED = {n for n, line in enumerate(MISTAKES.read_text().splitlines(), 1) if "# mistake" in line}
ALL = sorted(PROGRAMS.glob("*.py"))
RIGHT = [path for path in ALL if path != MISTAKES]


def mypy() -> dict[Path, dict[int, str]]:
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--allow-untyped-defs", "--config-file=", "--no-error-summary",
         "--cache-dir", ROOT / ".mypy_cache/typed_programs", *ALL],
        capture_output=True, text=True, cwd=PROGRAMS, env={**os.environ, "MYPYPATH": str(SOURCE)},
    )  # fmt: skip
    assert not found.stderr
    errors = [line for line in found.stdout.splitlines() if ": error: " in line]
    places = [re.match(r"(.*\.py):(\d+): error: (.*)", line) for line in errors]
    assert all(places), errors
    return by_program((PROGRAMS / m[1], int(m[2]), m[3]) for m in places if m)


def pyright() -> dict[Path, dict[int, str]]:
    found = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, *ALL],
        capture_output=True, text=True, cwd=PROGRAMS, env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )  # fmt: skip
    reports = json.loads(found.stdout)["generalDiagnostics"]
    return by_program((Path(d["file"]), d["range"]["start"]["line"] + 1, d["message"])
                      for d in reports if d["severity"] == "error")  # fmt: skip


def by_program(errors: Iterable[tuple[Path, int, str]]) -> dict[Path, dict[int, str]]:
    """The errors of each program, and of whatever else has some, by their lines."""
    found: dict[Path, dict[int, str]] = {path: {} for path in ALL}
    for path, line, message in errors:
        found.setdefault(path, {})[line] = message
    return found


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_every_mistake_is_found_and_right_programs_have_no_complaint(checker):
    pytest.importorskip(checker.__name__, reason=f"{checker.__name__} is not installed")
    found = checker()
    assert found.pop(MISTAKES).keys() == PLANTED
    assert found == {path: {} for path in RIGHT}
