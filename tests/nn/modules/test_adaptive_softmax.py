"""Softmax over clusters of classes."""

import numpy as np
import pytest

import gradwright as gw
from tests.nn.module_cases import compare

draw = np.random.default_rng(0)


@pytest.mark.parametrize("options", [{}, {"head_bias": True, "div_value": 2.0}])
def test_agrees_with_torch(torch, options):
    mine, theirs = (lib.nn.AdaptiveLogSoftmaxWithLoss(16, 20, [4, 9], dtype=lib.float64, **options)
                    for lib in (gw, torch))  # fmt: skip
    x = torch.tensor(draw.standard_normal((10, 16))).requires_grad_()
    compare(mine, theirs, (x, torch.arange(0, 20, 2)))
    mine.zero_grad()
    theirs.zero_grad()
    compare(mine, theirs, (x, torch.tensor([0, 1] * 5)))  # none in a cluster
    compare(mine, theirs, (x[0].detach(), torch.tensor(17)))
    y = gw.tensor(x.detach().numpy())
    np.testing.assert_allclose(mine.log_prob(y).detach(), theirs.log_prob(x).detach(), 1e-9)
    assert mine.predict(y).tolist() == theirs.predict(x).tolist()


def test_the_probabilities_sum_to_one():
    m = gw.nn.AdaptiveLogSoftmaxWithLoss(6, 12, [3, 5], dtype=gw.float64)
    x = gw.tensor(draw.standard_normal((4, 6)))
    logs = m.log_prob(x)
    assert logs.exp().sum(1).tolist() == pytest.approx([1.0] * 4)
    picked = m(x, gw.tensor([0, 3, 4, 11]))
    assert picked.output.tolist() == pytest.approx([logs[i, k].item() for i, k in enumerate((0, 3, 4, 11))])
    assert picked.loss.item() == pytest.approx(-picked.output.mean().item())


def test_reset_draws_all_anew():
    m = gw.nn.AdaptiveLogSoftmaxWithLoss(16, 20, [4, 9])
    before = [p.tolist() for p in m.parameters()]
    m.reset_parameters()
    assert all(p.tolist() != old for p, old in zip(m.parameters(), before, strict=True))


@pytest.mark.parametrize("cutoffs", [[], [0, 3], [3, 3], [5, 3], [20], [2.5]])
def test_cutoffs_that_are_refused(lib, cutoffs):
    with pytest.raises(ValueError, match="cutoffs should be a sequence of"):
        lib.nn.AdaptiveLogSoftmaxWithLoss(16, 20, cutoffs)


@pytest.mark.parametrize(("shape", "target", "message"), [
    ((2, 16), [0, 20], r"Target values should be in \[0, 19\], but values in range \[0, 20\] were found"),
    ((2, 16), [0], "Input and target should have the same size in the batch dimension"),
    ((2, 3, 16), [0, 1], "1D target tensor expects 2D input tensors"),
    ((2, 16), 1, "0D target tensor expects 1D input tensors"),
    ((2, 16), [[1]], "0D or 1D target tensor expected, multi-target not supported"),
])  # fmt: skip
def test_refuses(lib, shape, target, message):
    with pytest.raises(RuntimeError, match=message):
        lib.nn.AdaptiveLogSoftmaxWithLoss(16, 20, [4, 9])(lib.zeros(shape), lib.tensor(target))
