"""Python's multiprocessing under PyTorch's name."""

import multiprocessing

import pytest

from gradwright.pytorch import multiprocessing as ours


def test_it_is_pythons():
    assert ours.Queue.__func__ is multiprocessing.Queue.__func__
    assert ours.cpu_count() == multiprocessing.cpu_count()


def test_tensors_are_copied():
    assert ours.get_sharing_strategy() in ours.get_all_sharing_strategies()
    ours.set_sharing_strategy("file_descriptor")
    with pytest.raises(AttributeError, match=r"^gradwright has no torch\.multiprocessing\.spawn yet: start processes"):
        ours.spawn(print)
    with pytest.raises(AttributeError, match=r"^gradwright has no torch\.multiprocessing\.frobnicate yet"):
        ours.frobnicate
