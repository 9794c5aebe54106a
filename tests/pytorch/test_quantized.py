"""Fake quantisation beside PyTorch's."""

import pytest

import gradwright as gw
from gradwright.pytorch import quantized

VALUES = [[0.12, 0.5, 9.0, -3.0], [0.25, -0.05, 1.45, 0.349]]

CALLS = {
    "numbers": lambda q, t, x: q.fake_quantize_per_tensor_affine(x, 0.1, 0, 0, 15),
    "signed": lambda q, t, x: q.fake_quantize_per_tensor_affine(x, 0.3, -3, -8, 7),
    "tensors": lambda q, t, x: q.fake_quantize_per_tensor_affine(
        x, t.tensor([0.1]), t.tensor([2], dtype=t.int32), 0, 15),
    "rows": lambda q, t, x: q.fake_quantize_per_channel_affine(
        x, t.tensor([0.1, 0.2]), t.tensor([0, 3], dtype=t.int32), 0, 0, 15),
    "columns": lambda q, t, x: q.fake_quantize_per_channel_affine(
        x, t.tensor([0.1, 0.2, 0.3, 0.4]), t.tensor([0, 3, 1, 2], dtype=t.int32), 1, 0, 15),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients_are_pytorchs(torch, name):
    found = []
    for q, t in ((quantized, gw), (torch, torch)):
        x = t.tensor(VALUES, requires_grad=True)
        y = CALLS[name](q, t, x)
        y.backward(t.tensor([[1.0, 2, 3, 4], [5, 6, 7, 8]]))
        found.append((y.tolist(), x.grad.tolist()))
    assert found[0] == found[1]


WRONG = {
    "ends": (lambda q, t, x: q.fake_quantize_per_tensor_affine(x, 0.1, 0, 15, 0), RuntimeError),
    "zero point": (lambda q, t, x: q.fake_quantize_per_tensor_affine(x, 0.1, 99, 0, 15), RuntimeError),
    "length": (lambda q, t, x: q.fake_quantize_per_channel_affine(
        x, t.tensor([0.1, 0.2]), t.tensor([0, 3], dtype=t.int32), 1, 0, 15), RuntimeError),
    "zero points": (lambda q, t, x: q.fake_quantize_per_channel_affine(
        x, t.tensor([0.1, 0.2]), t.tensor([0, 30], dtype=t.int32), 0, 0, 15), RuntimeError),
    "axis": (lambda q, t, x: q.fake_quantize_per_channel_affine(
        x, t.tensor([0.1, 0.2]), t.tensor([0, 3], dtype=t.int32), 5, 0, 15), IndexError),
    "no zero point": (lambda q, t, x: q.fake_quantize_per_tensor_affine(x, 0.1, [0, 0], 0, 15), TypeError),
    "half a zero point": (lambda q, t, x: q.fake_quantize_per_tensor_affine(x, 0.1, 0.5, 0, 15), TypeError),
    "no scale": (lambda q, t, x: q.fake_quantize_per_tensor_affine(x, "x", 0, 0, 15), TypeError),
    "no zero points": (lambda q, t, x: q.fake_quantize_per_channel_affine(
        x, t.tensor([0.1, 0.2]), [0, 0], 0, 0, 15), TypeError),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_pytorchs(torch, name):
    call, error = WRONG[name]
    for q, t in ((quantized, gw), (torch, torch)):
        with pytest.raises(error):
            call(q, t, t.tensor(VALUES))


def test_the_gradient_is_declared_untrue():
    x = gw.tensor(VALUES, requires_grad=True)
    assert "straight-through" in quantized.fake_quantize_per_tensor_affine(x, 0.1, 0, 0, 15).grad_fn.surrogate
    with pytest.raises(TypeError, match="expected `zero_point` to be a whole number, or a tensor of one, but got list"):
        quantized.fake_quantize_per_tensor_affine(x, 0.1, [0, 0], 0, 15)
    with pytest.raises(RuntimeError, match="`scale` must be a number, or a tensor of one"):
        quantized.fake_quantize_per_tensor_affine(x, gw.ones(2), 0, 0, 15)
