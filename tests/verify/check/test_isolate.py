"""Bad input: each is reported as what it is, and the others are still checked."""

import pytest

from gradwright.check import check

CODE = """
import os, sys, time
import numpy as np
import gradwright as gw
from gradwright.check import samples

class Function(gw.autograd.Function):
    @staticmethod
    def backward(ctx, g):
        return g * 2

@samples((gw.tensor([1.5]),))
class Raises(Function):
    @staticmethod
    def forward(ctx, x):
        raise ZeroDivisionError("no")

@samples((gw.tensor([1.5]),))
class Hangs(Function):
    @staticmethod
    def forward(ctx, x):
        while True:
            time.sleep(1)

@samples((gw.tensor([1.5]),))
class Exits(Function):
    @staticmethod
    def forward(ctx, x):
        sys.exit(3)

@samples((gw.tensor([1.5]),))
class ExitsHard(Function):
    @staticmethod
    def forward(ctx, x):
        os._exit(5)

@samples((gw.tensor([1.5]),))
class Crashes(Function):
    @staticmethod
    def forward(ctx, x):
        os.abort()

@samples((gw.tensor([1.5]),))
class ReturnsAnArray(Function):
    @staticmethod
    def forward(ctx, x):
        return np.ones(3)

@samples((gw.tensor([1.5]),))
class BackwardReturnsANumber(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return 2.0

@samples(lambda: 1 / 0)
class NoSamples(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

@samples(lambda: os._exit(6))
class SamplesExit(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

@samples((gw.tensor([1.5]), 3))
class SampleTooLong(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

class TooFewGradients(gw.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        return a * b
    @staticmethod
    def backward(ctx, g):
        return g * 1, g * 2, g * 3

class NoContext(Function):
    @staticmethod
    def forward(x):
        return x * 2

class NoGuess(Function):
    @staticmethod
    def forward(ctx, zeppelin):
        return zeppelin.lead()

class Fine(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
"""

EXPECTED = {
    "Raises": ("ERROR", "with x: float64 (1,) it raises ZeroDivisionError: no at line 16"),
    "Hangs": ("ERROR", "it does not return within 8 s"),
    "Exits": ("ERROR", "it exits the interpreter (SystemExit: 3)"),
    "ExitsHard": ("ERROR", "it exits the interpreter (status 5)"),
    "Crashes": ("ERROR", "it crashes the interpreter (SIGABRT)"),
    "ReturnsAnArray": ("FAIL", "ndarray"),
    "BackwardReturnsANumber": ("FAIL", "float"),
    "NoSamples": ("ERROR", "samples raises ZeroDivisionError: division by zero at line 58"),
    "SamplesExit": ("ERROR", "samples exits the interpreter (status 6)"),
    "SampleTooLong": ("ERROR", "sample 0 has 2 arguments, but forward takes x: too many positional arguments"),
    "TooFewGradients": ("FAIL", "the class statement raises TypeError: TooFewGradients: backward returns 3 gradients"),
    "NoContext": ("FAIL", "forward takes only 'x', in the place of ctx"),
    "NoGuess": ("ERROR", "it has no sample inputs, and none could be made up"),
    "Fine": ("PASS", ""),
}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    file = tmp_path_factory.mktemp("bad") / "bad_functions.py"
    file.write_text(CODE)
    seen = []
    found = check([str(file), "nofile.py"], limit=8, progress=lambda *a: seen.append(a))
    return found, seen


@pytest.mark.parametrize("name", EXPECTED)
def test_each_is_reported_as_what_it_is(report, name):
    (checked,) = [c for c in report[0].checked if c.name == name]
    verdict, sentence = EXPECTED[name]
    assert checked.verdict == verdict, checked.failures
    assert verdict == "PASS" or checked.failures[0].check == "runs"
    assert verdict == "PASS" or sentence in checked.failures[0].sentence
    assert [f.cause for f in checked.failures] == ["samples"] or not name.startswith(("Sample", "NoSamples"))


def test_what_cannot_be_defined_points_at_its_lines(report):
    lines = {c.name: c.failures[0].lines for c in report[0].checked if c.name in ("TooFewGradients", "NoContext")}
    source = CODE.splitlines()
    assert [source[n - 1].strip() for n, in lines.values()] == ["return g * 1, g * 2, g * 3", "def forward(x):"]


def test_the_whole(report):
    found, seen = report
    assert [c.name for c in found.checked] == list(EXPECTED)
    assert found.problems == (("nofile.py", "there is no file nofile.py"),)
    assert found.exit_code == 2
    assert [s[:2] for s in seen] == [(k, len(EXPECTED)) for k in range(len(EXPECTED) + 1)]


def test_only(tmp_path):
    (tmp_path / "f.py").write_text(CODE)
    found = check([str(tmp_path / "f.py")], only=["Fine", "None"], jobs=1)
    assert [c.name for c in found.checked] == ["Fine"]
    assert found.problems == (("None", "there is nothing of this name in what was given"),)
    one = check(str(tmp_path / "f.py"), only="Fine", jobs=1)
    assert [c.name for c in one.checked] == ["Fine"]
    assert not one.problems


@pytest.mark.parametrize(("code", "says"), [
    ("import time\ntime.sleep(60)", "importing it does not return within 1 s"),
    ("import os\nos._exit(4)", "importing it exits the interpreter (status 4)"),
])  # fmt: skip
def test_a_file_that_does_not_come_back(tmp_path, code, says):
    (tmp_path / "f.py").write_text(code)
    assert check([str(tmp_path / "f.py")], limit=1).problems[0][1] == says
