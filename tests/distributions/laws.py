"""Our distributions beside SciPy's."""

from typing import Any

import numpy as np
import pytest

import gradwright as gw

PLACES = np.array([0.05, 0.3, 0.5, 0.8, 0.97])


def t(value: Any) -> Any:
    return gw.tensor(value, dtype=gw.float64)


def compare(ours: Any, law: Any) -> None:
    """Density, entropy, moments, distribution function and quantile are SciPy's."""
    x = law.ppf(PLACES)
    np.testing.assert_allclose(ours.log_prob(t(x)).numpy(), law.logpdf(x), rtol=1e-8, atol=1e-10)
    mean, variance = law.stats()
    for name, exact in (("mean", mean), ("variance", variance), ("entropy", law.entropy())):
        try:
            found = ours.entropy() if name == "entropy" else getattr(ours, name)
        except NotImplementedError:
            continue
        found = found.item()
        assert not np.isfinite(exact) or found == pytest.approx(exact, rel=1e-6, abs=1e-9), name
    for call, at, exact in ((ours.cdf, x, PLACES), (ours.icdf, PLACES, x)):
        try:
            found = call(t(at))
        except NotImplementedError:
            continue
        np.testing.assert_allclose(found.numpy(), exact, rtol=1e-8)
