"""The process: what it says, line by line."""

import json
import subprocess
import sys

import pytest

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


def test_what_does_not_import(tmp_path):
    (tmp_path / "f.py").write_text("import gradwright\n\nfoo(\n")
    assert talk(tmp_path / "f.py")[1]["problem"].startswith("it does not import: SyntaxError")
    (tmp_path / "f.py").write_text("x = 1\nx / 0\n")
    assert talk(tmp_path / "f.py")[1]["problem"] == "it does not import: ZeroDivisionError: division by zero at line 2"
    (tmp_path / "f.py").write_bytes(b"x = 1\0")
    assert talk(tmp_path / "f.py")[1]["problem"].endswith("null bytes")
    (tmp_path / "f.py").write_text("import sys\nsys.exit(1)\n")
    assert "exits the interpreter" in talk(tmp_path / "f.py")[1]["problem"]
    assert talk("no_such_module")[1]["problem"] == (
        "it does not import: ModuleNotFoundError: No module named 'no_such_module'"
    )


@pytest.mark.parametrize(("factor", "outcome"), [("2", "PASS"), ("3", "FAIL")])
def test_where_pytorch_is_absent_its_functions_are_checked_on_gradwright(tmp_path, factor, outcome):
    code = CODE.replace("import gradwright as gw", "import torch as gw\nfrom torch import nn")
    code = code.replace("g * 2", f"g * {factor}")
    (tmp_path / "f.py").write_text(code)
    _, found, *_, checked = talk(tmp_path / "f.py", {"name": "Double", "fast": True}, before=WITHOUT_TORCH)
    assert "PyTorch is not installed" in found["notes"][0]
    assert found["subjects"][0]["kind"] == "function"
    assert {f["check"]: f["outcome"] for f in checked["findings"]}["first order"] == outcome
