"""Recurrent networks over sequences."""

import numpy as np
import pytest

import gradwright as gw
from tests.nn.module_cases import compare

NAMES = ["RNN", "LSTM", "GRU"]
CELLS = ["RNNCell", "LSTMCell", "GRUCell"]
draw = np.random.default_rng(0)


OPTIONS = [
    {}, {"num_layers": 2, "bidirectional": True}, {"bias": False, "batch_first": True}, {"proj_size": 2},
    {"num_layers": 2, "bidirectional": True, "proj_size": 2, "bias": False},
]  # fmt: skip


def twins(torch, name, **options):
    mine, theirs = (getattr(lib.nn, name)(3, 4, dtype=lib.float64, **options) for lib in (gw, torch))
    mine.load_state_dict({k: gw.tensor(v.numpy()) for k, v in theirs.state_dict().items()})
    return mine, theirs


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("shape", [(5, 2, 3), (5, 3)])
def test_options_are_those_of_torch(torch, name, options, shape):
    if "proj_size" in options and name != "LSTM":
        pytest.skip("only an LSTM projects")
    mine, theirs = twins(torch, name, **options)
    x = torch.tensor(draw.standard_normal(shape)).requires_grad_()
    compare(mine, theirs, (x,))
    n = len(theirs.all_weights)
    batch = () if len(shape) == 2 else (shape[0] if options.get("batch_first") else shape[1],)
    sizes = [options.get("proj_size", 4), 4][: 2 if name == "LSTM" else 1]
    first = [torch.tensor(draw.standard_normal((n, *batch, size))).requires_grad_() for size in sizes]
    mine.zero_grad()
    theirs.zero_grad()
    compare(mine, theirs, (x, tuple(first) if name == "LSTM" else first[0]))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("options", [{}, {"num_layers": 2, "bidirectional": True}])
@pytest.mark.parametrize("given", [False, True])
def test_packed_sequences(torch, name, options, given):
    data = draw.standard_normal((5, 3, 3))
    first = draw.standard_normal((4 if options else 1, 3, 4))
    found = []
    for lib, m in zip((gw, torch), twins(torch, name, **options), strict=True):
        x, h = (lib.tensor(a).requires_grad_() for a in (data, first))
        packed = lib.nn.utils.rnn.pack_padded_sequence(x, lib.tensor([2, 5, 3]), enforce_sorted=False)
        y, last = m(packed, ((h, h) if name == "LSTM" else h) if given else None)
        assert isinstance(y, lib.nn.utils.rnn.PackedSequence)
        padded, lengths = lib.nn.utils.rnn.pad_packed_sequence(y)
        assert lengths.tolist() == [2, 5, 3]
        last = lib.stack(last) if name == "LSTM" else last
        ((padded * padded).sum() + last.cos().sum()).backward()
        grads = [x.grad, *([h.grad] if given else []), *(p.grad for p in m.parameters())]
        found.append([t.detach().numpy() for t in (padded, last, *grads)])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, 1e-9, 1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_a_packed_sequence_is_each_sequence_by_itself(name):
    m = getattr(gw.nn, name)(3, 4, bidirectional=True, dtype=gw.float64)
    sequences = [gw.tensor(draw.standard_normal((n, 3))) for n in (4, 2, 1)]
    packed = gw.nn.utils.rnn.pack_sequence(sequences)
    padded, _ = gw.nn.utils.rnn.pad_packed_sequence(m(packed)[0])
    for i, s in enumerate(sequences):
        np.testing.assert_allclose(padded[: len(s), i].detach(), m(s)[0].detach(), 1e-12)


def test_second_derivatives_over_time():
    m = gw.nn.GRU(2, 2, dtype=gw.float64)
    x = gw.tensor(draw.standard_normal((3, 1, 2)), requires_grad=True)
    assert gw.autograd.gradgradcheck(lambda x: m(x)[0], x)


def test_dropout_is_between_layers_and_in_training_only():
    gw.manual_seed(0)
    m = gw.nn.RNN(3, 50, num_layers=2, dropout=0.5)
    x = gw.ones(1, 1, 3)
    assert m(x)[0].tolist() != m(x)[0].tolist()
    assert (m(x)[0] != 0).all()
    m.eval()
    assert m(x)[0].tolist() == m(x)[0].tolist()


def test_names_and_printing(lib):
    m = lib.nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True, proj_size=2)
    assert repr(m) == "LSTM(3, 4, proj_size=2, num_layers=2, batch_first=True, bidirectional=True)"
    assert [n for n, _ in m.named_parameters()][4:6] == ["weight_hr_l0", "weight_ih_l0_reverse"]
    assert m.weight_ih_l1_reverse.shape == (16, 4)
    assert [len(w) for w in m.all_weights] == [5] * 4
    m.flatten_parameters()
    assert repr(lib.nn.GRU(3, 4, 2, dropout=0.5, bias=False)) == "GRU(3, 4, num_layers=2, bias=False, dropout=0.5)"
    assert lib.nn.RNN(3, 4, 1, "relu").mode == "RNN_RELU"
    assert isinstance(m, lib.nn.RNNBase)


