"""Copies of the process."""

import os
import sys
import time

import pytest

from gradwright.verify.audit.doors.snapshot import Snapshots

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no os.fork")


@pytest.fixture
def snapshots():
    made = Snapshots()
    yield made
    made.close()


def test_it_answers_with_what_was(snapshots):
    held = [1]
    snapshots.take({"at": 0, "process": os.getpid()}, lambda seconds: [*held, seconds, sys.stdout.write("never seen")])
    held[0] = 2
    snapshots.take({"at": 1, "process": os.getpid()}, lambda seconds: held)
    with pytest.raises(ChildProcessError):
        os.wait()
    first, second = snapshots.waiting()
    assert second.ask(1.0, 20) == {"found": [2]}
    assert first.ask(0.5, 20) == {"found": [1, 0.5, 10]}
    first.close()
    second.close()


def test_what_does_not_end_or_raises_is_told(snapshots):
    for k, f in enumerate((lambda s: time.sleep(60), lambda s: 1 / 0, lambda s: os._exit(3))):
        snapshots.take({"at": k, "process": os.getpid()}, f)
    said = []
    for copy in snapshots.waiting():
        said.append(copy.ask(0.1, 1.0)["error"])
        copy.close()
    assert "does not return" in said[0]
    assert "ZeroDivisionError" in said[1]
    assert "ends the interpreter" in said[2]


def test_it_holds_no_pipe_open(snapshots):
    read, write = os.pipe()
    snapshots.take({"at": 0, "process": os.getpid()}, lambda seconds: 0)
    (copy,) = snapshots.waiting()
    os.close(write)
    assert os.read(read, 1) == b""
    os.close(read)
    copy.close()
