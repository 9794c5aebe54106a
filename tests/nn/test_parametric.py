"""The base of layers with parameters."""

import math

import pytest

import gradwright as gw
from gradwright.nn.parametric import Parametric


class Scale(Parametric):
    def __init__(self, n, without=()):
        super().__init__()
        self.n = n
        self._allocate(None, gw.float64, without)

    def _shapes(self):
        return {"weight": (self.n,), "bias": (self.n, 2)}

    def reset_parameters(self):
        self._draw_within(self.n)


def test_parameters_have_the_shapes_and_dtype_and_are_within_the_bound():
    m = Scale(400)
    assert {name: p.shape for name, p in m.named_parameters()} == {"weight": (400,), "bias": (400, 2)}
    assert {p.dtype for p in m.parameters()} == {gw.float64}
    for p in m.parameters():
        assert 0.95 < p.detach().abs().max().item() * math.sqrt(400) <= 1


def test_one_that_it_is_without():
    m = Scale(3, ("bias",))
    assert m.bias is None
    assert list(m.state_dict()) == ["weight"]
    m.reset_parameters()


def test_nothing_to_draw_from():
    assert Scale(0).bias.shape == (0, 2)


@pytest.mark.parametrize("call", [lambda m: m._shapes(), lambda m: m.reset_parameters()])
def test_a_subclass_says_what_it_is(call):
    with pytest.raises(NotImplementedError):
        call(Parametric())
