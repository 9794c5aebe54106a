"""docs/checkers.md says what checkers find: some rules are planted with errors anew, and the page agrees."""

import re
from pathlib import Path

import numpy as np
import pytest

from gradwright.op import table
from gradwright.verify import score
from gradwright.verify.testing import draw

PAGE = (Path(__file__).resolve().parents[2] / "docs/checkers.md").read_text(encoding="utf-8")
ROWS = {(m[1], float(m[2])): re.findall(r"(\d+) of (\d+)", m[3])
        for m in re.finditer(r"^\| ([a-z ]+) \| (1e[+-]\d+) \|(.*)\|$", PAGE, re.MULTILINE)}  # fmt: skip
LEAST = {"differences": 1e-6, "second witness": 1e-10, "random directions": 1e-8, "proof": 1e-10}
"""Errors of this size are all found."""


def test_the_page_has_a_row_for_each_kind_and_size():
    assert [*ROWS] == [(kind, size) for kind in score.PLANTS for size in score.SIZES]
    assert score.HEAD in PAGE


def test_no_large_error_is_missed_on_the_page():
    for (kind, size), cells in ROWS.items():
        for checker, (found, of) in zip(score.CHECKERS, cells, strict=True):
            if size >= LEAST[checker]:
                assert found == of, (kind, size, checker)


@pytest.mark.parametrize("name", ["tanh", "acosh", "matmul", "softmax", "gelu_tanh", "sum", "reshape", "logit"])
@pytest.mark.parametrize("kind", score.PLANTS)
def test_planted_errors_are_found(name, kind):
    said = [*score.scores([table[name]], [kind], (1.0, 1e-4, 1e-6, 1e-10))]
    for _, _, size, checker, found in said:
        if size >= LEAST[checker]:
            assert found is not False, (size, checker)
    if kind in ("factor", "sign", "lost term"):
        assert {s for *_, s, _, _ in said} == {1.0, 1e-4, 1e-6, 1e-10}


def test_what_changes_nothing_does_not_count():
    arrays, static = draw(table["tanh"].samples[0])  # not square
    wrong = score.planted(table["tanh"], score.PLANTS["transpose"], 1.0)
    assert not score.shows(table["tanh"], wrong, arrays, static, 1.0)
    off = score.planted(table["tanh"], score.PLANTS["factor"], 0.5)
    assert score.shows(table["tanh"], off, arrays, static, 0.5)
    np.testing.assert_allclose(off(*arrays), np.tanh(arrays[0]))


def test_which_rules_are_taken():
    assert score.smooth(table["tanh"])
    assert not score.smooth(table["equal"])


def test_the_page_of_a_run():
    found = [("f", "sign", 1.0, "proof", True), ("g", "sign", 1.0, "proof", False), ("h", "sign", 1.0, "proof", None)]
    assert "| sign | 1e+00 | 0 of 0 | 0 of 0 | 0 of 0 | 1 of 2 |" in score.page(found)
