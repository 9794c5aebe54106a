"""Losses."""

import pytest

import gradwright as gw


@pytest.mark.parametrize(("reduction", "loss", "slope"), [
    ("mean", 10 / 2, [1.0, -3.0]), ("sum", 10.0, [2.0, -6.0]), ("none", [1.0, 9.0], [2.0, -6.0]),
])  # fmt: skip
def test_mse_loss(lib, reduction, loss, slope):
    x, y = lib.tensor([2.0, 1.0], requires_grad=True), lib.tensor([1.0, 4.0], requires_grad=True)
    out = lib.nn.functional.mse_loss(x, y, reduction=reduction)
    out.sum().backward()
    assert out.tolist() == loss
    assert x.grad.tolist() == slope
    assert y.grad.tolist() == [-s for s in slope]


def test_mse_loss_warns_of_sizes_that_differ(lib):
    mse_loss = lib.nn.functional.mse_loss
    message = (r"^Using a target size \(torch.Size\(\[2\]\)\) that is different to the input size "
               r"\(torch.Size\(\[2, 1\]\)\). This will likely lead to incorrect results")  # fmt: skip
    with pytest.warns(UserWarning, match=message):
        assert mse_loss(lib.tensor([[0.0], [1.0]]), lib.tensor([0.0, 1.0])).item() == 0.5
    with (
        pytest.warns(UserWarning, match="Using a target size"),
        pytest.raises(RuntimeError, match=r"size of tensor a \(2\) must match the size of tensor b \(3\)"),
    ):
        mse_loss(lib.ones(2), lib.ones(3))


def test_mse_loss_reductions(lib):
    with pytest.raises(ValueError, match=r"^max is not a valid value for reduction"):
        lib.nn.functional.mse_loss(lib.ones(1), lib.ones(1), reduction="max")


def test_mse_loss_names_the_target():
    with pytest.raises(TypeError, match=r"^mse_loss\(\): argument 'target' \(position 2\) must be Tensor, not float$"):
        gw.nn.functional.mse_loss(gw.ones(1), 3.0)
