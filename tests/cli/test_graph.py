"""`gradwright graph FILE.py:FUNCTION`."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gradwright.cli import graph as command
from gradwright.cli import main

PROGRAM = """
import torch
from torch import nn

net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
scale = torch.ones(1, requires_grad=True)

def loss():
    print("from the program")
    data = torch.ones(2, 3)
    bias = torch.zeros(1, requires_grad=True)
    hidden = net(data) * scale + bias
    with torch.no_grad():
        factor = hidden.mean()
    return {"loss": (hidden * factor).pow(2).mean()}

def optional(n=3):
    return [scale * k for k in range(n)]

def needs(x):
    return x

def nothing():
    return 3

def raises():
    raise ArithmeticError("no such number")

number = 3
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: Any) -> str:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setattr(command, "Console", None)
    for name in [n for n in sys.modules if n == "torch" or n.startswith("torch.")]:
        monkeypatch.delitem(sys.modules, name)
    yield str(path)
    sys.modules.pop("program", None)


def test_the_tree_names_what_the_program_names(program: str, capsys: Any) -> None:
    assert main(["graph", f"{program}:loss"]) == 0
    shown = capsys.readouterr()
    assert shown.err == "from the program\n"
    for part in ("loss ", "net.0.weight", "net.2.bias", "scale", "bias", "hidden", "✂ no_grad()", "program.py:14",
                 "Sequential.1"):  # fmt: skip
        assert part in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80
    assert "torch" not in sys.modules


def test_defaults_will_do(program: str, capsys: Any) -> None:
    assert main(["graph", f"{program}:optional", "--text"]) == 0
    assert capsys.readouterr().out.count("Output") == 3


@pytest.mark.parametrize(("option", "start"), [
    ("--dot", "digraph"), ("--mermaid", "flowchart"), ("--json", '{"nodes"'),
])  # fmt: skip
def test_other_languages(program: str, capsys: Any, option: str, start: str) -> None:
    assert main(["graph", f"{program}:loss", option]) == 0
    made = capsys.readouterr().out
    assert made.startswith(start)
    if option == "--json":
        labels = {n.get("label") for n in json.loads(made)["nodes"]}
        assert {"net.0.weight", "scale", "bias", "loss"} <= labels


@pytest.mark.parametrize(("option", "start"), [("--svg", "<svg"), ("--html", "<!doctype html>")])
def test_files(program: str, capsys: Any, tmp_path: Path, option: str, start: str) -> None:
    path = tmp_path / "made"
    assert main(["graph", f"{program}:loss", option, str(path)]) == 0
    assert capsys.readouterr().out == ""
    assert path.read_text("utf-8").startswith(start)
    assert "net.0.weight" in path.read_text("utf-8")


def test_a_terminal_gets_colours(program: str, capsys: Any, monkeypatch: Any) -> None:
    console = pytest.importorskip("rich.console", reason="rich is not installed: no colours").Console
    monkeypatch.setattr(command, "Console", lambda **k: console(**k, force_terminal=True, color_system="standard"))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["graph", f"{program}:loss"]) == 0
    assert "\x1b[1mloss" in capsys.readouterr().out


@pytest.mark.parametrize(("target", "message"), [
    ("{}", "expected FILE.py:FUNCTION"), ("{}:", "expected FILE.py:FUNCTION"), ("{}:a b", "expected FILE.py:FUNCTION"),
    ("{}:missing", "there is no missing in"), ("{}:number", "number is no function, but int"),
    ("{}:needs", "needs no arguments"), ("{}:nothing", "gradwright graph: expected a Tensor"),
    ("none.py:loss", "there is no file none.py"), ("no.such.module:loss", "No module named 'no'"),
])  # fmt: skip
def test_what_cannot_be_shown_is_said(program: str, capsys: Any, target: str, message: str) -> None:
    assert main(["graph", target.format(program)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.splitlines()[-1].startswith("gradwright graph: ")
    assert message in shown.err


@pytest.mark.parametrize("option", ["--svg", "--html"])
def test_a_path_that_cannot_be_written_is_named(program: str, capsys: Any, tmp_path: Path, option: str) -> None:
    path = tmp_path / "missing" / "made"
    assert main(["graph", f"{program}:loss", option, str(path)]) == 2
    assert f"cannot write {path}: No such file or directory" in capsys.readouterr().err
    assert main(["graph", f"{program}:loss", option, ""]) == 2
    assert "cannot write .: Is a directory" in capsys.readouterr().err


def test_without_a_layout_a_picture_is_refused(program: str, capsys: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "igraph", None)
    monkeypatch.setenv("PATH", "")
    assert main(["graph", f"{program}:loss", "--svg", str(tmp_path / "made.svg")]) == 2
    assert "pip install igraph" in capsys.readouterr().err
    assert not (tmp_path / "made.svg").exists()


def test_what_the_function_raises_passes(program: str) -> None:
    before = sys.getprofile()
    with pytest.raises(ArithmeticError, match="no such number"):
        main(["graph", f"{program}:raises"])
    assert sys.getprofile() is before
    assert "torch" not in sys.modules


def test_only_one_form_at_a_time(program: str, capsys: Any) -> None:
    with pytest.raises(SystemExit, match=r"^2$"):
        main(["graph", f"{program}:loss", "--dot", "--json"])
    assert "not allowed with argument" in capsys.readouterr().err


def test_a_pipe_gets_utf_8(program: str) -> None:
    done = subprocess.run([sys.executable, "-m", "gradwright", "graph", f"{program}:loss"], capture_output=True,
                          timeout=60, env={**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "200"})  # fmt: skip
    assert done.returncode == 0
    assert "✂ no_grad()" in done.stdout.decode()
