"""`gradwright run`: programs run as Python would run them, with gradwright for torch."""

import subprocess
import sys
from types import ModuleType

import pytest

from gradwright.cli import main
from gradwright.cli.run import run_program

GRADWRIGHT_RUN = ("-m", "gradwright", "run")


@pytest.fixture
def python(tmp_path):
    """Runs `python *arguments` in a folder of its own."""

    def call(*arguments, **kwargs):
        command = [sys.executable, *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path, **kwargs)

    return call


def test_a_program_finds_what_python_would_give_it(tmp_path, python):
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "beside.py").write_text("where = __file__\n")
    (folder / "program.py").write_text(
        "import sys, beside, inspect, numpy\n"
        "def f(x: int = 0): pass\n"  # whose annotations our own `from __future__ import annotations` must not reach
        "print(__name__, __file__, __spec__, type(__loader__).__name__, __builtins__, f.__annotations__)\n"
        "print(sys.argv, sys.path[0], beside.where, vars(sys.modules['__main__']) is globals())\n"
        "print(inspect.getsource(f), numpy.arange(3), 'torch' in sys.modules)\n"
        "sys.exit(3)\n"
    )
    arguments = ["programs/program.py", "-h", "--x=1", "--", "y"]
    ours, theirs = python(*GRADWRIGHT_RUN, *arguments), python(*arguments)
    assert ours.stdout == theirs.stdout != ""
    assert (ours.returncode, ours.stderr) == (theirs.returncode, theirs.stderr) == (3, "")


def test_gradwright_goes_before_an_installed_torch(tmp_path, python):
    (tmp_path / "torch.py").write_text("raise SystemExit('the other torch')\n")
    (tmp_path / "program.py").write_text("import torch\nprint(torch.cuda.is_available(), torch.ones(2).sum())\n")
    done = python(*GRADWRIGHT_RUN, "program.py")
    assert (done.stdout, done.stderr, done.returncode) == ("False tensor(2.)\n", "", 0)


def test_a_traceback_holds_the_program_alone(tmp_path, python):
    program = tmp_path / "program.py"
    program.write_text(
        "def f():\n"
        "    from torch import frobnicate\n"
        "\n"
        "try:\n"
        "    f()\n"
        "except ImportError as error:\n"
        "    raise ValueError(1) from error\n"
    )
    done = python(*GRADWRIGHT_RUN, "program.py")
    assert done.returncode == 1
    assert done.stderr == (
        "Traceback (most recent call last):\n"
        f'  File "{program}", line 5, in <module>\n'
        "    f()\n"
        f'  File "{program}", line 2, in f\n'
        "    from torch import frobnicate\n"
        "ModuleNotFoundError: PyTorch has no torch.frobnicate, and neither has gradwright\n"
        "\n"
        "The above exception was the direct cause of the following exception:\n"
        "\n"
        "Traceback (most recent call last):\n"
        f'  File "{program}", line 7, in <module>\n'
        "    raise ValueError(1) from error\n"
        "ValueError: 1\n"
    )


def test_a_program_that_does_not_compile(tmp_path, python):
    (tmp_path / "program.py").write_text("x = (\n")
    ours, theirs = python(*GRADWRIGHT_RUN, "program.py"), python("program.py")
    assert (ours.returncode, ours.stderr) == (theirs.returncode, theirs.stderr)


def test_a_program_that_is_not_there(tmp_path, capsys):
    before = sys.argv[:], sys.path[:], sys.meta_path[:], sys.modules["__main__"]
    assert run_program(str(tmp_path / "none.py")) == 2
    assert capsys.readouterr().err == f"gradwright run: cannot read {tmp_path}/none.py: No such file or directory\n"
    assert run_program(str(tmp_path)) == 2
    assert capsys.readouterr().err == f"gradwright run: cannot read {tmp_path}: Is a directory\n"
    assert before == (sys.argv, sys.path, sys.meta_path, sys.modules["__main__"])


def test_pytorch_already_imported(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    program = tmp_path / "program.py"
    program.write_text("raise AssertionError\n")
    assert run_program(str(program)) == 2
    assert capsys.readouterr().err.startswith("gradwright run: PyTorch is already imported in this process (from ")


def test_a_module_is_run_as_python_would(tmp_path, python):
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("import torch\n")
    (package / "__main__.py").write_text(
        "import sys, torch\n"
        "from . import torch as same\n"
        "print(__name__, __package__, sys.argv[1:], sys.path[0], torch.__version__.partition('+')[2][:10])\n"
    )
    done = python(*GRADWRIGHT_RUN, "-m", "package", "-h", "--x=1")
    assert done.stdout == f"__main__ package ['-h', '--x=1'] {tmp_path} gradwright\n", done.stderr
    assert done.returncode == 0


def test_tests_are_run_by_pytest(tmp_path, python):
    (tmp_path / "test_it.py").write_text("import torch\ndef test(): assert 'gradwright' in torch.__version__\n")
    done = python(*GRADWRIGHT_RUN, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_a_module_that_is_not_there(monkeypatch, capsys):
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setattr("gradwright.pytorch.hook.install", lambda: None)
    assert run_program("nothing_there", module=True) == 2
    assert capsys.readouterr().err == "gradwright run: there is no module nothing_there that could be run\n"


def test_nothing_to_run(capsys):
    assert main(["run"]) == 2
    assert capsys.readouterr().err.startswith("gradwright run: nothing to run: gradwright run SCRIPT")
