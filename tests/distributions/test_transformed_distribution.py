"""Changes of variables."""

from __future__ import annotations

import pytest

import gradwright as gw
from gradwright import distributions as D
from tests.distributions.close import close

N = D.Normal(gw.zeros(3), 1.0)


def test_a_logarithm_of_a_normal_variable_by_hand() -> None:
    d = D.TransformedDistribution(N, [D.AffineTransform(0.3, 0.5), D.ExpTransform()])
    exact = D.LogNormal(gw.full((3,), 0.3), 0.5)
    x = gw.tensor([0.2, 1.0, 3.0])
    close(d.log_prob(x), exact.log_prob(x), 1e-5)
    close(d.cdf(x), exact.cdf(x), 1e-5)
    close(d.icdf(x / 4), exact.icdf(x / 4), 1e-5)
    assert d.rsample((2,)).shape == (2, 3)


def test_a_falling_transform_turns_the_distribution_function_round() -> None:
    d = D.TransformedDistribution(N, D.AffineTransform(0.0, -2.0))
    x = gw.tensor([-1.0, 0.0, 1.0])
    close(d.cdf(x), D.Normal(0.0, 2.0).cdf(x), 1e-6)
    close(d.cdf(d.icdf(gw.full((3,), 0.3))), gw.full((3,), 0.3), 1e-5)


def test_events() -> None:
    d = D.TransformedDistribution(N, D.StickBreakingTransform())
    assert (d.batch_shape, d.event_shape) == ((), (4,))
    assert d.log_prob(d.sample((5,))).shape == (5,)
    assert d.expand((6,)).sample().shape == (6, 4)
    wide = D.TransformedDistribution(D.Normal(0.0, 1.0), D.AffineTransform(gw.zeros(2), 1.0))
    assert wide.batch_shape == (2,)
    assert wide.sample().shape == (2,)
    flat = D.TransformedDistribution(D.Independent(N, 1), D.ReshapeTransform((3,), (1, 3)))
    assert (flat.event_shape, flat.log_prob(flat.sample()).shape) == ((1, 3), ())


def test_cached_transforms_invert_exactly() -> None:
    d = D.TransformedDistribution(N, D.TanhTransform(cache_size=1))
    x = d.rsample()
    far = D.TransformedDistribution(D.Normal(9.0, 1.0), D.TanhTransform(cache_size=1))
    assert far.log_prob(far.rsample()).isfinite()
    assert d.log_prob(x).isfinite().all()


def test_what_is_refused() -> None:
    for transforms in (3, [3]):
        with pytest.raises(ValueError, match="transforms must be a Transform or"):
            D.TransformedDistribution(N, transforms)
    with pytest.raises(ValueError, match="needs to have shape with size at least 1"):
        D.TransformedDistribution(D.Normal(0.0, 1.0), D.SoftmaxTransform())
    with pytest.raises(NotImplementedError, match="Independent has no cdf"):
        D.TransformedDistribution(N, D.SoftmaxTransform()).cdf(gw.tensor([0.2, 0.3, 0.5]))
