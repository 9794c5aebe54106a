"""Modules over another library's arrays, on a device that is not its default one: as over NumPy's."""

import copy
from typing import Any

import numpy as np
import pytest

import gradwright as gw
import gradwright.backends.strict
from gradwright.backends import to_host
from tests.nn.module_cases import database, double, in_both_modes, layer_of, tensors_in, translated

FAR = gw.device("array-api-strict", 1)
MANY = 24
"""Of more cases than these some are left out, evenly."""
REFUSED: dict[str, str] = {}
"""Modules that refuse the arrays of another library, and why."""


def moved(value: Any) -> Any:
    """``value`` with the tensors in it moved, as leaves."""
    if isinstance(value, (tuple, list)):
        return type(value)(map(moved, value))
    if isinstance(value, dict):
        return {name: moved(v) for name, v in value.items()}
    return value.detach().to(FAR).requires_grad_(value.requires_grad) if isinstance(value, gw.Tensor) else value


def results(module: Any, args: Any, kwargs: Any) -> list[Any]:
    """What a call gives, the gradients of parameters and inputs, and the state after it."""
    gw.manual_seed(2)
    outputs = list(tensors_in(module(*args, **kwargs)))
    real = [o for o in outputs if o.requires_grad]
    if real:
        sum((o * o.detach().cos()).sum() for o in real).backward()
    leaves = [*module.parameters(), *(t for t in tensors_in((args, kwargs)) if t.requires_grad)]
    return [*outputs, *(t.grad for t in leaves), *tensors_in(module.state_dict())]


def same(near: Any, args: Any, kwargs: Any) -> None:
    """Call a module and its copy far away, and compare all there is."""
    far = copy.deepcopy(near).to(FAR)
    here, there = results(near, args, kwargs), results(far, moved(args), moved(kwargs))
    assert len(here) == len(there)
    for a, b in zip(here, there, strict=True):
        if a is None or b is None:
            assert a is b
            continue
        assert (b.device, b.dtype, b.shape) == (FAR, a.dtype, a.shape)
        np.testing.assert_allclose(to_host(b.array), to_host(a.array), 1e-9, 1e-9)


def shorter(log_probs: Any, targets: Any, *lengths: Any) -> list[Any]:
    """The arguments of a `CTCLoss` with a tenth of the steps and labels: each costs as much as the next."""
    rows = targets.split([int(n) for n in lengths[1]]) if targets.ndim == 1 else targets
    cut = [gw.tensor([5, 5, 5]), gw.tensor([3, 2, 2])]
    labels = gw.cat([row[:n] for row, n in zip(rows, [3, 2, 2], strict=True)]) if targets.ndim == 1 else targets[:, :3]
    like = [n if isinstance(given, gw.Tensor) else tuple(n.tolist()) for n, given in zip(cut, lengths, strict=True)]
    return [log_probs[:5].detach().requires_grad_(), labels, *like]


