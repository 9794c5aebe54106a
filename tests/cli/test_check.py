"""`gradwright check`: what it looks at, and returns."""

import pytest

from gradwright.cli import main

RIGHT = """
import gradwright as gw
class Double(gw.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
"""
WRONG = RIGHT.replace("Double", "Halved").replace("g * 2", "g * 1")


@pytest.fixture
def files(tmp_path):
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text(WRONG)
    (tmp_path / "broken.py").write_text("1 / 0\n")
    return tmp_path


@pytest.mark.parametrize(("names", "status"), [
    ("right", 0), ("wrong", 1), ("right wrong", 1), ("right broken", 2), ("missing", 2),
])  # fmt: skip
def test_the_exit_status(files, names, status, capsys):
    assert main(["check", *[str(files / f"{n}.py") for n in names.split()]]) == status
    assert capsys.readouterr().out


def test_only(files, capsys):
    assert main(["check", str(files / "right.py"), "--only", "Other"]) == 2
    assert "there is nothing of this name" in capsys.readouterr().out


@pytest.mark.parametrize(("arguments", "error"), [
    (["check"], "the following arguments are required: TARGET"),
    (["check", "f.py", "--jobs", "0"], "must be at least 1"),
    (["check", "f.py", "--time-limit", "-1"], "must be a number of seconds above 0"),
    (["check", "f.py", "--time-limit", "x"], "invalid"),
])  # fmt: skip
def test_wrong_arguments(arguments, error, capsys):
    with pytest.raises(SystemExit, match=r"^2$"):
        main(arguments)
    assert error in capsys.readouterr().err
