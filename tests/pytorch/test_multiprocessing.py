"""Python's multiprocessing under PyTorch's name."""

import multiprocessing

from gradwright.pytorch import multiprocessing as ours


def test_it_is_pythons():
    assert ours.Queue.__func__ is multiprocessing.Queue.__func__
    assert ours.cpu_count() == multiprocessing.cpu_count()


def test_tensors_are_copied():
    assert ours.get_sharing_strategy() in ours.get_all_sharing_strategies()
    ours.set_sharing_strategy("file_descriptor")