@pytest.mark.parametrize(("name", "training"), in_both_modes())
def test_modules(torch: Any, name: str, training: bool) -> None:
    info = database()[name]
    with double(torch):
        cases = list(info.module_inputs_func(info, device="cpu", dtype=torch.float64, requires_grad=True,
                                             training=training))  # fmt: skip
        for case in cases[:: -(-len(cases) // MANY)]:
            made, called = case.constructor_input, case.forward_input
            args, kwargs = translated((made.args, made.kwargs), layer_of)
            gw.manual_seed(1)
            module = getattr(gw.nn, name.removeprefix("nn."))(*args, **kwargs).train(training)
            args, kwargs = translated((called.args, called.kwargs))
            args = shorter(*args) if name == "nn.CTCLoss" else args
            if name not in REFUSED:
                same(module, args, kwargs)
                continue
            with pytest.raises((TypeError, RuntimeError, ValueError), match=REFUSED[name]):
                same(module, args, kwargs)


@pytest.mark.parametrize("name", database())
@pytest.mark.filterwarnings("error:You are comparing")
def test_a_model_that_was_not_moved_is_told_from_its_inputs(torch: Any, name: str) -> None:
    info = database()[name]
    cases = info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=True, training=True)
    case = next(iter(cases))
    args, kwargs = translated((case.constructor_input.args, case.constructor_input.kwargs), layer_of)
    module = getattr(gw.nn, name.removeprefix("nn."))(*args, **kwargs)
    if list(module.parameters()):
        args, kwargs = moved(translated((case.forward_input.args, case.forward_input.kwargs)))
        with pytest.raises(RuntimeError, match=r"all tensors to be of one array library.*model\.to\(x\.device\)"):
            module(*args, **kwargs)


def near(here: Any, there: Any) -> None:
    assert there.device == FAR
    np.testing.assert_allclose(to_host(there.array), to_host(here.array), 1e-6, 1e-7)


@pytest.mark.parametrize("p", [2.0, 1.0, float("inf")])
def test_clipped_gradients(p: float) -> None:
    given = [(gw.randn(3, 2), 5 * gw.randn(3, 2)) for _ in range(3)]
    norms, grads = [], []
    for at in ("cpu", FAR):
        leaves = [x.to(at).requires_grad_() for x, _ in given]
        for leaf, (_, g) in zip(leaves, given, strict=True):
            leaf.grad = g.to(at, copy=True)
        norms.append(gw.nn.utils.clip_grad_norm_(leaves, 1.0, p))
        gw.nn.utils.clip_grad_value_(leaves, 0.2)
        grads.append([leaf.grad for leaf in leaves])
    for here, there in zip([norms[0], *grads[0]], [norms[1], *grads[1]], strict=True):
        near(here, there)


@pytest.mark.parametrize("bidirectional", [True, False])
def test_packed_sequences(bidirectional: bool) -> None:
    rnn = gw.nn.utils.rnn
    module = gw.nn.LSTM(2, 4, bidirectional=bidirectional)
    x, found = gw.randn(5, 3, 2), []
    for m, t in ((module, x), (copy.deepcopy(module).to(FAR), x.to(FAR))):
        packed, (h, c) = m(rnn.pack_padded_sequence(t, [3, 5, 2], enforce_sorted=False))
        y, lengths = rnn.pad_packed_sequence(packed, padding_value=-1.0)
        (y.sum() + h.sum()).backward()
        found.append([y, lengths, h, c, *(p.grad for p in m.parameters())])
    for here, there in zip(*found, strict=True):
        near(here, there)


P = gw.nn.utils.parametrizations


@pytest.mark.parametrize("constrained", [P.weight_norm, P.spectral_norm, P.orthogonal])
def test_parametrizations(constrained: Any) -> None:
    module = constrained(gw.nn.Linear(4, 3))
    x, found = gw.randn(2, 4), []
    for m, t in ((module, x), (copy.deepcopy(module).to(FAR), x.to(FAR))):
        y = m(t)
        (y * y).sum().backward()
        found.append([y, *(p.grad for p in m.parameters()), *m.state_dict().values()])
    for here, there in zip(*found, strict=True):
        near(here, there)


def test_a_state_made_elsewhere_is_loaded() -> None:
    here, there = gw.nn.BatchNorm1d(3), gw.nn.BatchNorm1d(3, device=FAR)
    here(gw.randn(5, 3))
    there.load_state_dict(here.state_dict())
    for a, b in zip(here.state_dict().values(), there.state_dict().values(), strict=True):
        near(a, b)


def test_lazy_layers_are_born_where_they_were_moved() -> None:
    net = gw.nn.Sequential(gw.nn.LazyLinear(3), gw.nn.LazyBatchNorm1d()).to(FAR)
    assert net(gw.randn(4, 2, device=FAR)).device == FAR
    assert {t.device for t in net.state_dict().values()} == {FAR}


@pytest.mark.parametrize("call", [
    lambda at: gw.nn.functional.embedding(gw.tensor([5], device=at), gw.zeros(3, 2, device=at)),
    lambda at: gw.nn.functional.cross_entropy(gw.zeros(2, 3, device=at), gw.tensor([0, 7], device=at)),
    lambda at: gw.nn.functional.binary_cross_entropy(gw.tensor([1.5], device=at), gw.ones(1, device=at)),
    lambda at: gw.nn.functional.one_hot(gw.tensor([-1], device=at)),
])  # fmt: skip
def test_checks_of_values_say_the_same(call: Any) -> None:
    said = []
    for at in ("cpu", FAR):
        with pytest.raises((IndexError, RuntimeError)) as e:
            call(at)
        said.append((e.type, str(e.value)))
    assert said[0] == said[1]


@pytest.mark.parametrize("draw", [gw.nn.functional.dropout, gw.nn.functional.gumbel_softmax, gw.nn.Dropout1d(),
                                  gw.nn.RReLU(), gw.nn.FractionalMaxPool2d(2, 3)])  # fmt: skip
def test_the_same_random_numbers(draw: Any) -> None:
    x, found = gw.randn(1, 8, 8), []
    for t in (x, x.to(FAR)):
        gw.manual_seed(3)
        found.append(draw(t))
    near(*found)
