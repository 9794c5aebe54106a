"""The process: what it says, line by line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gradwright.verify.check.attempt import Attempt
from gradwright.verify.check.discover import load
from gradwright.verify.check.worker import reason

CODE = """
import sys
import gradwright as gw
print("noise at import")
class Double(gw.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        print("noise in forward", sys.stdin.read())
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
"""


# As where PyTorch is not installed: nothing finds it.
WITHOUT_TORCH = """
from importlib.machinery import PathFinder
find = PathFinder.find_spec
PathFinder.find_spec = classmethod(lambda cls, name, *rest: None if name == "torch" else find(name, *rest))
"""


def talk(target, *requests, before=""):
    command = [sys.executable, "-m", "gradwright.verify.check.worker", str(target)]
    text = "".join(json.dumps(r) + "\n" for r in requests)
    if before:
        start = f"{before}\nimport runpy, sys\nsys.argv[1:] = [{str(target)!r}]\n"
        run = "runpy.run_module('gradwright.verify.check.worker', run_name='__main__')"
        command = [sys.executable, "-c", start + run]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_it_answers_in_json_whatever_is_printed(tmp_path):
    (tmp_path / "f.py").write_text(CODE)
    ready, found, *doing, checked = talk(tmp_path / "f.py", {"name": "Double", "fast": True})
    assert (ready, doing) == ("ready", ["samples", "it"])
    assert [s["name"] for s in found["subjects"]] == ["Double"]
    assert {f["outcome"] for f in checked["findings"]} <= {"PASS", "SKIPPED"}


@pytest.mark.parametrize(("text", "why"), [
    (b"x = 1\nx / 0\n", "it does not import: ZeroDivisionError: division by zero at line 2"),
    (b"x = 1\0", "null bytes"), (b"import sys\nsys.exit(1)\n", "exits the interpreter"),
    (None, "it does not import: ModuleNotFoundError: No module named 'no_such_module'"),
])  # fmt: skip
def test_why_it_does_not_import(tmp_path, monkeypatch, text, why):
    monkeypatch.syspath_prepend(tmp_path)
    target, attempt = "no_such_module", Attempt()
    if text is not None:
        target = str(tmp_path / "does_not_import.py")
        Path(target).write_bytes(text)
    with attempt:
        load(target)
    assert why in reason(attempt, target)


def test_what_does_not_import(tmp_path):
    (tmp_path / "f.py").write_text("import gradwright\n\nfoo(\n")
    assert talk(tmp_path / "f.py")[1]["problem"].startswith("it does not import: SyntaxError")


def test_where_pytorch_is_absent_its_functions_are_checked_on_gradwright(tmp_path):
    code = CODE.replace("import gradwright as gw", "import torch as gw\nfrom torch import nn")
    wrong = "class Wrong(Double):\n    @staticmethod\n    def backward(ctx, g):\n        return g * 3\n"
    (tmp_path / "f.py").write_text(code + wrong)
    asked = [{"name": name, "fast": True} for name in ("Double", "Wrong")]
    _, found, *said = talk(tmp_path / "f.py", *asked, before=WITHOUT_TORCH)
    assert "PyTorch is not installed" in found["notes"][0]
    assert found["subjects"][0]["kind"] == "function"
    checked = [{f["check"]: f["outcome"] for f in one["findings"]} for one in said if isinstance(one, dict)]
    assert [one["first order"] for one in checked] == ["PASS", "FAIL"]
