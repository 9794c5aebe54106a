"""Whether there is a core, what is said where there is none, and that all works then."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from gradwright import native

ROOT = Path(__file__).parents[2]
COMPILER = shutil.which((sysconfig.get_config_var("CC") or "cc").split()[0])
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler")
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
PROGRAM = """from gradwright import native
import gradwright as gw
x = gw.ones(2, requires_grad=True)
(x * 2).sum().backward()
print(x.grad.tolist())
print(native.state())"""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the package, without a core."""
    there = tmp_path_factory.mktemp("package") / "gradwright"
    shutil.copytree(ROOT / "src" / "gradwright", there, ignore=shutil.ignore_patterns("*.so", "__pycache__", "*.pyd"))
    return there


def ran(package, asked=None, files=(), name="_core" + SUFFIX):
    """What a program prints on a copy of the package with such a file for a core, and what it says of the core."""
    core = package / "native" / name
    if files:
        core.write_bytes(*files)
    environment = {k: v for k, v in os.environ.items() if k != "GRADWRIGHT_CORE"}
    environment |= {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    if asked is not None:
        environment["GRADWRIGHT_CORE"] = asked
    try:
        return printed(PROGRAM, environment)
    finally:
        core.unlink(missing_ok=True)


def printed(program, environment=None):
    """The lines that a program prints, and what it writes to its standard error."""
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120)
    return done.stdout.splitlines(), done.stderr


@pytest.mark.parametrize(("given", "state"), [
    ({}, "Python (not built)"),
    ({"asked": "0"}, "Python (GRADWRIGHT_CORE=0)"),
    ({"asked": "0", "files": [b"no library"]}, "Python (GRADWRIGHT_CORE=0)"),
    ({"files": [b"no library"]}, "Python (it does not load: "),
    ({"files": [b""], "name": "_core.cpython-399-x86_64-linux-gnu.so"},
     f"Python (built for another Python: _core.cpython-399-x86_64-linux-gnu.so, not _core{SUFFIX})"),
])  # fmt: skip
def test_without_a_core_all_works_and_it_says_why(package, given, state):
    (gradient, said), errors = ran(package, **given)
    assert gradient == "[2.0, 2.0]"
    assert said.startswith(state)
    assert errors == ""


def test_the_environment_variable_is_one_of_two(package):
    (gradient, said), errors = ran(package, asked="yes")
    assert (gradient, said) == ("[2.0, 2.0]", "Python (not built)")
    assert "GRADWRIGHT_CORE is 0 or 1, but got 'yes', which is left aside" in errors


def test_who_insists_is_told(package):
    said, errors = ran(package, asked="1")
    assert said == []
    assert errors.endswith("ImportError: GRADWRIGHT_CORE=1, but the native core is missing: not built\n")


def test_a_core_of_other_sources_is_not_taken(monkeypatch):
    if native.core is None:
        pytest.skip(native.state())
    monkeypatch.delenv("GRADWRIGHT_CORE", raising=False)
    assert native._found() == (native.core, "")
    monkeypatch.setattr(native, "fingerprint", lambda: 0)
    assert native._found() == (None, "built from other C files than lie here: install gradwright again")


@pytest.mark.parametrize("table", ["_ARRAY_API", "_UFUNC_API"])
@pytest.mark.parametrize("broken", ["= None", "del"])
def test_a_numpy_that_it_does_not_fit_is_told_in_the_state_alone(table, broken):
    if native.core is None:
        pytest.skip(native.state())
    table = f"core.{table}"
    program = f"""import numpy, numpy.random, numpy.linalg, numpy.fft
from numpy._core import _multiarray_umath as core
{f"del {table}" if broken == "del" else f"{table} = None"}
{PROGRAM}"""
    (gradient, said), errors = printed(program)
    assert (gradient, errors) == ("[2.0, 2.0]", "")
    assert said.startswith("Python (it does not load: ")
    assert table[5:] in said


def test_a_twin_without_its_form_is_itself(monkeypatch):
    monkeypatch.setattr(native, "core", None)
    assert native.twin("anything", len) is len


@pytest.fixture(scope="module")
def hook():
    pytest.importorskip("hatchling", reason="hatchling is not installed: it is in the extra dev")
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wheel(monkeypatch, folder, asked):
    from hatchling.builders.wheel import WheelBuilder

    monkeypatch.setenv("GRADWRIGHT_CORE", asked)
    (made,) = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    return Path(made)


@needs_compiler
def test_the_wheel_with_a_core_loads(hook, monkeypatch, tmp_path):
    made = wheel(monkeypatch, tmp_path, "1")
    assert not made.name.endswith("none-any.whl")
    assert made.stat().st_size < 3e6
    with zipfile.ZipFile(made) as files:
        assert [n for n in files.namelist() if "_core" in n] == [f"gradwright/native/_core{SUFFIX}"]
        files.extractall(tmp_path / "there")
    (gradient, said), errors = printed(PROGRAM, {**os.environ, "PYTHONPATH": str(tmp_path / "there")})
    assert (gradient, said, errors) == ("[2.0, 2.0]", "native", "")


def test_a_core_that_programs_have_loaded_is_not_written_over(hook, monkeypatch, tmp_path):
    """They have its file in memory: to write into that ends them."""
    monkeypatch.delenv("GRADWRIGHT_CORE", raising=False)
    monkeypatch.setattr(hook, "build_core", lambda root, home: Path(shutil.copy(tmp_path / "new", home + "/_core.so")))
    (tmp_path / hook.NATIVE).mkdir(parents=True)
    (tmp_path / "new").write_text("new")
    there = tmp_path / hook.NATIVE / "_core.so"
    there.write_text("old")
    with there.open() as loaded:
        one = hook.CustomBuildHook(str(tmp_path), {}, None, None, str(tmp_path), "wheel")
        one.initialize("editable", {})
        one.finalize("editable", {}, "")
        assert (loaded.read(), there.read_text()) == ("old", "new")
    assert [path.name for path in there.parent.iterdir()] == ["_core.so"]


@pytest.mark.parametrize("flags", [{"CC": "false", "LDSHARED": "false"}, {"CFLAGS": "-nostdinc -I/nowhere"}])
@needs_compiler
def test_a_compiler_that_breaks_leaves_the_pure_wheel(hook, monkeypatch, tmp_path, capfd, flags):
    for name, value in flags.items():
        monkeypatch.setenv(name, value)
    assert wheel(monkeypatch, tmp_path, "").name.endswith("py3-none-any.whl")
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("gradwright is installed without its native core, which was not built: ")
    with pytest.raises(RuntimeError):
        wheel(monkeypatch, tmp_path, "1")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_compiler_has_nothing_to_say(tmp_path, compiler):
    import numpy as np

    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    files = [str(path) for path in native.sources() if path.suffix == ".c"]
    includes = [f"-isystem{sysconfig.get_paths()['include']}", f"-isystem{np.get_include()}"]
    strict = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-DGRADWRIGHT_BUILT_FROM=0u"]
    done = subprocess.run([compiler, *strict, *includes, *files], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
