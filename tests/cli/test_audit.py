"""`gradwright audit`: what it prints and returns."""

import json
import os
import subprocess
import sys

import pytest

HEAD = """
import torch, sys
class Halved(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * FACTOR
Halved.apply(torch.ones(3, requires_grad=True)).sum().backward()
"""


def run(tmp_path, text, *options):
    (tmp_path / "p.py").write_text(text)
    return subprocess.run([sys.executable, "-m", "gradwright", "audit", *options, str(tmp_path / "p.py"), "--own"],
                          capture_output=True, text=True, env=dict(os.environ), check=False)  # fmt: skip


@pytest.mark.parametrize(("text", "status", "words"), [
    (HEAD.replace("FACTOR", "2"), 0, "1 right"),
    (HEAD.replace("FACTOR", "1"), 1, "0.5 times what it should be"),
    (HEAD.replace("FACTOR", "2") + "1 / 0", 2, "it raises ZeroDivisionError"),
    (HEAD.replace("FACTOR", "2") + "sys.exit(3)", 2, "exit status 3"),
    ("x = 1", 2, "no Function"),
])  # fmt: skip
def test_status(tmp_path, text, status, words):
    found = run(tmp_path, text)
    assert words in " ".join(found.stdout.split()), found.stderr
    assert found.returncode == status


def test_json(tmp_path):
    found = run(tmp_path, HEAD.replace("FACTOR", "2") + "print(sys.argv[1:])", "--json", "-")
    assert json.loads(found.stdout)["command"] == "gradwright audit"
    assert "['--own']" in found.stderr
