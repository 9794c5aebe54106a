"""`gradwright check`: what it prints, writes and returns."""

import json
import re

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


def test_what_is_printed(files, capsys):
    main(["check", str(files / "right.py"), str(files / "wrong.py")])
    text = capsys.readouterr().out
    assert re.search(r"^Double .*✓.* pass ", text, re.MULTILINE)
    assert re.search(r"^Halved .*✗.* fail ", text, re.MULTILINE)
    assert "0.5 = 1 / the 2 in forward" in text
    assert "9 │         return g * 1" in text
    assert "1 right, 1 wrong" in text


def test_files(files, capsys):
    target = str(files / "wrong.py")
    assert main(["check", target, "--json", str(files / "r.json"), "--html", str(files / "r.html")]) == 1
    found = json.loads((files / "r.json").read_text())
    assert (found["exit_code"], found["checked"][0]["verdict"]) == (1, "FAIL")
    assert "Halved" in (files / "r.html").read_text()


def test_json_to_standard_output_is_all_there_is(files, capsys):
    assert main(["check", str(files / "right.py"), "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["totals"] == {"PASS": 1}


def test_only(files, capsys):
    assert main(["check", str(files / "right.py"), "--only", "Other"]) == 2
    assert "there is nothing of this name" in capsys.readouterr().out


def test_what_cannot_be_written(files, capsys):
    target = str(files / "right.py")
    for option in ("--json", "--html"):
        assert main(["check", target, option, str(files / "no" / "file")]) == 2
        assert capsys.readouterr().err.startswith("gradwright check: cannot write ")


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
