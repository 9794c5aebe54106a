"""Connectionist temporal classification."""

from itertools import groupby, product

import numpy as np
import pytest

import gradwright as gw

draw = np.random.default_rng(0)


def by_hand(probabilities, target):
    """-log of the sum over all paths that collapse to the target."""
    steps, classes = probabilities.shape
    total = 0.0
    for path in product(range(classes), repeat=steps):
        if [k for k, _ in groupby(path) if k] == list(target):
            total += np.prod(probabilities[range(steps), path])
    return -np.log(total) if total else np.inf


@pytest.mark.parametrize("target", [[1, 2], [1, 1], [], [2], [1, 2, 1]])
def test_against_all_paths(target):
    logs = gw.tensor(draw.standard_normal((4, 3))).log_softmax(1)
    got = gw.nn.functional.ctc_loss(logs, gw.tensor(target, dtype=gw.int64), (4,), (len(target),), reduction="none")
    assert got.item() == pytest.approx(by_hand(np.exp(logs.numpy()), target), rel=1e-12)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("flat", [False, True])
def test_through_a_softmax_as_pytorch(torch, reduction, flat):
    """PyTorch's gradient by the log-probabilities supposes a log_softmax before; after it, the two agree."""
    lengths, sizes = (6, 4, 5), (2, 3, 0)
    targets = np.array([[1, 1, 3], [2, 3, 2], [1, 2, 3]])
    if flat:
        targets = np.concatenate([t[:n] for t, n in zip(targets, sizes, strict=True)])
    values = draw.standard_normal((6, 3, 4))
    grads = []
    for lib in (gw, torch):
        x = lib.tensor(values, requires_grad=True)
        y = lib.nn.functional.ctc_loss(x.log_softmax(2), lib.tensor(targets), lengths, sizes, reduction=reduction)
        y.sum().backward()
        grads.append((y.detach().numpy(), x.grad.numpy()))
    for mine, theirs in zip(*grads, strict=True):
        np.testing.assert_allclose(mine, theirs, 1e-9, 1e-12)


def test_a_target_that_is_too_long(lib):
    x = lib.zeros(2, 1, 3, requires_grad=True)
    logs = x.log_softmax(2)
    call = lib.nn.functional.ctc_loss
    never = call(logs, lib.tensor([[1, 1]]), (2,), (2,))
    assert never.item() == float("inf")
    assert lib.autograd.grad(never, x, retain_graph=True)[0].isnan().any()
    loss = call(logs, lib.tensor([[1, 1]]), (2,), (2,), zero_infinity=True)
    loss.backward()
    assert loss.item() == 0
    assert not x.grad.any()


def test_its_own_gradient():
    logs = gw.tensor(draw.standard_normal((4, 2, 3)), requires_grad=True)
    targets = gw.tensor([[1, 2], [2, 0]])

    def loss(x):
        return gw.nn.functional.ctc_loss(x, targets, (4, 3), (2, 1), reduction="none")

    assert gw.autograd.gradcheck(loss, (logs,))


@pytest.mark.parametrize("change", [
    {"blank": 3}, {"input_lengths": (5,)}, {"target_lengths": (3,)}, {"reduction": "no"}, {"input_lengths": (4, 4)},
])  # fmt: skip
def test_refuses(lib, change):
    arguments = {"log_probs": lib.zeros(4, 1, 3), "targets": lib.tensor([[1, 2]]), "input_lengths": (4,),
                 "target_lengths": (2,)}  # fmt: skip
    with pytest.raises((RuntimeError, ValueError)):
        lib.nn.functional.ctc_loss(**(arguments | change))


@pytest.mark.parametrize("wrong", [3, -1])
def test_a_target_that_is_no_class(wrong):
    """PyTorch reads beyond the memory of the probabilities there."""
    with pytest.raises(RuntimeError, match=rf"^ctc_loss\(\): Expected targets from 0 to 2, but got {wrong}$"):
        gw.nn.functional.ctc_loss(gw.zeros(5, 1, 3), gw.tensor([[wrong, 1]]), gw.tensor([5]), gw.tensor([2]))
