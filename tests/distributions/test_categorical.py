"""Categories: normalised parameters, chances of draws, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import gradwright as gw
from gradwright import distributions as D
from tests.distributions.close import close

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
