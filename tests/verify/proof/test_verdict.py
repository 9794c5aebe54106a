"""What a proof says."""

from __future__ import annotations

from gradwright.verify.proof.verdict import DISPROVED, NOT_PROVED, PROVED, Proof


def test_words():
    assert str(Proof("f", PROVED, "here", 0.0)) == "f: proved here: exact"
    assert str(Proof("f", PROVED, "here", 1e-40)) == "f: proved here: error below 1e-40"
    assert str(Proof("f", PROVED, "here", 1e-17, doubles=True)).endswith("it is not 0: a constant is only a double")
    assert str(Proof("f", PROVED, "on a box", 1e-9, boxes=3, left=["at 0"])) == (
        "f: proved on a box: error below 1e-09, with 3 boxes; not at 0"
    )
    assert str(Proof("f", DISPROVED, "here", 1.0, 0.5, "in x")) == "f: disproved here: an error of at least 0.5, in x"
    assert str(Proof("f", NOT_PROVED, "here", reason="a pole")) == "f: not proved here: a pole"


def test_only_what_is_proved_is_true():
    assert Proof("f", PROVED, "")
    assert not Proof("f", DISPROVED, "")
    assert not Proof("f", NOT_PROVED, "")
