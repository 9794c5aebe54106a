"""The score of `gradwright check` on the Functions of the examples, as docs/checkers.md has it."""

from pathlib import Path

import pytest

from benchmarks.audits import planted
from gradwright.verify.check.isolate import check

SOURCE = Path(__file__).parents[3] / "examples/right_functions.py"


@pytest.mark.parametrize(("size", "missed"), [
    (1e-6, set()),
    (1e-10, {"SquaredModulus", "InPlaceDouble", "Dropout", "SineInNumPy"}),
])  # fmt: skip
def test_factors_planted_in_what_backward_returns_first(tmp_path, size, missed):
    text = planted(SOURCE.read_text())
    assert text is not None
    (tmp_path / "planted.py").write_text(text.replace("* 1.01", f"* {1 + size!r}"))
    report = check(str(tmp_path / "planted.py"), fast=True, jobs=1)
    assert len(report.checked) == 30
    assert {c.name for c in report.checked if c.verdict.value != "FAIL"} == missed
