"""Distributions with a place and a width."""

from __future__ import annotations

import math
from typing import Any

import pytest
from scipy import stats

import gradwright as gw
from gradwright import distributions as D
from tests.distributions.laws import compare, t


@pytest.mark.parametrize(("ours", "law"), [
    (D.Cauchy(t(0.3), 2.0), stats.cauchy(0.3, 2)), (D.HalfCauchy(t(2.0)), stats.halfcauchy(0, 2)),
    (D.Laplace(t(0.3), 2.0), stats.laplace(0.3, 2)), (D.Uniform(t(-1.0), 2.5), stats.uniform(-1, 3.5)),
    (D.Gumbel(t(0.3), 2.0), stats.gumbel_r(0.3, 2)),
])  # fmt: skip
def test_scipys_laws(ours: Any, law: Any) -> None:
    compare(ours, law)


def test_ends() -> None:
    u = D.Uniform(0.0, 1.0, validate_args=False)
    assert u.log_prob(gw.tensor([-0.1, 0.0, 1.0])).tolist() == [-math.inf, 0, -math.inf]
    assert u.cdf(gw.tensor([-1.0, 0.5, 3.0])).tolist() == [0, 0.5, 1]
    assert D.Cauchy(0.0, 1.0).mean.isnan()
    assert D.HalfCauchy(1.0).mean.item() == math.inf
    assert D.HalfCauchy(1.0, validate_args=False).log_prob(gw.tensor(-1.0)).item() == -math.inf
    with pytest.raises(ValueError, match="parameter low"):
        D.Uniform(1.0, 1.0)


def test_expanded_uniform_and_gumbel() -> None:
    for d in (D.Uniform(gw.zeros(2), 1.0), D.Gumbel(gw.zeros(2), 1.0)):
        wide = d.expand((3, 2))
        assert wide.rsample((4,)).shape == (4, 3, 2)
        assert wide.mean.shape == (3, 2)
