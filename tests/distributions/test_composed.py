"""Distributions made of others."""

import pytest

import gradwright as gw
from gradwright import distributions as D
from tests.distributions.close import close


def test_what_is_summed() -> None:
    base = D.Normal(gw.zeros(4, 3, 2), gw.arange(1.0, 3.0))
    for n in range(4):
        it = D.Independent(base, n)
        assert (it.batch_shape, it.event_shape) == ((4, 3, 2)[: 3 - n], (4, 3, 2)[3 - n :])
        x = it.rsample((5,))
        assert x.shape == (5, 4, 3, 2)
        assert it.log_prob(x).shape == (5, *it.batch_shape)
        close(it.entropy(), base.entropy().sum(tuple(range(-n, 0))) if n else base.entropy())
    wide = D.Independent(base, 1).expand((7, 4, 3))
    assert (wide.batch_shape, wide.event_shape, wide.sample().shape) == ((7, 4, 3), (2,), (7, 4, 3, 2))
    assert wide.support.event_dim == 1


def test_no_more_dims_are_taken_than_there_are() -> None:
    b = D.Bernoulli(gw.full((2,), 0.5))
    with pytest.raises(ValueError, match="Expected reinterpreted_batch_ndims <= len"):
        D.Independent(b, 2)
    with pytest.raises(NotImplementedError, match="cartesian product"):
        D.Independent(b, 1).enumerate_support()
    assert D.Independent(b, 0).enumerate_support().shape == (2, 2)
    assert not D.Independent(b, 1).has_enumerate_support
    assert repr(D.Independent(b, 1)) == "Independent(Bernoulli(probs: torch.Size([2])), 1)"


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


def test_bases_and_transforms_that_do_not_fit() -> None:
    for transforms in (3, [3]):
        with pytest.raises(ValueError, match="transforms must be a Transform or"):
            D.TransformedDistribution(N, transforms)
    with pytest.raises(ValueError, match="needs to have shape with size at least 1"):
        D.TransformedDistribution(D.Normal(0.0, 1.0), D.SoftmaxTransform())
    with pytest.raises(NotImplementedError, match="Independent has no cdf"):
        D.TransformedDistribution(N, D.SoftmaxTransform()).cdf(gw.tensor([0.2, 0.3, 0.5]))


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


def test_parts_that_do_not_fit() -> None:
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
