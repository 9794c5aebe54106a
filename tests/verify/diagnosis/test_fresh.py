"""What fits one sample is held on fresh inputs."""

import gradwright as gw
from gradwright.autograd import diagnose
from tests.verify.diagnosis.wrong import function, t


def test_a_constant_that_fits_a_single_sample_is_not_told():
    """12 of the derivative of x**3 at 2, where backward gives 2: a sixth of it there, and only there."""
    x = gw.tensor([2.0], dtype=gw.float64, requires_grad=True)
    found = diagnose(function(lambda x: x**3, lambda g, x: g * x), x)
    assert (found.verdict, found.hypotheses) == ("WRONG", ())
    assert found.unexplained == ("x",)


def test_a_term_whose_constant_depends_on_the_inputs_is_not_told():
    def norm(x, eps):
        return ((x * x).sum() + eps).sqrt()

    def backward(g, x):
        return g / norm(x, 0) - x * (g * x).sum() / norm(x, 0) ** 3

    found = diagnose(function(lambda x: x / norm(x, 1e-5), backward), t(5))
    assert [h.name for h in found.hypotheses] == ["small error"]


def test_a_constant_that_counts_entries_of_a_kind_is_not_told():
    """The mean of the positive ones: how many there are is no constant, though moving them a little leaves it so."""
    x = gw.tensor([0.5, -1.1, 0.9, 1.3, -0.4, 0.8, 1.7], dtype=gw.float64, requires_grad=True)
    mean = lambda x: x.relu().sum() / (x > 0).sum()
    found = diagnose(function(mean, lambda g, x: g * (x > 0) / x.numel()), x)
    assert "factor" not in [h.name for h in found.hypotheses]


def test_a_constant_that_holds_is_told():
    found = diagnose(function(lambda x: x.exp(), lambda g, x: g * x.exp() * 0.37 - g * x * 0.0), t(1))
    assert found.hypotheses[0].name == "factor"
    found = diagnose(function(lambda x: x.exp(), lambda g, x: g * (x.exp() + 0.125 * x)), t(5))
    assert "subtract 0.125 * grad_output * `x`" in found.hypotheses[0].mend


def test_a_region_is_told_without_a_constant_that_does_not_hold():
    x = gw.tensor([-0.7, 0.5, 1.1, 0.9, 1.3], dtype=gw.float64, requires_grad=True)
    backward = lambda g, x: g * gw.where(x > 0, 2 * x, x * x)
    found = diagnose(function(lambda x: x * x, backward), x)
    assert found.hypotheses[0].sentence == "the gradient of `x` is wrong exactly where `x` < 0"
    halved = diagnose(function(lambda x: x * x, lambda g, x: g * gw.where(x > 0, 2 * x, x)), x)
    assert halved.hypotheses[0].sentence.endswith("`x` < 0: 0.5 times what it should be there")


def test_where_there_are_no_fresh_inputs_only_what_has_no_constant_is_told():
    def picky(x):
        if (x.detach() / gw.tensor([0.75, -2.0], dtype=gw.float64) - 1).abs().max() > 0.06:
            raise ValueError("only these")
        return x * x

    x = gw.tensor([0.75, -2.0], dtype=gw.float64, requires_grad=True)
    negated = diagnose(function(picky, lambda g, x: -2 * g * x), x)
    assert "sign" in [h.name for h in negated.hypotheses]
    scaled = diagnose(function(picky, lambda g, x: 0.37 * g * x), x)
    assert "factor" not in [h.name for h in scaled.hypotheses]
