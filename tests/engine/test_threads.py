"""Backward from several threads at once, with the interpreter's lock and, where one is installed, without it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gradwright
from tests.engine.threads import programs

FREE = next(filter(None, map(shutil.which, ("python3.14t", "python3.13t"))), None)


@pytest.fixture(autouse=True)
def _switch_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("program", programs.PROGRAMS, ids=lambda program: program.__name__)
def test_program(program):
    program()


@pytest.mark.skipif(FREE is None, reason="no free-threaded Python (python3.14t or python3.13t) on PATH")
def test_all_programs_under_free_threaded_python():
    if subprocess.run([FREE, "-c", "import numpy"], capture_output=True, check=False).returncode:
        pytest.skip(f"{FREE} has no NumPy")
    source = str(Path(gradwright.__file__).parents[1])
    run = subprocess.run([FREE, programs.__file__], env=os.environ | {"PYTHONPATH": source}, timeout=120,
                         capture_output=True, text=True, check=False)  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert run.stdout == f"{len(programs.PROGRAMS)} programs, without the interpreter's lock\n"
