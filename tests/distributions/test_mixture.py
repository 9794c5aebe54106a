"""Mixtures: densities of their parts, and what is refused."""

from __future__ import annotations

import pytest

import gradwright as gw
from gradwright import distributions as D
from tests.distributions.close import close


def test_the_density_is_the_mean_of_the_parts() -> None:
    m = D.MixtureSameFamily(D.Categorical(gw.tensor([0.3, 0.7])), D.Normal(gw.tensor([-1.0, 2.0]), 0.5))
    x = gw.tensor([0.1, -0.4])
    parts = [D.Normal(at, 0.5) for at in (-1.0, 2.0)]
    close(m.log_prob(x).exp(), 0.3 * parts[0].log_prob(x).exp() + 0.7 * parts[1].log_prob(x).exp())
    close(m.cdf(x), 0.3 * parts[0].cdf(x) + 0.7 * parts[1].cdf(x))
    assert m.mean.item() == pytest.approx(1.1)
    assert m.variance.item() == pytest.approx(0.25 + 0.3 * 2.1**2 + 0.7 * 0.9**2)


def test_one_mixture_for_a_batch() -> None:
    parts = D.Independent(D.Normal(gw.zeros(4, 2, 3), 1.0), 1)
    m = D.MixtureSameFamily(D.Categorical(gw.ones(2)), parts)
    assert (m.batch_shape, m.event_shape) == ((4,), (3,))
    assert m.sample((5,)).shape == (5, 4, 3)
    assert m.mean.shape == m.variance.shape == (4, 3)
    assert m.expand((6, 4)).sample().shape == (6, 4, 3)
    assert m.support.event_dim == 1
    assert repr(m).startswith("MixtureSameFamily(\n  Categorical(")


def test_draws_come_from_the_chosen_part() -> None:
    m = D.MixtureSameFamily(D.Categorical(gw.tensor([0.0, 1.0])), D.Normal(gw.tensor([-100.0, 100.0]), 1.0))
    assert (m.sample((50,)) > 0).all()


def test_what_is_refused() -> None:
    c, n = D.Categorical(gw.ones(2)), D.Normal(gw.zeros(2), 1.0)
    with pytest.raises(ValueError, match=r"instance of torch.distributions.Categorical, but it is of Normal"):
        D.MixtureSameFamily(n, n)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"instance of torch.distributions.Distribution, but it is of int"):
        D.MixtureSameFamily(c, 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="but it has none"):
        D.MixtureSameFamily(c, D.Normal(0.0, 1.0))
    with pytest.raises(ValueError, match=r"component` \(2\) does not equal `component_distribution.* \(3\)"):
        D.MixtureSameFamily(c, D.Normal(gw.zeros(3), 1.0))
    with pytest.raises(ValueError, match="is not compatible with"):
        D.MixtureSameFamily(D.Categorical(gw.ones(3, 2)), D.Normal(gw.zeros(4, 2), 1.0))
