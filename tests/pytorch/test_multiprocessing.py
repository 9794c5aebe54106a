"""Python's multiprocessing under PyTorch's name."""

import multiprocessing
import os
import signal
import time

import pytest

import gradwright as gw
from gradwright.pytorch import multiprocessing as ours


def test_it_is_pythons():
    assert ours.Queue.__func__ is multiprocessing.Queue.__func__
    assert ours.cpu_count() == multiprocessing.cpu_count()


def test_tensors_are_copied():
    assert ours.get_sharing_strategy() in ours.get_all_sharing_strategies()
    ours.set_sharing_strategy("file_descriptor")


def _fails(i, how):
    if i != 1:
        time.sleep(60)
    elif how == "raises":
        raise ValueError("no")
    elif how == "exits":
        os._exit(3)
    os.kill(os.getpid(), signal.SIGKILL)


FAILURES = {
    "raises": ("ProcessRaisedException", "-- Process 1 terminated with the following error:", "ValueError: no"),
    "exits": ("ProcessExitedException", "process 1 terminated with exit code 3"),
    "is killed": ("ProcessExitedException", "process 1 terminated with signal SIGKILL"),
}


@pytest.mark.parametrize("how", FAILURES)
def test_a_process_that_fails_ends_the_others(how, torch):
    said = []
    for library in (ours, torch.multiprocessing):
        with pytest.raises(library.ProcessRaisedException.__base__) as error:
            library.start_processes(_fails, (how,), nprocs=2, start_method="fork")
        lines = [line.strip() for line in str(error.value).strip().splitlines()]
        said.append((type(error.value).__name__, *dict.fromkeys((lines[0], lines[-1]))))
    assert said[0] == said[1] == FAILURES[how]


def _tells(i, queue):
    queue.put((i, type(gw.ones(2) * i).__module__))


def test_processes_that_end_well():
    queue = multiprocessing.get_context("spawn").SimpleQueue()
    assert ours.spawn(_tells, (queue,), nprocs=2) is None
    assert sorted(queue.get()[0] for _ in range(2)) == [0, 1]
    running = ours.start_processes(_tells, (queue,), nprocs=1, join=False, start_method="fork")
    assert [len(running.pids()), running.join()] == [1, True]
