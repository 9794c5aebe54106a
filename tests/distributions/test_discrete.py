"""Counts and categories."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import gradwright as gw
from gradwright import distributions as D
from gradwright.distributions.discrete import BinaryParameter
from tests.distributions.close import close

LAWS = [
    (D.Bernoulli(gw.tensor(0.3, dtype=gw.float64)), stats.bernoulli(0.3), 2),
    (D.Geometric(gw.tensor(0.3, dtype=gw.float64)), stats.geom(0.3, loc=-1), 9),
    (D.Binomial(7, gw.tensor(0.3, dtype=gw.float64)), stats.binom(7, 0.3), 8),
    (D.NegativeBinomial(4.0, gw.tensor(0.3, dtype=gw.float64)), stats.nbinom(4, 0.7), 9),
    (D.Poisson(gw.tensor(2.5, dtype=gw.float64)), stats.poisson(2.5), 9),
]


@pytest.mark.parametrize(("ours", "law", "count"), LAWS, ids=lambda x: type(x).__name__)
def test_scipys_laws(ours: Any, law: Any, count: int) -> None:
    k = np.arange(count, dtype=float)
    np.testing.assert_allclose(ours.log_prob(gw.tensor(k)).numpy(), law.logpmf(k), rtol=1e-9, atol=1e-12)
    assert (ours.mean.item(), ours.variance.item()) == pytest.approx(law.stats())


@pytest.mark.parametrize("cls", [D.Bernoulli, D.Geometric, lambda **p: D.Binomial(3, **p)])
def test_either_probs_or_logits(cls: Any) -> None:
    for given in ({}, {"probs": 0.5, "logits": 0.0}):
        with pytest.raises(ValueError, match="Either `probs` or `logits` must be specified, but not both"):
            cls(**given)
    assert cls(logits=gw.zeros(2)).probs.tolist() == [0.5, 0.5]
    assert cls(probs=gw.full((2,), 0.5)).logits.tolist() == [0, 0]
    assert cls(probs=gw.full((2,), 0.5)).param_shape == (2,)
    assert isinstance(cls(probs=0.5), BinaryParameter)


def test_large_logits_lose_no_digits() -> None:
    sure = D.Bernoulli(logits=gw.tensor([50.0, -50.0], dtype=gw.float64))
    close(sure.log_prob(gw.tensor([1.0, 0.0])), gw.full((2,), -math.exp(-50), dtype=gw.float64))
    n = D.Binomial(1, logits=gw.tensor(40.0, dtype=gw.float64, requires_grad=True))
    (slope,) = gw.autograd.grad(n.log_prob(gw.tensor(1.0)), n.logits)
    assert slope.item() == pytest.approx(math.exp(-40))


def test_certain_and_impossible() -> None:
    assert D.Geometric(gw.tensor(1.0)).log_prob(gw.tensor(0.0)).item() == 0
    assert D.Geometric(gw.tensor(1.0)).log_prob(gw.tensor(2.0)).item() == -math.inf
    assert D.Binomial(3, gw.tensor([0.0, 1.0])).sample((5,)).unique(dim=0).tolist() == [[0, 3]]
    assert D.NegativeBinomial(0.0, gw.tensor(0.5)).sample((3,)).tolist() == [0, 0, 0]
    assert D.NegativeBinomial(0.0, gw.tensor(0.5)).log_prob(gw.tensor(0.0)).item() == 0
    assert D.Poisson(0.0).log_prob(gw.tensor(0.0)).item() == 0
    assert D.Bernoulli(gw.tensor([0.5, 0.2, 0.9])).mode.isnan().tolist() == [True, False, False]
    with pytest.raises(ValueError, match="parameter probs"):
        D.Geometric(0.0)


def test_enumerated_and_summed() -> None:
    b = D.Binomial(3, gw.full((2,), 0.25))
    assert b.enumerate_support().shape == (4, 2)
    assert b.enumerate_support(expand=False).shape == (4, 1)
    close(b.log_prob(b.enumerate_support()).exp().sum(0), gw.ones(2))
    mixed = D.Binomial(gw.tensor([2.0, 3.0]), gw.full((2,), 0.25))
    for call, name in ((mixed.entropy, "entropy"), (mixed.enumerate_support, "enumerate_support")):
        with pytest.raises(NotImplementedError, match=f"Inhomogeneous total count not supported by `{name}`"):
            call()


CHANCES = [0.1, 0.6, 0.3]


def test_probabilities_are_normalised() -> None:
    c = D.Categorical(gw.tensor([1.0, 6.0, 3.0]))
    close(c.probs, gw.tensor(CHANCES))
    close(D.Categorical(logits=c.logits + 5).logits, c.logits)
    assert c.log_prob(gw.tensor([0, 1])).exp().tolist() == pytest.approx(CHANCES[:2])
    assert c.mean.isnan()
    assert c.support.upper_bound == 2


def test_draws_have_their_chances() -> None:
    gw.manual_seed(0)
    drawn = D.Categorical(gw.tensor([CHANCES, CHANCES[::-1]])).sample((3000,))
    assert (drawn.shape, drawn.dtype) == ((3000, 2), gw.int64)
    for column, chances in zip(drawn.T.numpy(), (CHANCES, CHANCES[::-1]), strict=True):
        assert stats.chisquare(np.bincount(column), 3000 * np.array(chances)).pvalue > 1e-3
    assert D.Categorical(gw.ones(3)).sample((0,)).shape == (0,)
    assert D.Categorical(gw.ones(2, 3)).sample().shape == (2,)


def test_scipys_multinomial() -> None:
    m = D.Multinomial(5, gw.tensor(CHANCES, dtype=gw.float64))
    law = stats.multinomial(5, CHANCES)
    x = m.sample((4,))
    assert (x.sum(-1) == 5).all()
    np.testing.assert_allclose(m.log_prob(x).numpy(), law.logpmf(x.numpy()), rtol=1e-9)
    assert m.entropy().item() == pytest.approx(law.entropy())
    assert m.log_prob(gw.tensor([1.0, 1.0, 0.0], dtype=gw.float64)).item() == pytest.approx(
        stats.multinomial.logpmf([1, 1, 0], 2, CHANCES))  # fmt: skip


def test_an_impossible_category() -> None:
    m = D.Multinomial(2, logits=gw.tensor([0.0, -math.inf]))
    assert m.log_prob(gw.tensor([2.0, 0.0])).item() == 0
    assert m.log_prob(gw.tensor([1.0, 1.0])).item() == -math.inf
    assert D.Categorical(logits=gw.tensor([0.0, -math.inf])).entropy().item() == 0


def test_one_hot() -> None:
    o = D.OneHotCategorical(gw.tensor([CHANCES] * 2))
    assert (o.batch_shape, o.event_shape, o.sample((4,)).shape) == ((2,), (3,), (4, 2, 3))
    assert o.mode.tolist() == [[0, 1, 0]] * 2
    assert o.enumerate_support().shape == (3, 2, 3)
    assert o.enumerate_support(expand=False).shape == (3, 1, 3)
    with pytest.raises(ValueError, match=r"support \(OneHot"):
        o.log_prob(gw.tensor([1.0, 1.0, 0.0]))


def test_straight_through() -> None:
    logits = gw.zeros(3, requires_grad=True)
    o = D.OneHotCategoricalStraightThrough(logits=logits)
    x = o.rsample()
    assert sorted(x.tolist()) == pytest.approx([0, 0, 1])
    (slope,) = gw.autograd.grad((x * gw.tensor([1.0, 2.0, 3.0])).sum(), logits, retain_graph=True)
    (wanted,) = gw.autograd.grad((o.probs * gw.tensor([1.0, 2.0, 3.0])).sum(), logits)
    close(slope, wanted)


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="`probs` parameter must be at least one-dimensional"):
        D.Categorical(gw.tensor(0.5))
    with pytest.raises(ValueError, match="Either `probs` or `logits`"):
        D.Categorical()
    with pytest.raises(ValueError, match="parameter probs"):
        D.Categorical(gw.tensor([-0.5, 1.5]))
    with pytest.raises(ValueError, match="within the support"):
        D.Categorical(gw.ones(3)).log_prob(gw.tensor(3))
    with pytest.raises(NotImplementedError, match="inhomogeneous total_count is not supported: expected an int, but"):
        D.Multinomial(gw.tensor([1, 2]), gw.ones(2, 3))  # type: ignore[arg-type]
