"""Functions whose calls go through another."""

import inspect
import traceback

import pytest

from gradwright.base.cpython.redirected import redirect


def made(held):
    def f(x, g, *, k=2):
        """Say."""
        return g(x) + held + k

    f.mark = 1
    return f


def twice(plain, *args, **kwargs):
    return 2 * plain(*args, **kwargs)


def test_it_goes_through_and_back():
    f = made(3)
    also = f
    undo = redirect(f, twice)
    assert also(1, abs) == 12
    assert also(1, abs, k=0) == 8
    assert str(inspect.signature(f)) == "(x, g, *, k=2)"
    assert (f.__name__, f.__doc__, f.mark) == ("f", "Say.", 1)
    undo()
    assert (also(1, abs), vars(f)) == (6, {"mark": 1})


def test_its_own_frame_is_in_no_traceback():
    f = made(3)
    undo = redirect(f, lambda plain, *args, **kwargs: plain(*args, **kwargs))
    with pytest.raises(ZeroDivisionError) as raised:
        f(0, lambda x: 1 / x)
    undo()
    names = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
    assert names == ["test_its_own_frame_is_in_no_traceback", "<lambda>", "f", "<lambda>"]
