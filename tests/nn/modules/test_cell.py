"""One step of a recurrent network."""

import pytest

import gradwright as gw

CELLS = ["RNNCell", "LSTMCell", "GRUCell"]


@pytest.mark.parametrize("name", CELLS)
def test_parameters(lib, name):
    m = getattr(lib.nn, name)(3, 2, bias=False)
    rows = {"RNNCell": 2, "LSTMCell": 8, "GRUCell": 6}[name]
    assert {k: tuple(v.shape) for k, v in m.state_dict().items()} == {"weight_ih": (rows, 3), "weight_hh": (rows, 2)}
    assert m.bias_ih is None
    assert repr(m) == f"{name}(3, 2, bias=False)"
    assert max(p.abs().max().item() for p in m.parameters()) <= 2**-0.5
    assert isinstance(m, lib.nn.RNNCellBase)


@pytest.mark.parametrize("name", CELLS)
def test_second_derivatives(name):
    gw.manual_seed(0)
    m = getattr(gw.nn, name)(3, 2, dtype=gw.float64)
    x, h, c = (gw.randn(2, n, dtype=gw.float64, requires_grad=True) for n in (3, 2, 2))
    given = (lambda x, h, c: m(x, (h, c))[0]) if name == "LSTMCell" else lambda x, h, c: m(x, h) + 0 * c
    assert gw.autograd.gradgradcheck(given, (x, h, c))


def test_a_gated_step_by_hand():
    m = gw.nn.LSTMCell(1, 1)
    for p in m.parameters():
        p.detach().fill_(0.0)
    m.bias_ih.detach()[1] = 100.0  # forget nothing
    h, c = m(gw.zeros(1), (gw.zeros(1), gw.tensor([2.0])))
    assert c.tolist() == [2.0]
    assert h.item() == pytest.approx(0.5 * gw.tensor(2.0).tanh().item())


def test_an_unknown_nonlinearity(lib):
    m = lib.nn.RNNCell(3, 2, nonlinearity="sine")
    assert repr(m) == "RNNCell(3, 2, nonlinearity=sine)"
    with pytest.raises(RuntimeError, match="Unknown nonlinearity: sine"):
        m(lib.ones(1, 3))


@pytest.mark.parametrize("name", [*CELLS, "RNN", "LSTM", "GRU"])
def test_a_state_of_another_dtype(lib, name):
    x, h = lib.ones(5, 2, 3), lib.ones(1, 2, 4, dtype=lib.float64)
    x, h = (x[0], h[0]) if name in CELLS else (x, h)
    with pytest.raises(RuntimeError, match=r"dtype|data type"):
        getattr(lib.nn, name)(3, 4)(x, (h, h) if "LSTM" in name else h)


@pytest.mark.parametrize("name", CELLS)
def test_an_input_of_another_dtype(lib, name):
    with pytest.raises(RuntimeError, match="dtype"):
        getattr(lib.nn, name)(3, 4)(lib.ones(2, 3, dtype=lib.float64))


@pytest.mark.parametrize("name", CELLS)
def test_too_many_dims(lib, name):
    with pytest.raises(ValueError, match=f"{name}: Expected input to be 1D or 2D, got 3D instead"):
        getattr(lib.nn, name)(3, 2)(lib.ones(1, 1, 3))