@pytest.mark.parametrize(("make", "error", "message"), [
    (lambda nn: nn.RNN(3, 4, nonlinearity="sine"), ValueError, "Unknown nonlinearity 'sine'. Select from 'tanh' or"),
    (lambda nn: nn.GRU(3, 4, proj_size=2), ValueError, "proj_size argument is only supported for LSTM, not RNN or GRU"),
    (lambda nn: nn.LSTM(3, 4, proj_size=4), ValueError, "proj_size has to be smaller than hidden_size"),
    (lambda nn: nn.LSTM(3, 4, proj_size=-1), ValueError, "proj_size should be a positive integer or zero to disable"),
    (lambda nn: nn.LSTM(3, 4, dropout=True), ValueError, r"dropout should be a number in range \[0, 1\] representing"),
    (lambda nn: nn.RNNBase("GATED", 3, 4), ValueError, "Unrecognized RNN mode: GATED"),
])  # fmt: skip
def test_refuses_arguments(lib, make, error, message):
    with pytest.raises(error, match=message):
        make(lib.nn)


@pytest.mark.parametrize(("name", "shape", "states", "error", "message"), [
    ("RNN", (3,), None, ValueError, "RNN: Expected input to be 2D or 3D, got 1D "),
    ("GRU", (5, 2, 4), None, RuntimeError, r"input.size\(-1\) must be equal to input_size. Expected 3, got 4"),
    ("GRU", (0, 2, 3), None, RuntimeError, "Expected sequence length to be larger than 0 in RNN"),
    ("GRU", (5, 2, 3), (1, 4), RuntimeError, "For batched 3-D input, hx should also be 3-D but got 2-D tensor"),
    ("GRU", (5, 3), (1, 1, 4), RuntimeError, "For unbatched 2-D input, hx should also be 2-D but got 3-D tensor"),
    ("GRU", (5, 2, 3), (1, 3, 4), RuntimeError, r"Expected hidden size \(1, 2, 4\), got \[1, 3, 4\]"),
    ("LSTM", (5, 2, 3), (1, 4), RuntimeError, "For batched 3-D input, hx and cx should also be 3-D but got"),
    ("LSTM", (5, 2, 3), (1, 3, 4), RuntimeError, r"Expected hidden\[0\] size \(1, 2, 4\), got \[1, 3, 4\]"),
])  # fmt: skip
def test_refuses_inputs(lib, name, shape, states, error, message):
    h = None if states is None else lib.zeros(states)
    with pytest.raises(error, match=message):
        getattr(lib.nn, name)(3, 4)(lib.zeros(shape), (h, h) if name == "LSTM" and h is not None else h)


def test_dropout_of_a_single_layer_warns(lib):
    with pytest.warns(UserWarning, match="dropout option adds dropout after all but last recurrent layer, so non-zero"):
        lib.nn.RNN(3, 4, dropout=0.5)


@pytest.mark.parametrize(("name", "states", "kind", "message"), [
    ("LSTM", 1, (RuntimeError, IndexError), r"^lstm expects two hidden states, \(h_0, c_0\), but got 1"),
    ("LSTM", 3, RuntimeError, "^lstm expects two hidden states"),
    ("GRU", 1, (TypeError, AttributeError), r"^GRU\(\): argument 'hx' \(position 2\) must be Tensor, not tuple"),
    ("RNN", 1, (TypeError, AttributeError), r"^RNN\(\): argument 'hx' \(position 2\) must be Tensor, not tuple"),
    ("LSTMCell", 0, TypeError, r"^lstm_cell\(\): argument 'hx' \(position 2\) must be tuple of Tensors, .*not Tensor"),
])  # fmt: skip
def test_states_in_another_form(lib, name, states, kind, message):
    cell = name.endswith("Cell")
    x, h = lib.zeros((2, 3) if cell else (5, 2, 3)), lib.zeros((2, 4) if cell else (1, 2, 4))
    with pytest.raises(kind, match=message if lib is gw else None):
        getattr(lib.nn, name)(3, 4)(x, (h,) * states if states else h)


@pytest.mark.parametrize("name", CELLS)
def test_parameters_of_a_cell(lib, name):
    m = getattr(lib.nn, name)(3, 2, bias=False)
    rows = {"RNNCell": 2, "LSTMCell": 8, "GRUCell": 6}[name]
    assert {k: tuple(v.shape) for k, v in m.state_dict().items()} == {"weight_ih": (rows, 3), "weight_hh": (rows, 2)}
    assert m.bias_ih is None
    assert repr(m) == f"{name}(3, 2, bias=False)"
    assert max(p.abs().max().item() for p in m.parameters()) <= 2**-0.5
    assert isinstance(m, lib.nn.RNNCellBase)


@pytest.mark.parametrize("name", CELLS)
def test_second_derivatives_of_a_step(name):
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
def test_an_input_of_another_dtype_for_a_step(lib, name):
    with pytest.raises(RuntimeError, match="dtype"):
        getattr(lib.nn, name)(3, 4)(lib.ones(2, 3, dtype=lib.float64))


@pytest.mark.parametrize("name", CELLS)
def test_too_many_dims_of_a_step(lib, name):
    with pytest.raises(ValueError, match=f"{name}: Expected input to be 1D or 2D, got 3D instead"):
        getattr(lib.nn, name)(3, 2)(lib.ones(1, 1, 3))
