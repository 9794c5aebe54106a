"""What will be known later."""

import pytest

from gradwright.pytorch import futures


def test_all_are_waited_for():
    a, b = futures.Future(), futures.Future()
    both = futures.collect_all([a, b])
    a.set_result(1)
    assert not both.done()
    b.set_result(2)
    assert [f.value() for f in both.wait()] == futures.wait_all([a, b]) == [1, 2]
    assert futures.collect_all([]).wait() == []
    failed = futures.Future()
    failed.set_exception(KeyError("k"))
    with pytest.raises(KeyError):
        futures.wait_all([failed])
