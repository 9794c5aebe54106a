"""Linear and Identity."""

import math

import numpy as np
import pytest

import gradwright as gw


def layer(lib, bias=True, dtype=None):
    """in 3, out 2, weight [[0, 1, 2], [3, 4, 5]], bias [10, 20]."""
    m = lib.nn.Linear(3, 2, bias=bias, dtype=dtype)
    m.load_state_dict({"weight": lib.arange(6.0).reshape(2, 3)} | ({"bias": lib.tensor([10.0, 20.0])} if bias else {}))
    return m


def test_repr_and_attributes(lib):
    m = lib.nn.Linear(3, 2)
    assert repr(m) == "Linear(in_features=3, out_features=2, bias=True)"
    assert (m.in_features, m.out_features, m.weight.shape, m.bias.shape) == (3, 2, (2, 3), (2,))
    assert [name for name, _ in m.named_parameters()] == ["weight", "bias"]
    assert {p.dtype for p in m.parameters()} == {lib.float32}
    assert all(p.requires_grad and p.is_leaf for p in m.parameters())


def test_without_a_bias(lib):
    m = layer(lib, bias=False)
    assert repr(m) == "Linear(in_features=3, out_features=2, bias=False)"
    assert m.bias is None
    assert list(m._parameters) == ["weight", "bias"]
    assert list(m.state_dict()) == ["weight"]
    assert m(lib.ones(1, 3)).tolist() == [[3, 12]]


@pytest.mark.parametrize(("x", "y"), [
    ([1.0, 1, 1], [13.0, 32]),
    ([[1.0, 0, 0], [0, 0, 1]], [[10.0, 23], [12, 25]]),
    ([[[1.0, 0, 0]], [[0, 1, 0]]], [[[10.0, 23]], [[11, 24]]]),
])  # fmt: skip
def test_forward(lib, x, y):
    assert layer(lib)(lib.tensor(x)).tolist() == y


def test_gradients(lib):
    m, x = layer(lib), lib.tensor([[1.0, 2, 3], [4, 5, 6]], requires_grad=True)
    m(x).backward(lib.tensor([[1.0, 0], [0, 2]]))
    assert x.grad.tolist() == [[0, 1, 2], [6, 8, 10]]
    assert m.weight.grad.tolist() == [[1, 2, 3], [8, 10, 12]]
    assert m.bias.grad.tolist() == [1, 2]


def test_second_order():
    m = layer(gw, dtype=gw.float64)
    x = gw.tensor([[0.1, 0.2, 0.3], [-1.0, 0.5, 2.0]], dtype=gw.float64, requires_grad=True)

    def squared(x, weight, bias):
        return gw.nn.functional.linear(x, weight, bias) ** 2

    assert gw.autograd.gradgradcheck(squared, (x, m.weight, m.bias))


def test_dtype(lib):
    m = lib.nn.Linear(3, 2, dtype=lib.float64)
    assert {p.dtype for p in m.parameters()} == {lib.float64}
    assert m(lib.ones(1, 3, dtype=lib.float64)).dtype is lib.float64


def test_initial_values_are_uniform_within_the_bound(lib):
    n = 400
    m = lib.nn.Linear(n, 500)
    for values in (m.weight, m.bias):
        drawn = values.detach().numpy().ravel() * math.sqrt(n)
        assert np.abs(drawn).max() <= 1
        error = 4 / math.sqrt(drawn.size)  # four standard errors, at least
        assert abs(drawn.mean()) < error
        assert abs((drawn**2).mean() - 1 / 3) < error
        assert np.abs(drawn).max() > 0.97


def test_reset_parameters_draws_anew_in_place(lib):
    m = lib.nn.Linear(3, 2)
    weight, before = m.weight, m.weight.tolist()
    m.reset_parameters()
    assert m.weight is weight
    assert m.weight.tolist() != before
    assert m.weight.is_leaf


def test_reset_parameters_touches_weight_and_bias_only(lib):
    m = lib.nn.Linear(3, 2)
    m.extra = lib.nn.Parameter(lib.full((2,), 7.0))
    m.below = lib.nn.Linear(3, 2)
    before = m.below.weight.tolist()
    m.reset_parameters()
    assert m.extra.tolist() == [7, 7]
    assert m.below.weight.tolist() == before


def test_manual_seed_repeats_the_values(lib):
    drawn = []
    for _ in range(2):
        lib.manual_seed(3)
        drawn.append(lib.nn.Linear(3, 2).weight.tolist())
    assert drawn[0] == drawn[1]


def test_errors(lib):
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        lib.nn.Linear(3, 2)(lib.ones(1, 4))
    with pytest.raises(RuntimeError, match="dtype"):
        lib.nn.Linear(3, 2)(lib.ones(1, 3, dtype=lib.float64))
    with pytest.raises(TypeError, match=r"linear\(\): argument 'input' \(position 1\) must be Tensor, not list"):
        lib.nn.Linear(3, 2)([1.0, 2.0, 3.0])
    with pytest.raises(RuntimeError, match="negative dimension -1"):
        lib.nn.Linear(-1, 2)
    with pytest.raises(TypeError, match="float"):
        lib.nn.Linear(2.5, 2)
    with pytest.raises(RuntimeError, match="Only Tensors of floating point"):
        lib.nn.Linear(3, 2, dtype=lib.int64)


@pytest.mark.parametrize("bias", [True, False])
def test_no_other_device(bias):
    with pytest.raises(RuntimeError, match="gradwright has no device 'cuda'"):
        gw.nn.Linear(3, 2, bias=bias, device="cuda")


def test_identity(lib):
    m = lib.nn.Identity(54, unused=0.1)
    x = lib.ones(2)
    assert m(x) is x
    assert repr(m) == "Identity()"
    assert list(m.parameters()) == []


def test_sizes_of_zero():
    # PyTorch warns here that there is nothing to initialise.
    assert gw.nn.Linear(0, 2).bias.tolist() == [0, 0]
    assert gw.nn.Linear(0, 2)(gw.ones(3, 0)).tolist() == [[0, 0]] * 3
    assert gw.nn.Linear(2, 0)(gw.ones(3, 2)).shape == (3, 0)


def test_bilinear(lib):
    m = lib.nn.Bilinear(2, 3, 400, bias=False)
    assert m.bias is None
    assert m.weight.shape == (400, 2, 3)
    assert 0.99 < m.weight.detach().abs().max().item() * math.sqrt(2) <= 1
    with pytest.raises(ValueError, match="in1_features must be"):
        lib.nn.Bilinear(0, 3, 4)


def test_a_wrong_input_is_told_what_a_bilinear_layer_takes():
    with pytest.raises(RuntimeError) as caught:
        gw.nn.Bilinear(2, 3, 4)(gw.ones(5, 2), gw.ones(5, 2))
    assert caught.value.__notes__[0].endswith("it takes (..., 2) and (..., 3)")
