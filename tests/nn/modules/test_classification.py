"""Losses of a choice among classes as modules."""

import math

import numpy as np
import pytest

import gradwright as gw
from tests.nn.module_cases import compare, refuse, run


@pytest.mark.parametrize(("name", "every"), [
    ("NLLLoss", 2), ("CrossEntropyLoss", 5), ("LinearCrossEntropyLoss", 100), ("MultiMarginLoss", 1),
    ("MultiLabelMarginLoss", 1), ("MultiLabelSoftMarginLoss", 1),
])  # fmt: skip
def test_the_cases_of_torch(torch, name, every):
    run(torch, f"nn.{name}", every=every)


@pytest.mark.parametrize("name", ["NLLLoss", "CrossEntropyLoss", "LinearCrossEntropyLoss", "MultiMarginLoss"])
def test_the_errors_of_torch(torch, name):
    refuse(torch, f"nn.{name}")


@pytest.mark.parametrize("kwargs", [{}, {"bias": True, "out_features": (3,), "label_smoothing": 0.1}])
def test_scores_made_inside(torch, kwargs):
    made = [lib.nn.LinearCrossEntropyLoss(4, 5, dtype=lib.float64, **kwargs) for lib in (gw, torch)]
    assert repr(made[0]) == repr(made[1])
    x = torch.tensor(np.random.standard_normal((6, 4))).requires_grad_()
    compare(*made, (x, torch.arange(6 * len("abc" if kwargs else "a")).reshape(6, *kwargs.get("out_features", ())) % 5))


def test_the_mean_over_nothing_is_nan(lib):
    assert math.isnan(lib.nn.CrossEntropyLoss()(lib.zeros(0, 3), lib.zeros(0, dtype=lib.int64)).item())


def test_the_old_name(lib):
    with pytest.warns(FutureWarning, match="`NLLLoss2d` has been deprecated"):
        assert isinstance(lib.nn.NLLLoss2d(), lib.nn.NLLLoss)


def test_weights_are_buffers(lib):
    assert list(lib.nn.CrossEntropyLoss(lib.ones(3)).state_dict()) == ["weight"]
    assert list(lib.nn.CrossEntropyLoss().state_dict()) == []


@pytest.mark.parametrize(("make", "message"), [
    (lambda nn, w: nn.MultiMarginLoss(3), "only p == 1 and p == 2 supported"),
    (lambda nn, w: nn.MultiMarginLoss(weight=w(2, 2)), "expected weight to be None or 1D tensor, got 2D instead"),
])  # fmt: skip
def test_refuses(lib, make, message):
    with pytest.raises(ValueError, match=message):
        make(lib.nn, lib.ones)
