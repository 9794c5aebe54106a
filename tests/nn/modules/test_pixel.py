"""Layers that trade channels for pixels."""

import pytest

from tests.nn.module_cases import same


@pytest.mark.parametrize(("name", "arg", "shape"), [
    ("PixelShuffle", 2, (3, 8, 2, 3)), ("PixelShuffle", 3, (9, 2, 1)), ("PixelUnshuffle", 2, (3, 2, 4, 6)),
    ("ChannelShuffle", 3, (2, 6, 2, 2)),
])  # fmt: skip
def test_pytorch_agrees(torch, name, arg, shape):
    same(torch, name, (arg,), {}, torch.randn(shape, requires_grad=True))


def test_errors(lib):
    with pytest.raises(RuntimeError, match="divisible by"):
        lib.nn.PixelUnshuffle(2)(lib.ones(1, 1, 3, 4))
    with pytest.raises(RuntimeError, match="divisible by"):
        lib.nn.ChannelShuffle(2)(lib.ones(1, 3, 4))
