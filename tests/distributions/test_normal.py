"""The normal distribution and what is made of it."""

from __future__ import annotations

import math
from typing import Any

import pytest
from scipy import stats

import gradwright as gw
from gradwright import distributions as D
from tests.distributions.close import close
from tests.distributions.laws import compare, t


@pytest.mark.parametrize(("ours", "law"), [
    (D.Normal(t(0.3), 2.0), stats.norm(0.3, 2)), (D.HalfNormal(t(2.0)), stats.halfnorm(0, 2)),
    (D.LogNormal(t(0.3), 0.5), stats.lognorm(0.5, scale=math.exp(0.3))),
])  # fmt: skip
def test_scipys_laws(ours: Any, law: Any) -> None:
    compare(ours, law)


def test_a_draw_moves_with_its_parameters() -> None:
    loc, scale = (gw.tensor(v, requires_grad=True) for v in (1.0, 2.0))
    x = D.Normal(loc, scale).rsample((5,))
    slopes = gw.autograd.grad(x.sum(), [loc, scale])
    assert slopes[0].item() == 5
    assert slopes[1].item() == pytest.approx(((x - 1) / 2).sum().item(), abs=1e-5)


def test_points_of_the_simplex() -> None:
    d = D.LogisticNormal(gw.zeros(2, 3), 1.0)
    assert (d.batch_shape, d.event_shape) == ((2,), (4,))
    x = d.rsample((5,))
    close(x.sum(-1), gw.ones(5, 2))
    assert d.expand((7, 2)).sample().shape == (7, 2, 4)
    assert D.LogisticNormal(0.0, 1.0).sample().shape == (2,)


def test_beneath_zero() -> None:
    assert D.HalfNormal(1.0, validate_args=False).log_prob(gw.tensor(-1.0)).item() == -math.inf
    with pytest.raises(ValueError, match="within the support"):
        D.LogNormal(0.0, 1.0).log_prob(gw.tensor(-1.0))
