"""What `torch.fx` has."""

import pytest

from gradwright.nn.module import Module
from gradwright.pytorch import fx


def test_wrap_gives_the_function():
    assert fx.wrap(len) is len
    assert fx.wrap("len") == "len"


def test_what_is_not_here_says_so():
    with pytest.raises(AttributeError, match=r"^gradwright has no torch\.fx\.Transformer yet: gradwright\.compile"):
        fx.Transformer(len)
    assert not hasattr(fx, "__wrapped__")


def test_modules_may_be_derived_from_those_of_graphs(torch):
    class Generated(fx.GraphModule):
        def __init__(self):
            super().__init__(self, fx.Graph())
            self.graph.output(self.graph.placeholder("x"))
            self.recompile()

    assert issubclass(Generated, Module)
    assert issubclass(torch.fx.GraphModule, torch.nn.Module)
    assert not isinstance(Module(), fx.GraphModule)
    assert Generated()(3) == 3
