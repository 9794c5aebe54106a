"""The packaged example, built as its users build it, in an environment with nothing else."""

import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import gradwright as gw
from tests.conftest import torch_is_required

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "packaged_extension"


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    done = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True,
                          env={**os.environ, **environment})  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def project(compiler: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("setuptools")
    pytest.importorskip("pip")
    folder = tmp_path_factory.mktemp("example") / "project"
    built = shutil.ignore_patterns("build", "dist", "*.egg-info", "*.so", "__pycache__")
    shutil.copytree(EXAMPLE, folder, ignore=built)
    return folder


@pytest.fixture(scope="module")
def wheel(project: Path) -> Path:
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", "dist", ".", cwd=project)
    (path,) = (project / "dist").glob("*.whl")
    return path


@pytest.fixture(scope="module")
def clean(wheel: Path, our_wheel: Path) -> Path:
    """A Python that has the example, gradwright and NumPy, and no compiler."""
    folder = wheel.parents[2]
    venv.create(folder / "venv", symlinks=True)
    python = folder / "venv" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", "install", "-q"]
    run(*pip, "--no-deps", wheel, our_wheel, cwd=folder)
    numpy = subprocess.run([*map(str, pip), "--retries", "1", "--timeout", "20", "numpy>=2.1"], capture_output=True,
                           text=True)  # fmt: skip
    if numpy.returncode and not torch_is_required():
        pytest.skip("NumPy cannot be installed from the index: the package not tried in a clean environment")
    assert not numpy.returncode, numpy.stderr
    return python


def test_the_sdist_contains_the_sources(project: Path) -> None:
    run(sys.executable, "setup.py", "-q", "sdist", "-d", "dist", cwd=project)
    (path,) = (project / "dist").glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "setup.py", "src/fused_ops/ops.cpp", "src/fused_ops/py.typed"} <= names


def test_the_wheel_contains_what_is_compiled(wheel: Path) -> None:
    names = [Path(name).name for name in zipfile.ZipFile(wheel).namelist()]
    assert [name for name in names if name.startswith("_core.") and name.endswith(".so")]
    assert "py.typed" in names
    assert "ops.cpp" not in names


PROGRAM = """
import shutil, sys
import fused_ops, gradwright as gw
from gradwright.autograd import gradcheck, gradgradcheck

assert not any(shutil.which(name) for name in ("c++", "g++", "clang++"))
assert "nanobind" not in sys.modules
x = gw.tensor([-1.0, 0.5, 2.0], dtype=gw.float64, requires_grad=True)
band = gw.tensor([[1.0], [-2.0], [1.0]], dtype=gw.float64).repeat(1, 3).requires_grad_()
for f, inputs in (fused_ops.mish, (x,)), (fused_ops.banded_matvec, (band, x, 1)):
    print(f.__name__, gradcheck(f, inputs), gradgradcheck(f, inputs))
print(fused_ops.banded_matvec(band, x, 1).grad_fn.name(), fused_ops._core.Product.__gradwright_place__)
"""
OTHER = """
from gradwright.utils.cpp_extension import bind
bind.PROTOCOL += 1
try:
    import fused_ops
except ImportError as e:
    print(e)
"""


def test_it_runs_in_a_clean_environment(clean: Path, tmp_path: Path) -> None:
    said = run(clean, "-c", PROGRAM, cwd=tmp_path, PATH=str(clean.parent), HOME=str(tmp_path))
    *checks, node = said.splitlines()
    assert checks == ["mish True True", "banded_matvec True True"]
    assert node.startswith("ProductBackward ('src/fused_ops/ops.cpp', ")
    assert list(tmp_path.iterdir()) == []
    said = run(clean, "-c", OTHER, cwd=tmp_path)  # with a gradwright that cannot talk to it
    assert said.startswith(f"fused_ops._core was built with gradwright {gw.__version__}")
    assert "build it again, with pip install --force-reinstall" in said


def test_its_own_tests_pass(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    shutil.copytree(EXAMPLE / "tests", tmp_path / "tests")
    run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--doctest-modules", "tests", "fused_ops",
        cwd=tmp_path, PYTHONPATH=str(tmp_path))  # fmt: skip
