"""Successes and failures: ends of the range of probabilities, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import gradwright as gw
from gradwright import distributions as D
from gradwright.distributions.binary import BinaryParameter
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
