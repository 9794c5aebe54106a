"""The numbers of reductions."""

import pytest

from gradwright.nn import reductions


def test_they_are_pytorchs(torch):
    theirs = torch.nn._reduction
    for name in ("none", "mean", "sum"):
        assert reductions.get_enum(name) == theirs.get_enum(name)
    for size_average in (None, True, False):
        for reduce in (None, True, False):
            args = size_average, reduce, False
            assert reductions.legacy_get_string(*args) == theirs.legacy_get_string(*args)
            assert reductions.legacy_get_enum(*args) == theirs.legacy_get_enum(*args)
    with pytest.raises(ValueError, match="median is not a valid value for reduction"):
        reductions.get_enum("median")
    with pytest.warns(UserWarning, match="size_average and reduce args will be deprecated"):
        assert reductions.legacy_get_string(False, None) == "sum"
