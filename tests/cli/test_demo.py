"""`gradwright demo`: the verdicts it gives, and what it prints."""

import re
from pathlib import Path

import numpy as np
import pytest

import gradwright as gw

pytest.importorskip("rich")
from gradwright.cli import demo, main

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def checkout(monkeypatch):
    """A terminal of 80 columns in the repository."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.usefixtures("checkout")
def test_the_demo(capsys):
    pytest.importorskip("scipy")
    pytest.importorskip("sklearn")
    assert main(["demo"]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in text.splitlines() if line.startswith("│")]
    verdicts = {name: (first, second) for name, first, second, _ in rows[1:]}
    assert verdicts == {case.name: case.expected for case in demo.CASES}
    assert verdicts["MulConstantBad"] == ("WRONG", "–")
    assert verdicts["SinhBad"] == ("right", "right")
    assert "Wrong on purpose, and found out: MulConstantBad." in text
    assert "SinhBad saves what forward computes on the way" in text
    assert "sin(x) = 0.0000 + -2.2085 * P3(0.0000 + 0.2555 * x)" in text
    assert re.search(r"Squared error from 461\.90 down to 8\.94 in \d+\.\d\d s: 2,000 steps of \d+ µs\.", text)


@pytest.mark.usefixtures("checkout")
def test_every_function_of_the_examples_is_checked_or_stands_inside_one():
    inside = {"CubeBackward", "Solve"}  # what Cube's backward calls; what takes a Fortran compiler
    defined = {
        (path.stem, name)
        for path in demo.EXAMPLES.glob("*.py")
        for name in re.findall(r"^class (\w+)\(gw\.autograd\.Function\)", path.read_text(), re.MULTILINE)
    }
    checked = {(case.example, case.name) for case in demo.CASES}
    assert checked <= defined
    elsewhere = {"Exp", "LegendreP3"}  # double_backward's, checked in custom_exp; compiled_legendre's, in legendre
    assert {name for _, name in defined - checked} == inside | elsewhere


@pytest.mark.usefixtures("checkout")
def test_a_surprise_is_said_and_fails(monkeypatch, capsys):
    case = next(case for case in demo.CASES if case.name == "SinhBad")
    monkeypatch.setattr(demo, "CASES", [case._replace(expected=("right", "WRONG"))])
    assert main(["demo"]) == 1
    assert "Not the verdict it should be: SinhBad." in capsys.readouterr().out


@pytest.mark.usefixtures("checkout")
def test_an_example_that_needs_a_missing_package(monkeypatch, capsys):
    def load(example):
        raise ModuleNotFoundError("No module named 'scipy'", name="scipy")

    monkeypatch.setattr(demo, "load", load)
    monkeypatch.setattr(demo, "_fit", lambda console: None)
    assert main(["demo"]) == 0
    text = capsys.readouterr().out
    assert "needs the package scipy" in text
    assert "Not checked: Exp, " in text
    assert "found out" not in text


def test_outside_a_checkout(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 2
    assert "run it in a checkout of the gradwright repository" in capsys.readouterr().err


def leaf(*values):
    return gw.tensor(values, dtype=gw.float64, requires_grad=True)


class Half(gw.autograd.Function):
    """x**2, with half of its second derivative."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * (x + gw.tensor(x.array))


def test_examine_a_right_function():
    finding = demo.examine(lambda x, y: x * y.exp(), [leaf(1.0, 2.0), leaf(0.5, 1.5)])
    assert finding[:2] == ("right", "right")
    assert re.fullmatch(r"agree within [1-9]e-\d\d", finding.found)


def test_examine_a_wrong_first_derivative():
    wrong = demo.examine(lambda x: 3 * x + 2 * x.detach(), [leaf(1.0, 2.0)])
    assert wrong == ("WRONG", "–", "is 5, but backward gives 3")


def test_examine_a_wrong_second_derivative():
    assert demo.examine(Half.apply, [leaf(1.0, 2.0)]) == ("right", "WRONG", "is 2, but backward gives 1")


def test_slopes_of_several_inputs():
    x, y = leaf(1.0, 2.0), leaf(3.0)
    backward, finite = demo.slopes(lambda x, y: (x * x * y), [x, y])
    np.testing.assert_allclose(backward, [6, 12, 5], rtol=1e-14)
    np.testing.assert_allclose(finite, [6, 12, 5], rtol=1e-8)
    assert x.tolist() == [1, 2]  # untouched


def test_slopes_are_zero_without_a_history():
    backward, finite = demo.slopes(lambda x: x.detach() * 2, [leaf(1.0, 2.0)])
    assert backward.tolist() == [0, 0]
    np.testing.assert_allclose(finite, [2, 2], rtol=1e-8)
