"""Variables folded at 0, against SciPy's."""

import numpy as np
import pytest

import gradwright as gw
from gradwright import distributions as D

x = np.array([0.1, 0.7, 2.5])


@pytest.mark.parametrize(("kind", "name"), [(D.HalfNormal, "halfnorm"), (D.HalfCauchy, "halfcauchy")])
def test_values_are_scipys(kind, name):
    stats = pytest.importorskip("scipy.stats", reason="SciPy is not installed: nothing to compare with")
    ours, theirs = kind(gw.tensor(1.5, dtype=gw.float64)), getattr(stats, name)(scale=1.5)
    at = gw.from_numpy(x)
    assert ours.log_prob(at).numpy() == pytest.approx(theirs.logpdf(x))
    assert ours.cdf(at).numpy() == pytest.approx(theirs.cdf(x))
    assert ours.icdf(ours.cdf(at)).numpy() == pytest.approx(x)
    assert ours.entropy().item() == pytest.approx(theirs.entropy())
    assert ours.mode.item() == 0
