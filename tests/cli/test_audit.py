"""`gradwright audit`: what it prints and returns."""

import json

import pytest

from tests.programs import run as start

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
    return start("gradwright", "audit", *options, tmp_path / "p.py", "--own", imports="gradwright.cli.audit")


@pytest.mark.parametrize(("text", "status", "words"), [
    (HEAD.replace("FACTOR", "2"), 0, "1 right"),
    (HEAD.replace("FACTOR", "1"), 1, "0.5 times what it should be"),
    (HEAD.replace("FACTOR", "2") + "1 / 0", 1, "it raises ZeroDivisionError"),
    (HEAD.replace("FACTOR", "2") + "sys.exit(3)", 3, "exit status 3"),
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


@pytest.mark.parametrize("pool", ["ThreadPoolExecutor", "ProcessPoolExecutor"])
def test_a_pool_left_open_does_not_hang(tmp_path, pool):
    text = f"from concurrent.futures import {pool}\npool = {pool}(1)\nprint(pool.submit(abs, -7).result())\n"
    found = run(tmp_path, text + HEAD.replace("FACTOR", "2"))
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.startswith("7\n")
