"""Random programs do the same with the core and by Python alone: results, graphs, versions, messages, warnings, bits.

`make test` runs 300 of them, with CI=1 more; each way is a process of its own.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradwright import native
from tests import thorough

ROOT = Path(__file__).parents[2]
COUNT = thorough.PROGRAMS * 3 // 5


@pytest.mark.skipif(native.core is None, reason=f"core: {native.state()}")
def test_they_do_the_same_both_ways():
    command = [sys.executable, "-m", "tests.native.random_programs", "0", str(COUNT)]
    ways = [subprocess.Popen(command, cwd=ROOT, env={**os.environ, "GRADWRIGHT_CORE": core}, text=True,
                             stdout=subprocess.PIPE) for core in "01"]  # fmt: skip
    python, core = [process.communicate(timeout=900)[0].splitlines() for process in ways]
    assert len(python) == COUNT
    assert [line for line in core if line not in python] == []
    assert core == python
