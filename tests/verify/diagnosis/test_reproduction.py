"""Capsules: written, replayed by pytest, red while the function is wrong and green once it is mended."""

import os
import runpy
import subprocess
import sys

import numpy as np
import pytest

import gradwright
from gradwright.autograd import diagnose
from gradwright.verify.diagnosis.reproduction import origin
from tests.corpus.wrong import Scale, t

MODULE = """
import gradwright

class Cube(gradwright.autograd.Function):
    @staticmethod
    def forward(ctx, x, k, parts):
        ctx.save_for_backward(x)
        ctx.k = k
        return k * x ** 3 + parts[0]["b"]

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return {power} * ctx.k * g * x ** 2, None, None
"""


@pytest.fixture
def cube(tmp_path, monkeypatch):
    """A wrong Function in a module of its own."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "cubes.py").write_text(MODULE.format(power=2))
    import cubes

    yield cubes.Cube
    sys.modules.pop("cubes", None)


def replayed(test, module=""):
    """What the test of a capsule says, with its function imported anew; ``""`` if it passes."""
    sys.modules.pop(module, None)
    (run,) = (f for name, f in runpy.run_path(str(test)).items() if name.startswith("test_"))
    try:
        run()
    except (AssertionError, pytest.fail.Exception) as e:
        return str(e)
    return ""


def test_a_capsule_replays_and_passes_once_mended(cube, tmp_path):
    x = t(3)
    b = gradwright.tensor([1.0, 2.0, 3.0], dtype=gradwright.float64)
    found = diagnose(cube, (x, 2.5, [{"b": b}]))
    data, test = found.capsule(tmp_path / "cube.npz")
    assert (data, test) == (tmp_path / "cube.npz", tmp_path / "test_cube.py")
    with np.load(data) as arrays:
        assert np.array_equal(arrays["input_0"], x.array)
        assert np.array_equal(arrays["input_1"], b.array)
        np.testing.assert_allclose(np.diag(arrays["numeric_0"]), 7.5 * x.array**2, rtol=1e-8)
        np.testing.assert_allclose(np.diag(arrays["analytic_0"]), 5 * x.array**2, rtol=1e-12)
        assert arrays["steps"].size == arrays["ladder"].size > 4
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", test.parent, test]
    compiled = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}  # which would be taken for the mended module's
    run = subprocess.run(command, capture_output=True, text=True, cwd=test.parent, env=compiled)
    assert run.returncode == 1
    assert "0.666667 times what it should be" in run.stdout
    assert "0.666667 times what it should be" in replayed(test, "cubes")
    (tmp_path / "cubes.py").write_text(MODULE.format(power=3))
    assert not replayed(test, "cubes")


SECOND = """
import gradwright

class Slope(gradwright.autograd.Function):
    @staticmethod
    def forward(ctx, g, x):
        ctx.save_for_backward(g, x)
        return 3 * g * x**2

    @staticmethod
    def backward(ctx, h):
        g, x = ctx.saved_tensors
        return 3 * h * x**2, {factor} * h * g * x

class Cubic(gradwright.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        return Slope.apply(g, *ctx.saved_tensors)
"""


def test_a_capsule_of_a_wrong_second_derivative(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "cubics.py").write_text(SECOND.format(factor=5))
    import cubics

    found = diagnose(cubics.Cubic, t(3), order=2)
    assert (found.verdict, found.order) == ("WRONG", 2)
    _, test = found.capsule(tmp_path / "cubic")
    assert "0.833333 times what it should be" in replayed(test, "cubics")
    (tmp_path / "cubics.py").write_text(SECOND.format(factor=6))
    assert not replayed(test, "cubics")
    del sys.modules["cubics"]


def test_the_suffix_may_be_left_out(cube, tmp_path):
    data, test = diagnose(cube, (t(3), 2.5, [{"b": t(3).detach()}])).capsule(str(tmp_path / "test_my cube"))
    assert (data.name, test.name) == ("test_my cube.npz", "test_my cube.py")
    assert replayed(test, "cubes")


def test_what_cannot_be_imported_says_so(tmp_path):
    class Local(Scale):
        pass

    for k, (f, why) in enumerate(((Local, "is defined inside a function"), (lambda x, c: x * c, "it is a lambda"))):
        _, test = diagnose(f, (t(3), 2.5)).capsule(tmp_path / f"local{k}.npz")
        assert why in replayed(test)


def test_what_cannot_be_written_down_says_so(cube, tmp_path):
    class Odd(dict):
        pass

    _, test = diagnose(cube, (t(3), 2.5, [Odd(b=1.0)])).capsule(tmp_path / "odd.npz")
    assert "an argument of type Odd cannot be written down" in test.read_text()


def test_origin():
    module = "tests.corpus.wrong"
    assert origin(Scale)[0::2] == (module, "Scale")
    assert origin(Scale.apply)[0::2] == (module, "Scale.apply")
    assert "cannot be found by name" in origin(object())[3]
