"""Pooling as modules."""

import pytest

import gradwright as gw
from tests.nn.module_cases import same


@pytest.mark.parametrize(("name", "settings"), [
    ("MaxPool2d", {"stride": 1, "padding": (1, 0), "dilation": (1, 2), "ceil_mode": True}),
    ("MaxPool2d", {"return_indices": True}),
    ("AvgPool2d", {"stride": (1, 2), "padding": 1, "ceil_mode": True, "count_include_pad": False}),
    ("AvgPool2d", {"divisor_override": 3}),
    ("AvgPool1d", {"padding": 1, "stride": 2}),
    ("MaxPool1d", {"padding": 1, "stride": 2}),
])  # fmt: skip
def test_settings(torch, name, settings):
    shape = (3, 5, 7) if "1d" in name else (2, 3, 5, 7)
    same(torch, name, (3,), settings, torch.randn(shape, requires_grad=True))


@pytest.mark.parametrize("norm", [1, 2.0, float("inf")])
def test_p_norms(torch, norm):
    same(torch, "LPPool2d", (norm, (2, 3)), {"stride": 2}, torch.rand(2, 3, 5, 7).requires_grad_())


@pytest.mark.parametrize("n", [2, 3])
def test_fractions(torch, n):
    size = (4, 5, 3)[:n]
    x, u = torch.randn(2, 3, *(9, 10, 7)[:n], requires_grad=True), torch.rand(2, 3, n)
    same(torch, f"FractionalMaxPool{n}d", (2, size), {"_random_samples": u, "return_indices": True}, x)
    same(torch, f"FractionalMaxPool{n}d", (2,), {"_random_samples": u, "output_ratio": 0.5}, x)


@pytest.mark.parametrize(("kwargs", "message"), [
    ({}, "FractionalMaxPool2d requires specifying either an output size, or a pooling ratio"),
    ({"output_size": 2, "output_ratio": 0.5}, "only one of output_size and output_ratio may be specified"),
    ({"output_ratio": (0.5, 1.5)}, "output_ratio must be between 0 and 1"),
])  # fmt: skip
def test_fractions_refused(lib, kwargs, message):
    with pytest.raises(ValueError, match=message):
        lib.nn.FractionalMaxPool2d(2, **kwargs)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_way_back(torch, n):
    pool = getattr(torch.nn, f"MaxPool{n}d")(2, return_indices=True)
    values, places = pool(torch.randn(2, 3, *(4, 6, 8)[:n]))
    same(torch, f"MaxUnpool{n}d", (2,), {}, values.requires_grad_(), places)


def test_the_way_back_to_another_size(lib):
    x = lib.arange(25.0).reshape(1, 5, 5)
    pooled = lib.nn.MaxPool2d(2, stride=2, return_indices=True)(x)
    back = lib.nn.MaxUnpool2d(2, stride=2)
    assert back(*pooled, output_size=(5, 5)).sum().item() == pooled[0].sum().item()
    assert repr(back) == "MaxUnpool2d(kernel_size=(2, 2), stride=(2, 2), padding=(0, 0))"
    with pytest.raises(ValueError, match="invalid output_size"):
        back(*pooled, output_size=(7, 7))


def test_the_stride_is_the_window():
    assert gw.nn.MaxPool2d((2, 3)).stride == (2, 3)
    assert (gw.nn.AvgPool1d(2).kernel_size, gw.nn.AvgPool1d(2).stride) == ((2,), (2,))


@pytest.mark.parametrize("size", [3, (2, None), (1, 1), (5, 4)])
@pytest.mark.parametrize("kind", ["Avg", "Max"])
def test_to_a_size(torch, kind, size):
    same(torch, f"Adaptive{kind}Pool2d", (size,), {}, torch.randn(2, 3, 5, 7, requires_grad=True))


def test_places_of_windows_that_cover_the_input(torch):
    same(torch, "AdaptiveMaxPool1d", (2, True), {}, torch.randn(3, 7, requires_grad=True))
    assert gw.nn.AdaptiveMaxPool1d(1, return_indices=True)(gw.tensor([[1.0, 5.0, 2.0]]))[1].tolist() == [[1]]
