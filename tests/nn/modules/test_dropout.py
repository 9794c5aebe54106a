"""Dropout as modules."""

import pytest

import gradwright as gw
from tests.nn.module_cases import same

SHAPES = {
    "Dropout": (50, 40), "AlphaDropout": (50, 40), "Dropout1d": (50, 40, 3), "Dropout2d": (50, 40, 3, 2),
    "Dropout3d": (50, 40, 3, 2, 1), "FeatureAlphaDropout": (50, 40, 3),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_in_training(lib, name):
    m, x = getattr(lib.nn, name)(0.25), lib.ones(SHAPES[name], dtype=lib.float64, requires_grad=True)
    assert repr(m) == f"{name}(p=0.25, inplace=False)"
    y = m(x)
    y.sum().backward()
    dropped = (x.grad == 0).double()
    assert 0.2 < dropped.mean().item() < 0.3  # of 2,000: five standard deviations
    if name not in ("Dropout", "AlphaDropout"):
        by_channel = dropped.flatten(2).mean(2)
        assert set(by_channel.flatten().tolist()) == {0.0, 1.0}
    values = sorted(set(y.detach().round(decimals=9).flatten().tolist()))
    assert len(values) == 2
    if "Alpha" not in name:
        assert values == pytest.approx([0, 4 / 3])


@pytest.mark.parametrize("name", SHAPES)
def test_in_evaluation(lib, name):
    x = lib.ones(SHAPES[name])
    assert getattr(lib.nn, name)(0.9).eval()(x).equal(x)


@pytest.mark.parametrize("name", SHAPES)
def test_all_or_nothing_agrees_with_pytorch(torch, name):
    for p in (0.0, 1.0):
        same(torch, name, (p,), {}, torch.randn(SHAPES[name], requires_grad=True))


def test_alpha_dropout_keeps_mean_and_variance(lib):
    lib.manual_seed(0)
    y = lib.nn.AlphaDropout(0.3)(lib.randn(200, 500))
    assert abs(y.mean().item()) < 0.02
    assert abs(y.var().item() - 1) < 0.03


def test_in_place(lib):
    x = lib.ones(4)
    assert lib.nn.Dropout(1.0, inplace=True)(x) is x
    assert x.tolist() == [0] * 4
    assert repr(lib.nn.Dropout2d(0.5, True)) == "Dropout2d(p=0.5, inplace=True)"


@pytest.mark.parametrize("p", [-0.1, 1.1])
def test_no_probability(lib, p):
    with pytest.raises(ValueError, match="dropout probability has to be between 0 and 1, but got"):
        lib.nn.Dropout(p)


def test_the_seed_repeats_what_is_dropped():
    drawn = []
    for _ in range(2):
        gw.manual_seed(7)
        drawn.append(gw.nn.Dropout()(gw.ones(100)).tolist())
    assert drawn[0] == drawn[1]
