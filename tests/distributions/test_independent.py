"""Batch dims taken for dims of the event."""

from __future__ import annotations

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


def test_what_is_refused() -> None:
    b = D.Bernoulli(gw.full((2,), 0.5))
    with pytest.raises(ValueError, match="Expected reinterpreted_batch_ndims <= len"):
        D.Independent(b, 2)
    with pytest.raises(NotImplementedError, match="cartesian product"):
        D.Independent(b, 1).enumerate_support()
    assert D.Independent(b, 0).enumerate_support().shape == (2, 2)
    assert not D.Independent(b, 1).has_enumerate_support
    assert repr(D.Independent(b, 1)) == "Independent(Bernoulli(probs: torch.Size([2])), 1)"
