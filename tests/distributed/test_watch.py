"""What ends a process of several; the rest is in test_session.py, where one is killed."""

import sys

from gradwright.distributed import watch


def test_one_process_is_not_watched() -> None:
    before = sys.excepthook
    watch.begin(0, 1, 1.0, 1.0)
    assert sys.excepthook is before
    watch.end()
    assert sys.excepthook is before


def test_errors_of_others_are_told() -> None:
    cause = ValueError("UNKNOWN: Gloo all-reduce failed: Connection closed by peer")
    outer = RuntimeError("sum()")
    outer.__cause__ = cause
    assert watch._is_of_others(outer)
    assert not watch._is_of_others(KeyError("mine"))


def test_where_a_process_waits() -> None:
    assert not watch._is_waiting(sys._getframe())
