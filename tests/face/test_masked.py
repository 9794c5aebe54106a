from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright import masked

X = np.random.default_rng(3).standard_normal((3, 4))
MASK = np.array([[True, False, True, True], [True, True, False, False], [True, True, True, True]])
NUMPYS = {"amax": "max", "amin": "min"}


def arguments() -> tuple[Any, Any, Any]:
    return gradwright.tensor(X, requires_grad=True), gradwright.tensor(MASK), np.ma.array(X, mask=~MASK)


@pytest.mark.parametrize("name", ["sum", "prod", "amax", "amin", "argmax", "argmin", "mean", "var", "std"])
@pytest.mark.parametrize("dim", [None, 0, 1], ids=str)
def test_reductions(name: str, dim: Any) -> None:
    x, mask, reference = arguments()
    spread = {"correction": 0} if name in ("var", "std") else {}
    got = getattr(masked, name)(x, dim, mask=mask, **spread)
    expected = getattr(np.ma, NUMPYS.get(name, name))(reference, axis=dim)
    np.testing.assert_allclose(got.detach().numpy(), np.ma.filled(expected), rtol=1e-12)
    if got.requires_grad:
        got.sum().backward()
        assert not x.grad.numpy()[~MASK].any()


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_running(name: str) -> None:
    x, mask, _ = arguments()
    expected = getattr(np, name)(np.where(MASK, X, float(name == "cumprod")), axis=1)
    np.testing.assert_allclose(getattr(masked, name)(x, 1, mask=mask).detach().numpy(), expected, rtol=1e-12)


def test_softmax_and_its_kin() -> None:
    x, mask, reference = arguments()
    weights = np.ma.exp(reference)
    expected = np.ma.filled(weights / weights.sum(1)[:, None], 0)
    np.testing.assert_allclose(masked.softmax(x, 1, mask=mask).detach().numpy(), expected, rtol=1e-12)
    np.testing.assert_allclose(masked.softmin(-x, 1, mask=mask).detach().numpy(), expected, rtol=1e-12)
    logs = masked.log_softmax(x, 1, mask=mask).detach().numpy()
    np.testing.assert_allclose(np.exp(logs), expected, rtol=1e-12)
    total = masked.logsumexp(x, 1, mask=mask).detach().numpy()
    np.testing.assert_allclose(np.exp(total), weights.sum(1), rtol=1e-12)


def test_lengths() -> None:
    x, mask, reference = arguments()
    expected = np.ma.sqrt((reference**2).sum(1))
    np.testing.assert_allclose(masked.norm(x, dim=1, mask=mask).detach().numpy(), expected, rtol=1e-12)
    unit = masked.normalize(x, 2.0, 1, mask=mask).detach().numpy()
    np.testing.assert_allclose(unit, np.ma.filled(reference / expected[:, None], 0), rtol=1e-12)
    assert masked.norm(x, -np.inf, mask=mask).item() == np.abs(X[MASK]).min()


def test_median() -> None:
    x, mask = gradwright.tensor([[5, 1, 3, 9], [4, 2, 8, 6]]), gradwright.tensor(MASK[:2])
    assert masked.median(x, 1, mask=mask).tolist() == [5, 2]
    with pytest.raises(ValueError, match="fully masked"):
        masked.median(x, 1, mask=~mask & mask)


def test_logaddexp() -> None:
    x, y = gradwright.tensor([0.0, 1.0]), gradwright.tensor([2.0, 3.0])
    got = masked.logaddexp(x, y, input_mask=gradwright.tensor([True, False])).tolist()
    assert got == pytest.approx([np.logaddexp(0, 2), 3.0])


def test_where_nothing_counts() -> None:
    x, none = gradwright.ones(2), gradwright.tensor([False, False])
    assert masked.sum(x, mask=none) == 0
    assert masked.prod(x, mask=none) == 1
    assert masked.amax(x, mask=none) == -np.inf
    assert masked.argmax(x.long(), mask=none) == 0
    assert masked.mean(x, mask=none).isnan()


def test_what_is_refused() -> None:
    with pytest.raises(IndexError, match="mask"):
        masked.sum(gradwright.zeros(3), mask=gradwright.ones(2, 3))
    with pytest.raises(ValueError, match="mean"):
        masked.mean(gradwright.tensor([1, 2]))
