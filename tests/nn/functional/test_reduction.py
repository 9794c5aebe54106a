"""The end of every loss."""

import pytest

import gradwright as gw
from gradwright.nn.functional.reduction import mode, reduced


def test_names_numbers_and_flags():
    assert [mode(r) for r in ("mean", "sum", "none", 0, 1, 2)] == ["mean", "sum", "none", "none", "mean", "sum"]
    with pytest.warns(UserWarning, match="reduction='sum'"):
        assert mode("mean", size_average=False) == "sum"
    with pytest.raises(ValueError, match="average is not a valid value for reduction"):
        mode("average")


def test_reduced():
    x = gw.tensor([1.0, 3.0])
    assert reduced(x, "none") is x
    assert (reduced(x, "mean").item(), reduced(x, "sum").item()) == (2, 4)
