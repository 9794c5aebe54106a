"""Several transforms along one dim."""

from __future__ import annotations

from typing import Any

import pytest

import gradwright as gw
from gradwright import distributions as D
from tests.distributions.close import close


def both(module: Any) -> list[Any]:
    return [module.CatTransform([module.ExpTransform(), module.AffineTransform(1.0, 2.0)], dim=1, lengths=[1, 2]),
            module.StackTransform([module.ExpTransform(), module.TanhTransform(), module.AffineTransform(0, 2)], dim=1)]


@pytest.mark.parametrize("k", [0, 1])
def test_pytorchs_values(k: int, torch: Any) -> None:
    found = []
    for T, module in ((torch, torch.distributions), (gw, D)):
        it, x = both(module)[k], T.arange(6.0).reshape(2, 3) / 4
        y = it(x)
        found.append([y, it.inv(y), it.log_abs_det_jacobian(x, y), it.domain.check(x), it.codomain.check(y)])
        assert it.bijective
    for theirs, mine in zip(*found, strict=True):
        assert mine.flatten().tolist() == pytest.approx(theirs.flatten().tolist(), rel=1e-5)


def test_an_event_of_pieces() -> None:
    """Along a dim of the event their volumes add up."""
    t = D.CatTransform([D.StickBreakingTransform(), D.IndependentTransform(D.ExpTransform(), 1)], -1, [2, 2])
    x = gw.randn(5, 4, dtype=gw.float64)
    pieces = [(D.StickBreakingTransform(), x[:, :2]), (D.IndependentTransform(D.ExpTransform(), 1), x[:, 2:])]
    y = gw.cat([f(p) for f, p in pieces], -1)
    close(t(x), y)
    assert t.event_dim == 1
    assert (t.length, len(t.with_cache().transforms)) == (4, 2)


def test_what_is_refused() -> None:
    with pytest.raises(AssertionError, match="expected Transforms, but got 3"):
        D.StackTransform([3])  # type: ignore[list-item]
    with pytest.raises(AssertionError, match="expected 1 lengths, but got 2"):
        D.CatTransform([D.ExpTransform()], 0, [1, 2])
    cat, stack = both(D)
    for t in (cat, stack):
        with pytest.raises(AssertionError, match="along dim 1, but got 4"):
            t(gw.zeros(2, 4))
