"""What only decorates is there; graphs are not."""

import pytest

from gradwright.around import fx
from gradwright.nn.module import Module


def test_wrap_gives_the_function():
    assert fx.wrap(len) is len
    assert fx.wrap("len") == "len"


def test_graphs_are_not_here():
    with pytest.raises(AttributeError, match=r"^gradwright has no torch\.fx\.symbolic_trace yet: gradwright\.compile"):
        fx.symbolic_trace(len)
    assert not hasattr(fx, "__wrapped__")


def test_modules_may_be_derived_from_graphs_and_not_made(torch):
    class Generated(fx.GraphModule):
        pass

    assert issubclass(Generated, Module)
    assert issubclass(torch.fx.GraphModule, torch.nn.Module)
    assert not isinstance(Module(), fx.GraphModule)
    with pytest.raises(AttributeError, match=r"gradwright has no torch\.fx\.GraphModule yet: gradwright\.compile"):
        Generated(Module(), None)
