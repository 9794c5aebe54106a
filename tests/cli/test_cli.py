"""The command line itself: arguments, help, and the extra it names."""

import os
import subprocess
import sys

import pytest

import gradwright
from gradwright import cli
from gradwright.cli import main


def test_help_names_the_commands(capsys):
    assert main([]) == 2
    text = capsys.readouterr().out
    assert "run " in text
    assert "demo " in text


def test_version(capsys):
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["--version"])
    assert capsys.readouterr().out == f"gradwright {gradwright.__version__}\n"


@pytest.mark.parametrize(("arguments", "error"), [
    (["frobnicate"], "invalid choice: 'frobnicate'"),
    (["demo", "x"], "unrecognized arguments: x"),
])
def test_wrong_arguments(arguments, error, capsys):
    with pytest.raises(SystemExit, match=r"^2$"):
        main(arguments)
    assert error in capsys.readouterr().err


def test_run_passes_everything_after_the_script_on(monkeypatch):
    monkeypatch.setattr(cli.run, "run", lambda script, args: (script, args))
    monkeypatch.setattr(cli.run, "run_module", lambda name, args: (name, args))
    for first in (["a.py"], ["-m", "a.b"]):
        assert main(["run", *first, "--help", "b", "--", "-x"]) == (first[-1], ["--help", "b", "--", "-x"])


def test_the_demo_without_rich_names_the_extra(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "rich", None)
    monkeypatch.delitem(sys.modules, "gradwright.cli.demo", raising=False)
    monkeypatch.delattr(cli, "demo", raising=False)
    assert main(["demo"]) == 2
    assert capsys.readouterr().err == 'gradwright demo needs the package rich: pip install rich\n'


@pytest.mark.parametrize("options", [[], ["--json", "-"]])
def test_a_reader_that_has_enough_ends_it_quietly(tmp_path, options):
    (tmp_path / "empty.py").write_text("")
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "gradwright", "check", *options, "empty.py"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, cwd=tmp_path, timeout=60)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


def test_python_m_gradwright_is_gradwright():
    done = subprocess.run([sys.executable, "-m", "gradwright", "--version"], capture_output=True, text=True, timeout=60)
    assert done.stdout == f"gradwright {gradwright.__version__}\n"
