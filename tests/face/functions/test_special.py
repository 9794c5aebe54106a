from typing import Any

import numpy as np
import pytest

import gradwright

UNARY = ["erf", "erfc", "erfinv", "lgamma", "digamma", "i0", "sinc", "logit"]


@pytest.mark.parametrize("name", UNARY)
def test_of_whole_numbers_and_half_precision(same: Any, name: str) -> None:
    for x in (np.array([1, 0, 2]), np.array([True, False]), np.array([0.25, 0.75], np.float16)):
        same(lambda t, x: getattr(t, name)(x), x, order=0)


@pytest.mark.parametrize("name", UNARY)
def test_at_special_values(same: Any, name: str) -> None:
    x = np.array([np.nan, 0.0, 0.5, 1.0, 30.0, np.inf, -np.inf, -1.0])
    same(lambda t, x: getattr(t, name)(x), x, order=0)
    same(lambda t, x: getattr(t, name)(x), x[:5], order=1)


def test_in_place_forms_keep_the_history(same: Any) -> None:
    for call in (lambda x: x.erf_(), lambda x: x.mvlgamma_(3), lambda x: x.polygamma_(1), lambda x: x.sinc_()):
        same(lambda t, x, call=call: call(x * 1), np.random.uniform(2.0, 4.0, (3,)), names=False)


def test_numbers_beside_tensors(same: Any) -> None:
    x = np.array([0.5, 2.0], np.float32)
    same(lambda t, x: t.xlogy(x, 3), x, names=False)
    same(lambda t, x: t.xlogy(2, x), x, names=False)
    same(lambda t, x: t.igamma(x, 3.0), x)  # refused


def test_what_has_no_derivative_says_so() -> None:
    a, x = gradwright.tensor([2.0], requires_grad=True), gradwright.tensor([1.0], requires_grad=True)
    y = gradwright.igamma(a, x)
    with pytest.raises(NotImplementedError, match="igamma"):
        y.backward()
    gradwright.igamma(a.detach(), x).backward()
    assert x.grad.item() == pytest.approx(np.exp(-1))


def test_errors(same: Any) -> None:
    x = np.array([2.0, 3.0])
    for call in (
        lambda t, x: t.polygamma(-1, x),
        lambda t, x: t.polygamma(x, 1),
        lambda t, x: t.mvlgamma(x, 0),
        lambda t, x: t.erf(2.0),
        lambda t, x: t.igamma(x.long(), x.long()),
    ):
        same(call, x)
