"""Windows of images as columns, as modules."""

import pytest

from tests.nn.module_cases import same

SETTINGS = [{}, {"dilation": (2, 1), "padding": 1}, {"padding": (1, 0), "stride": 2}]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_pytorch_agrees(torch, settings):
    image = torch.randn(2, 3, 5, 6, requires_grad=True)
    same(torch, "Unfold", ((2, 3),), settings, image)
    columns = torch.nn.Unfold((2, 3), **settings)(image.double()).detach().requires_grad_()
    same(torch, "Fold", ((5, 6), (2, 3)), settings, columns)


def test_without_a_batch(torch):
    same(torch, "Unfold", (2,), {}, torch.randn(3, 5, 6, requires_grad=True))
