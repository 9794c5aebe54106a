"""What only decorates is there; graphs are not."""

import pytest

from gradwright.around import fx


def test_wrap_gives_the_function():
    assert fx.wrap(len) is len
    assert fx.wrap("len") == "len"


def test_graphs_are_not_here():
    with pytest.raises(AttributeError, match=r"^gradwright has no torch\.fx\.symbolic_trace yet: gradwright\.compile"):
        fx.symbolic_trace(len)
    assert not hasattr(fx, "__wrapped__")
