"""The command line itself: arguments, help, and the extra it names."""

import os
import subprocess
import sys
from importlib import reload

import pytest

import gradwright
from gradwright import native
from gradwright.cli import COMMANDS, main, run


def test_help_names_the_commands(capsys):
    assert main([]) == 2
    text = capsys.readouterr().out
    assert all(f"\n    {name} " in text for name in COMMANDS)


def test_version(capsys):
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["--version"])
    assert capsys.readouterr().out == f"gradwright {gradwright.__version__}, core: {native.state()}\n"


@pytest.mark.parametrize(("arguments", "error"), [
    (["frobnicate"], "invalid choice: 'frobnicate'"),
    (["demo", "x"], "unrecognized arguments: x"),
])
def test_wrong_arguments(arguments, error, capsys):
    with pytest.raises(SystemExit, match=r"^2$"):
        main(arguments)
    assert error in capsys.readouterr().err


def test_run_passes_everything_after_the_script_on(monkeypatch):
    monkeypatch.setattr(run, "run_program", lambda name, args, module=False: (name, args, module))
    for first in (["a.py"], ["-m", "a.b"]):
        passed_on = first[-1], ["--help", "b", "--", "-x"], "-m" in first
        assert main(["run", *first, "--help", "b", "--", "-x"]) == passed_on


def test_the_demo_without_rich_names_the_extra(monkeypatch, capsys):
    from gradwright.cli import demo

    with monkeypatch.context() as without:
        without.setitem(sys.modules, "rich", None)
        reload(demo)
        assert main(["demo"]) == 2
    reload(demo)
    assert capsys.readouterr().err == 'gradwright demo needs the package rich: pip install rich\n'


def test_run_loads_only_what_it_runs(tmp_path):
    """Beside gradwright itself only the reading of the command line."""
    (tmp_path / "program.py").write_text("import sys\nprint(*sys.modules)\n")

    def loaded(*arguments):
        done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=tmp_path, timeout=60)
        return {name for name in done.stdout.split() if name.startswith("gradwright")}

    more = loaded("-m", "gradwright", "run", "program.py") - loaded("-c", "import gradwright.as_torch, program")
    assert {name for name in more if not name.startswith("gradwright.cli")} <= {"gradwright.pytorch.count"}
    assert more & {f"gradwright.cli.{name}" for name in COMMANDS} == {"gradwright.cli.run"}


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
    assert done.stdout == f"gradwright {gradwright.__version__}, core: {native.state()}\n"
