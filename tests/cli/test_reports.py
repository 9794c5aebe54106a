"""A report on the command line: what is printed and written."""

import json
import re
from argparse import Namespace

import pytest

from gradwright.cli.reports import tell
from gradwright.verify.check import check
from tests.cli.test_check import RIGHT, WRONG


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    (folder / "right.py").write_text(RIGHT)
    (folder / "wrong.py").write_text(WRONG)
    return check([str(folder / "right.py"), str(folder / "wrong.py")])


def told(report, **options):
    return tell("check", report, Namespace(**{"json": None, "html": None, **options}))


def test_what_is_printed(report, capsys):
    assert told(report) == 1
    text = capsys.readouterr().out
    assert re.search(r"^Double .*✓.* pass ", text, re.MULTILINE)
    assert re.search(r"^Halved .*✗.* fail ", text, re.MULTILINE)
    assert "0.5 = 1 / the 2 in forward" in text
    assert "9 │         return g * 1" in text
    assert "1 right, 1 wrong" in text


def test_files(report, tmp_path, capsys):
    assert told(report, json=str(tmp_path / "r.json"), html=str(tmp_path / "r.html")) == 1
    found = json.loads((tmp_path / "r.json").read_text())
    assert (found["exit_code"], [c["verdict"] for c in found["checked"]]) == (1, ["PASS", "FAIL"])
    assert "Halved" in (tmp_path / "r.html").read_text()


def test_json_to_standard_output_is_all_there_is(report, capsys):
    assert told(report, json="-") == 1
    assert json.loads(capsys.readouterr().out)["totals"] == {"PASS": 1, "FAIL": 1}


@pytest.mark.parametrize("option", ["json", "html"])
def test_what_cannot_be_written(report, option, tmp_path, capsys):
    assert told(report, **{option: str(tmp_path / "no" / "file")}) == 2
    assert capsys.readouterr().err.startswith("gradwright check: cannot write ")
