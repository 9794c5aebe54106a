"""docs/proofs.md says what is proved: each row is proved anew, boxes of one number among them."""

import re
from pathlib import Path

import pytest

from gradwright.verify.proof import table
from gradwright.verify.proof.point import DISPROVED, PROVED, Proof
from tests.thorough import some

PAGE = (Path(__file__).resolve().parents[3] / "docs/proofs.md").read_text(encoding="utf-8")
ROWS = {match[1]: match[0].split(" | ") for match in re.finditer(r"^\| `(\w+)` \|.*$", PAGE, re.MULTILINE)}
RULES = {op.name: op for op in table.rules()}
LONG = {"bessel_k", "bessel_ke", "bessel_y", "digamma", "polygamma", "sinc", "zeta", "lgamma", "airy_ai"}
"""Boxes of these take seconds: `make proofs` proves them."""


def power(words):
    """The power of ten of a bound, by the words of the page."""
    found = re.search(r"below 1e([+-]\d+)", words)
    return int(found[1]) if found else -99


def test_the_page_has_a_row_for_every_rule():
    assert [*ROWS] == [*RULES]
    assert table.HEAD in PAGE


def test_the_page_counts_its_rows():
    counts = [row[1].split(",")[0].split(" of ") for row in ROWS.values()]
    all_ = sum(a == b for a, b in counts)
    boxes = [row[2] for row in ROWS.values() if row[2].strip()]
    words = " ".join(PAGE.split())
    assert f"Of {len(ROWS)} operations with a derivative, {all_} are proved at all their samples" in words
    proved = sum("not proved" not in box for box in boxes)
    assert f"of {len(boxes)} elementwise ones, {proved} are proved on a box" in words


@pytest.mark.parametrize("name", some(RULES, 3))
def test_a_row_is_true(name):
    found = table.at_samples(RULES[name])
    assert not any(p.status == DISPROVED for p in found)
    proved = [p for p in found if p]
    assert ROWS[name][1].startswith(f"{len(proved)} of {len(found)}")
    bound = max((p.bound for p in proved), default=0.0)
    assert bound <= 10.0 ** power(ROWS[name][1]) * 100  # another release of python-flint may round otherwise
    if name in LONG or " x " in ROWS[name][2]:
        return
    box = table.on_sample(RULES[name])
    assert (box is None) == (not ROWS[name][2].strip())
    if box is not None:
        assert box.status == PROVED
        assert box.bound <= 10.0 ** power(ROWS[name][2]) * 100


def test_words():
    assert table.rounded(0.0) == "exact"
    assert table.rounded(3e-13) == "below 1e-12"
    proof = Proof("f", PROVED, "on [0, 1]", 1e-17, boxes=3, doubles=True, left=["on [0, 0.1], where x < 0 is open"])
    assert table.line(table.Row("f", [proof], proof)) == (
        "| `f` | 1 of 1, below 1e-17 **c** | [0, 1]: below 1e-17 **c**, 3 boxes; except [0, 0.1] |  |"
    )


def test_a_rule_that_is_disproved_makes_no_page():
    wrong = Proof("f", DISPROVED, "here", 1.0, 0.5)
    with pytest.raises(AssertionError, match="a rule is disproved: f"):
        table.page([table.Row("f", [wrong], None)])
