"""The plugin, in a pytest of its own."""

import functools
import subprocess
import sys

import pytest

TESTS = """
import warnings
import pytest
import gradwright as gw
from gradwright.engine.strict import is_strict

class Double(gw.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2

class Halved(Double):
    @staticmethod
    def backward(ctx, g):
        return g * 1

def test_right(check_function):
    assert check_function(Double, (gw.tensor([0.3, 0.4]),), (gw.tensor([[0.3]]),)).verdict == "PASS"

def test_wrong(check_function):
    check_function(Halved)

def test_strict():
    assert is_strict()

def test_keyword():
    gw.vmap(gw.sin, in_dim=0)
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """What pytest says, once for each way to ask."""
    folder = tmp_path_factory.mktemp("plugin")
    (folder / "test_it.py").write_text(TESTS)

    @functools.cache
    def run(*arguments, by=()):
        plugin = ["-p", "gradwright.verify.pytest_plugin", "-p", "no:gradwright", "-p", "no:cacheprovider"]
        command = [sys.executable, *by, "-m", "pytest", *plugin, "-rA", *arguments]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)

    return run


def test_an_audit(run):
    found = run("test_it.py", "--gradwright-audit", "-k", "keyword")
    assert "gradwright audit" in found.stdout
    assert "no Function" in found.stdout


def test_an_audit_of_what_is_wrong(tmp_path):
    (tmp_path / "test_fit.py").write_text("""
import numpy as np
from scipy.optimize import minimize
def test_fit():
    minimize(lambda x: np.sum(x ** 4), np.ones(2), jac=lambda x: 2 * x ** 3)
""")
    plugin = ["-p", "gradwright.verify.pytest_plugin", "-p", "no:gradwright", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *plugin, "--gradwright-audit", "test_fit.py"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert found.returncode == 1
    assert "1 wrong" in found.stdout


def test_the_fixture(run):
    said = run("test_it.py").stdout
    assert "PASSED test_it.py::test_right" in said
    assert "FAILED test_it.py::test_wrong" in said
    assert "0.5 = 1 / the 2 in forward" in said
    assert "Traceback" not in said


def test_strict_is_on_unless_told_otherwise(run):
    said = run("test_it.py").stdout
    assert "PASSED test_it.py::test_strict" in said
    assert "did you mean 'in_dims'?" in said
    off = run("test_it.py", "-k", "test_strict", "-o", "gradwright_strict=false").stdout
    assert "FAILED test_it.py::test_strict" in off


def test_strict_is_off_for_the_tests_of_a_program_for_pytorch(run):
    asked, by = ("test_it.py", "-k", "test_strict"), ("-m", "gradwright", "run")
    assert "FAILED test_it.py::test_strict" in run(*asked, by=by).stdout
    assert "PASSED test_it.py::test_strict" in run(*asked, "-o", "gradwright_strict=true", by=by).stdout


CHECKED = ("--gradwright-check=test_it.py", "--gradwright-check=nowhere.py", "-k", "Double or Halved or import")


def test_a_test_for_each_function_of_a_module(run):
    done = run(*CHECKED)
    assert "PASSED test_it.py::Double" in done.stdout
    assert "FAILED test_it.py::Halved" in done.stdout
    assert done.returncode == 1


def test_a_module_that_is_not_there(run):
    said = run(*CHECKED).stdout
    assert "FAILED nowhere.py::import" in said
    assert "there is no file nowhere.py" in said


def test_help(run):
    assert "--gradwright-check=MODULE" in run("--help").stdout
