"""Losses as modules."""

import math
import warnings

import numpy as np
import pytest

import gradwright as gw
from tests.nn.module_cases import compare

draw = np.random.default_rng(0)


@pytest.mark.parametrize(("name", "kwargs", "inputs"), [
    ("TripletMarginLoss", {}, 3), ("TripletMarginLoss", {"margin": 2, "p": 3, "swap": True, "reduction": "none"}, 3),
    ("TripletMarginWithDistanceLoss", {}, 3),
    ("TripletMarginWithDistanceLoss", {"margin": 3.0, "swap": True, "reduction": "sum"}, 3),
    ("KLDivLoss", {"reduction": "batchmean", "log_target": True}, 2), ("SmoothL1Loss", {"beta": 0.3}, 2),
    ("HuberLoss", {"delta": 0.4}, 2),
])  # fmt: skip
def test_options_are_those_of_torch(torch, name, kwargs, inputs):
    mine, theirs = (getattr(lib.nn, name)(**kwargs) for lib in (gw, torch))
    xs = [torch.tensor(draw.standard_normal((4, 5))).requires_grad_() for _ in range(inputs)]
    compare(mine, theirs, xs)


@pytest.mark.parametrize(("kwargs", "sizes"), [
    ({}, [2, 3, 1]), ({"blank": 4, "reduction": "sum"}, [3, 2, 1]), ({"reduction": "none"}, [1, 2, 3]),
    ({"zero_infinity": True}, [2, 7, 1]),
])  # fmt: skip
def test_alignments(torch, kwargs, sizes):
    """PyTorch's gradient is that of the scores before `log_softmax`."""
    scores, labels = draw.standard_normal((6, 3, 5)), draw.integers(1, 4, (3, 7))
    seen = []
    for lib in (gw, torch):
        x = lib.tensor(scores).requires_grad_()
        loss = lib.nn.CTCLoss(**kwargs)
        assert repr(loss) == "CTCLoss()"
        y = loss(x.log_softmax(2), lib.tensor(labels), lib.tensor([6, 5, 6]), lib.tensor(sizes))
        y.sum().backward()
        seen.append((y.detach().numpy(), x.grad.numpy()))
    np.testing.assert_allclose(seen[0][0], seen[1][0], 1e-9)
    np.testing.assert_allclose(seen[0][1], seen[1][1], 1e-7, 1e-9)


def test_weights_are_buffers(lib):
    loss = lib.nn.BCEWithLogitsLoss(weight=lib.tensor([1.0, 2.0]), pos_weight=lib.tensor(3.0))
    assert {k: v.tolist() for k, v in loss.state_dict().items()} == {"weight": [1, 2], "pos_weight": 3}
    assert list(lib.nn.BCEWithLogitsLoss().state_dict()) == []
    assert list(loss.parameters()) == []
    assert list(lib.nn.CrossEntropyLoss(lib.ones(3)).state_dict()) == ["weight"]
    assert list(lib.nn.CrossEntropyLoss().state_dict()) == []


@pytest.mark.parametrize(("flags", "reduction"), [
    ({"size_average": False}, "sum"), ({"size_average": True}, "mean"), ({"reduce": False}, "none"),
    ({"size_average": False, "reduce": True}, "sum"), ({"size_average": False, "reduce": False}, "none"),
])  # fmt: skip
def test_the_old_flags_win_with_a_warning(lib, flags, reduction):
    with pytest.warns(UserWarning, match="^size_average and reduce args will be deprecated, please use reduction='"):
        assert lib.nn.MSELoss(**flags).reduction == reduction
    with pytest.warns(UserWarning, match=f"please use reduction='{reduction}' instead"):
        assert lib.nn.SmoothL1Loss(reduction="sum", **flags).reduction == reduction


def test_a_warning_names_the_users_line():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        gw.nn.HingeEmbeddingLoss(size_average=False)
        gw.nn.MSELoss()(gw.ones(2, 1), gw.ones(2))
    assert [warning.filename for warning in seen] == [__file__] * 2


def test_an_unknown_reduction_is_refused_when_called(lib):
    loss = lib.nn.L1Loss(reduction="median")
    with pytest.raises(ValueError, match=r"^median is not a valid value for reduction"):
        loss(lib.zeros(2), lib.ones(2))


def test_what_is_no_margin_is_refused(lib):
    with pytest.raises(ValueError, match="TripletMarginLoss: expected margin to be greater than 0, got 0 instead"):
        lib.nn.TripletMarginLoss(0)
    with pytest.raises(ValueError, match="TripletMarginWithDistanceLoss: expected margin to be greater than 0, got -1"):
        lib.nn.TripletMarginWithDistanceLoss(margin=-1)
    with pytest.raises(TypeError, match="delta must be a float or int, got: <class 'complex'>"):
        lib.nn.HuberLoss(delta=1j)


def test_a_distance_of_ones_own(lib):
    loss = lib.nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: (a - b).abs().sum(-1), margin=0.5)
    a, b, c = (lib.tensor([[x, x]]) for x in (0.0, 1.0, 1.125))
    assert loss(a, b, c).item() == 0.25
    assert "(distance_function): PairwiseDistance()" in repr(lib.nn.TripletMarginWithDistanceLoss())


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


@pytest.mark.parametrize(("make", "message"), [
    (lambda nn, w: nn.MultiMarginLoss(3), "only p == 1 and p == 2 supported"),
    (lambda nn, w: nn.MultiMarginLoss(weight=w(2, 2)), "expected weight to be None or 1D tensor, got 2D instead"),
])  # fmt: skip
def test_refuses(lib, make, message):
    with pytest.raises(ValueError, match=message):
        make(lib.nn, lib.ones)
