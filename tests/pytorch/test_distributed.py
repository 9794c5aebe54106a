"""What programs ask torch.distributed first."""

import pytest

from gradwright.pytorch import distributed


def test_questions_have_answers():
    assert distributed.is_available() is False
    assert distributed.is_initialized() is False
    assert distributed.is_nccl_available() is False


def test_the_rest_says_that_it_is_not_here():
    kind = distributed.ReduceOp.SUM  # a default of an argument, say
    with pytest.raises(AttributeError, match=r"^gradwright has no torch\.distributed\.all_reduce yet: processes comp"):
        distributed.all_reduce(1, op=kind)
    assert not hasattr(distributed, "__wrapped__")


def test_the_names_are_pytorchs(torch):
    theirs = torch.distributed
    ours = [name for name in vars(distributed) if name.startswith("is_")]
    assert [name for name in ours if not hasattr(theirs, name)] == []
