"""Children of a program that `gradwright run` runs: each way to start one finds the same torch."""

import os
import subprocess
import sys

PROGRAM = """
import multiprocessing, subprocess, sys
import torch

def told(x):
    return float(x.sum()), torch.__version__.partition("+")[2][:10], torch.manual_seed(0) and torch.rand(1).item()

if __name__ == "__main__":
    here = told(torch.ones(3))
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            assert pool.map(told, [torch.ones(3)]) == [here], method
    code = "import os, torch; print(torch.__version__, os.environ['SEEN'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    print(*here[:2], done.stdout.strip().endswith("the user's") and "gradwright" in done.stdout, done.stderr)
"""


def test_children_serve_the_same_names(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text("import os; os.environ['SEEN'] = \"the user's\"")
    command = [sys.executable, "-m", "gradwright", "run", "program.py"]
    own = os.environ | {"PYTHONPATH": str(tmp_path / "own")}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path, env=own)
    assert (done.stdout, done.stderr) == ("3.0 gradwright True \n", "")
