"""Tied weights, and loading values for them that differ."""

import pytest

import gradwright as gw
from gradwright.backends import strict as _strict  # noqa: F401 - its arrays are known then
from gradwright.nn.ties import ties

WARNS = pytest.warns(gw.errors.GradientWarning, match=r"'one\.weight' and 'two\.weight' are one tensor")


class Pair(gw.nn.Module):
    def __init__(self, how):
        super().__init__()
        self.one, self.two = gw.nn.Linear(2, 2), gw.nn.Linear(2, 2)
        if how == "tied":
            self.two.weight = self.one.weight
        elif how == "shared memory":
            self.two.weight.data = self.one.weight.data
        elif how == "buffer":
            for part in (self.one, self.two):
                del part.weight
            self.one.register_buffer("weight", gw.ones(2, 2))
            self.two.register_buffer("weight", self.one.weight)


HOWS = pytest.mark.parametrize("how", ["tied", "shared memory", "buffer"])


@HOWS
def test_which_are_tied(how):
    assert ties(Pair(how)) == [["one.weight", "two.weight"]]
    assert ties(Pair("")) == []
    whole = gw.nn.Module()
    w = gw.ones(4)
    for name, part in (("all", w), ("first", w[:2]), ("last", w[2:]), ("turned", w.reshape(2, 2).T)):
        whole.register_buffer(name, part)
    assert ties(whole) == []
    lazy = gw.nn.Sequential(gw.nn.LazyLinear(2), gw.nn.LazyLinear(2))
    assert ties(lazy) == []


@HOWS
@pytest.mark.parametrize("assign", [False, True])
def test_values_that_differ(how, assign):
    state = Pair("").state_dict()
    module = Pair(how)
    with WARNS:
        module.load_state_dict(state, assign=assign)
    assert gw.equal(module.two.weight, state["two.weight"])
    assert gw.equal(module.one.weight, state["one.weight" if assign else "two.weight"])
    assert ties(module) == ([] if assign else [["one.weight", "two.weight"]])


@HOWS
def test_values_that_agree(how):
    module, state = Pair(how), Pair(how).state_dict()
    state["one.weight"][0, 0] = float("nan")
    module.load_state_dict(state)
    module.load_state_dict({name: t.clone() for name, t in state.items()})
    del state["one.weight"]
    module.load_state_dict(state, strict=False)
    Pair("").load_state_dict(Pair("").state_dict())


def test_strict_raises():
    with gw.autograd.strict(True), pytest.raises(RuntimeError, match="tied weights"):
        Pair("tied").load_state_dict(Pair("").state_dict())


def test_a_whole_model_that_is_larger():
    """Embedding and output layer, as language models tie them; another library's arrays, too."""
    model = gw.nn.Sequential(gw.nn.Embedding(5, 3), gw.nn.Linear(3, 5, bias=False))
    untied = {name: t.clone() for name, t in model.state_dict().items()}
    model[1].weight = model[0].weight
    with pytest.warns(gw.errors.GradientWarning, match=r"'0\.weight' and '1\.weight'"):
        model.load_state_dict(untied)
    model.to("array-api-strict")
    assert ties(model) == [["0.weight", "1.weight"]]
