"""Segments of a dim: values, gradients and refusals as PyTorch's."""

import math

import numpy as np
import pytest

import gradwright as gw
from gradwright.pytorch.segments import segment_reduce

REDUCTIONS = ["sum", "mean", "max", "min", "prod"]
SEGMENTS = {
    "lengths": ((6, 2), {"lengths": [3, 0, 2, 1]}),
    "rows": ((2, 5), {"lengths": [[1, 4, 0], [2, 2, 1]], "axis": 1}),
    "last": ((2, 2, 3), {"lengths": [[[1, 2], [0, 3]], [[3, 0], [2, 1]]], "axis": -1}),
    "middle": ((2, 4, 2), {"lengths": [[1, 3], [2, 2]], "axis": 1}),
    "offsets": ((6,), {"offsets": [1, 3, 3, 6]}),
    "fewer": ((6, 2), {"lengths": [3, 1], "unsafe": True}),
}


def both(torch, shape, options, reduce, initial):
    """The result and the gradient of both libraries, of numbers some of which are equal and 0."""
    x = np.random.default_rng(0).integers(-2, 3, shape).astype(float)
    for t, call in ((gw, segment_reduce), (torch, torch.segment_reduce)):
        data = t.tensor(x, requires_grad=True)
        given = {k: t.tensor(v) if isinstance(v, list) else v for k, v in options.items()}
        out = call(data, reduce, initial=initial, **given)
        weights = t.arange(1.0, out.numel() + 1, dtype=t.float64).reshape(out.shape)
        (t.where(t.isfinite(out), out, t.zeros_like(out)) * weights).sum().backward()
        yield out.detach().numpy(), data.grad.numpy()


@pytest.mark.parametrize("segments", SEGMENTS)
@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_values_and_gradients_are_pytorchs(torch, segments, reduce):
    for mine, theirs in zip(*both(torch, *SEGMENTS[segments], reduce, None), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)


@pytest.mark.parametrize(("reduce", "initial"), [*zip(REDUCTIONS, [5.0, 5.0, -3.0, 4.0, 3.0], strict=True)])
def test_each_begins_with_what_is_given(torch, reduce, initial):
    (mine, _), (theirs, _) = both(torch, *SEGMENTS["lengths"], reduce, initial)
    np.testing.assert_allclose(mine, theirs, rtol=1e-12)


def test_derivatives_are_right():
    x = gw.tensor([[1.0, -2.0], [0.5, 3.0], [2.0, 0.3]], dtype=gw.float64, requires_grad=True)
    for reduce in REDUCTIONS:
        call = lambda x, r=reduce: segment_reduce(x, r, lengths=gw.tensor([2, 1]), initial=1.5)
        assert gw.autograd.gradcheck(call, x)
        assert gw.autograd.gradgradcheck(call, x)


def test_empty_segments_and_nan():
    x, lengths = gw.tensor([1.0, math.nan]), gw.tensor([1, 0, 1])
    empty = [segment_reduce(x, r, lengths=lengths)[1].item() for r in REDUCTIONS]
    assert empty[0] == 0
    assert math.isnan(empty[1])
    assert empty[2:] == [-math.inf, math.inf, 1]
    assert all(segment_reduce(x, r, lengths=lengths, initial=0.0)[2].isnan() for r in REDUCTIONS)


@pytest.mark.parametrize(("options", "error"), [
    ({"lengths": [3]}, RuntimeError), ({"lengths": [-1, 5]}, RuntimeError), ({}, RuntimeError),
    ({"indices": [0, 0, 1, 1], "lengths": [4]}, RuntimeError), ({"lengths": [[4]]}, RuntimeError),
    ({"lengths": [1.0, 3.0]}, NotImplementedError), ({"lengths": [4], "axis": 1}, IndexError),
    ({"lengths": [4], "reduce": "median"}, RuntimeError), ({"offsets": [0, 3, 1]}, RuntimeError),
])  # fmt: skip
def test_what_is_no_segments_is_refused(torch, options, error):
    for t, call in ((gw, segment_reduce), (torch, torch.segment_reduce)):
        given = {"reduce": "sum"} | {k: t.tensor(v) if isinstance(v, list) else v for k, v in options.items()}
        with pytest.raises(error):
            call(t.ones(4), **given)
    with pytest.raises(NotImplementedError, match="expected data of floating point, but got"):
        segment_reduce(gw.tensor([1, 2]), "sum", lengths=gw.tensor([2]))
    with pytest.raises(RuntimeError, match="ends after dim 0, of size 4"):  # PyTorch reads on
        segment_reduce(gw.ones(4), "sum", offsets=gw.tensor([0, 6]))
