"""Audits of five training programs, on gradwright and on PyTorch: planted faults are found, numbers stay to the bit.

A loader's worker processes call a Function in one of them, threads in another.
"""

import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))

# Runs each program as it is, in an audit, and in an audit with its fault: to start processes would take longer.
# What is looked at goes by how long a call takes: here each takes 2 ms, on a busy machine, too.
DRIVER = """
import io, json, runpy, sys, time
from contextlib import redirect_stdout
from itertools import count
import torch
from gradwright.verify.audit import audit
from gradwright.verify.numeric import budget

time.perf_counter = budget.perf_counter = count(0.0, 0.002).__next__

def run(script, *args):
    printed = io.StringIO()
    sys.argv = [script, *args]
    with redirect_stdout(printed):
        runpy.run_path(script, run_name="__main__")
    return printed.getvalue()

for script in sys.argv[1:]:
    said = {"plain": run(script), "library": torch.__name__, "real": hasattr(torch, "_C")}
    for name, args in (("right", ()), ("fault", ("--fault",))):
        with audit(budget=3, shown=False) as found:
            said["audited " + name] = run(script, *args)
        said[name] = found.report.as_dict()
    print(json.dumps(said))
"""


@functools.cache
def found(*command):
    """What is printed and found by program."""
    with tempfile.TemporaryDirectory() as folder:
        driver = Path(folder, "driver.py")
        driver.write_text(DRIVER)
        call = [sys.executable, *command, str(driver), *map(str, PROGRAMS)]
        done = subprocess.run(call, capture_output=True, text=True, timeout=300, cwd=folder, check=False,
                              env={**os.environ, "PYTHONWARNINGS": "ignore"})  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(zip((p.stem for p in PROGRAMS), map(json.loads, done.stdout.splitlines()), strict=True))


def held(said, name):
    """That an audit of a program changes nothing, is content with it, and finds its fault."""
    assert said["audited right"] == said["plain"]
    assert said["audited fault"] != said["plain"]
    (right,), (wrong,) = said["right"]["checked"], said["fault"]["checked"]
    assert (right["verdict"], wrong["verdict"]) == ("PASS", "FAIL")
    assert right["name"] == wrong["name"]
    sentence = next(f["sentence"] for f in wrong["findings"] if f["outcome"] == "FAIL")
    if name == "loaded":
        assert "0.714" in sentence
        assert "worker process" in sentence
    if name in ("threads", "normalized"):
        assert "is right" in sentence
        assert "gradient by `angle`" in sentence or "gradient by `x`" in sentence


@pytest.mark.parametrize("name", [p.stem for p in PROGRAMS])
def test_on_gradwright(name):
    held(found("-m", "gradwright", "run")[name], name)


@pytest.mark.parametrize("name", [p.stem for p in PROGRAMS])
def test_on_pytorch(name, torch):
    said = found()[name]
    assert said["real"]
    held(said, name)
