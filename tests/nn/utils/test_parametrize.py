"""Parametrizations: the same programs on gradwright and on PyTorch."""

import copy
import pickle  # noqa: TID251 - what is loaded here was made here

import pytest

import gradwright as gw


@pytest.fixture
def P(lib):
    return lib.nn.utils.parametrize


@pytest.fixture
def layer(lib):
    m = lib.nn.Linear(2, 2)
    m.load_state_dict({"weight": lib.arange(4.0).reshape(2, 2), "bias": lib.zeros(2)})
    return m


def made(lib, forward, inverse=None):
    """A parametrization of these functions."""

    class Made(lib.nn.Module):
        def forward(self, *args):
            return forward(*args)

    if inverse is not None:
        Made.right_inverse = lambda self, x: inverse(x)
    return Made()


def symmetric(lib):
    return made(lib, lambda x: x.triu() + x.triu(1).mT, lambda x: x.triu())


def names(m):
    return [name for name, _ in m.named_parameters()]


def test_a_parameter_is_computed(lib, P, layer):
    assert P.register_parametrization(layer, "weight", symmetric(lib)) is layer
    assert layer.weight.tolist() == [[0, 1], [1, 3]]
    assert names(layer) == ["bias", "parametrizations.weight.original"]
    assert type(layer).__name__ == "ParametrizedLinear"
    assert isinstance(layer, lib.nn.Linear)
    assert P.type_before_parametrizations(layer) is lib.nn.Linear
    assert (P.is_parametrized(layer), P.is_parametrized(layer, "weight"), P.is_parametrized(layer, "bias")) == (
        True, True, False,
    )  # fmt: skip
    layer(lib.ones(1, 2)).sum().backward()
    assert layer.parametrizations.weight.original.grad.tolist() == [[1, 2], [0, 1]]
    assert repr(layer) == (
        "ParametrizedLinear(\n  in_features=2, out_features=2, bias=True\n  (parametrizations): ModuleDict(\n"
        "    (weight): ParametrizationList(\n      (0): Made()\n    )\n  )\n)"
    )


def test_assigning_goes_through_the_inverse(lib, P, layer):
    P.register_parametrization(layer, "weight", made(lib, lambda x: 2 * x, lambda x: x / 2))
    original = layer.parametrizations.weight.original
    assert original.tolist() == [[0, 0.5], [1, 1.5]]
    layer.weight = lib.ones(2, 2)
    assert original.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert layer.parametrizations.weight.original is original


def test_one_on_another(lib, P, layer):
    P.register_parametrization(layer, "weight", symmetric(lib))
    P.register_parametrization(layer, "weight", made(lib, lambda x: 2 * x, lambda x: x / 2))
    assert layer.weight.tolist() == [[0, 2], [2, 6]]
    layer.weight = lib.full((2, 2), 4.0)
    assert layer.parametrizations.weight.original.tolist() == [[2, 2], [0, 2]]


def test_from_several_tensors(lib, P, layer):
    P.register_parametrization(layer, "weight", made(lib, lambda x, y: x * y, lambda x: (x, lib.ones(2, 1))))
    assert names(layer)[1:] == ["parametrizations.weight.original0", "parametrizations.weight.original1"]
    layer(lib.ones(1, 2)).sum().backward()
    assert layer.parametrizations.weight.original1.grad.tolist() == [[1], [5]]
    layer.weight = lib.full((2, 2), 3.0)
    P.remove_parametrizations(layer, "weight")
    assert layer.weight.tolist() == [[3, 3], [3, 3]]
    assert isinstance(layer.weight, lib.nn.Parameter)


@pytest.mark.parametrize("leave", [True, False])
def test_removing(lib, P, layer, leave):
    P.register_parametrization(layer, "weight", made(lib, lambda x: 2 * x))
    original = layer.parametrizations.weight.original
    assert P.remove_parametrizations(layer, "weight", leave_parametrized=leave) is layer
    assert layer.weight is original
    assert layer.weight.tolist() == ([[0, 2], [4, 6]] if leave else [[0, 1], [2, 3]])
    assert type(layer) is lib.nn.Linear
    assert not hasattr(layer, "parametrizations")
    assert sorted(names(layer)) == ["bias", "weight"]


def test_buffers(lib, P):
    m = lib.nn.Module()
    m.register_buffer("b", lib.ones(2, 2))
    P.register_parametrization(m, "b", symmetric(lib))
    assert list(m.state_dict()) == ["parametrizations.b.original"]
    assert m.b.tolist() == [[1, 1], [1, 1]]
    P.remove_parametrizations(m, "b")
    assert list(m._buffers) == ["b"]


def test_cached(lib, P, layer):
    runs = []
    P.register_parametrization(layer, "weight", made(lib, lambda x: runs.append(1) or 2 * x))
    runs.clear()
    with P.cached():
        first = layer.weight
        with P.cached():
            assert layer.weight is first
        assert layer.weight is first
    assert len(runs) == 1
    assert layer.weight is not first


def test_modes_and_conversion_reach_it(lib, P, layer):
    layer.eval()
    one = made(lib, lambda x: x)
    P.register_parametrization(layer, "weight", one)
    assert not one.training
    assert not layer.parametrizations.weight.training or lib is not gw
    assert layer.double().weight.dtype is lib.float64


def test_state_dicts_load(lib, P, layer):
    P.register_parametrization(layer, "weight", symmetric(lib))
    other = P.register_parametrization(lib.nn.Linear(2, 2), "weight", symmetric(lib))
    other.load_state_dict(layer.state_dict())
    assert other.weight.tolist() == layer.weight.tolist()


def test_transfer(lib, P, layer):
    P.register_parametrization(layer, "weight", symmetric(lib))
    other = P.transfer_parametrizations_and_params(layer, lib.nn.Linear(2, 2))
    assert other.weight.tolist() == [[0, 1], [1, 3]]
    if lib is gw:  # PyTorch's shares its memory
        layer.weight = lib.ones(2, 2)
        assert other.weight.tolist() == [[0, 1], [1, 3]]


REGISTER = [
    ("foo", lambda T: made(T, lambda x: x), "does not have a parameter, a buffer, or a parametrized element with name"),
    ("weight", lambda T: made(T, lambda x: x.sum()), "may not change the shape of the tensor, unless `unsafe` flag"),
    ("weight", lambda T: made(T, lambda x: x.double()), "may not change the dtype of the tensor, unless `unsafe` flag"),
    ("weight", lambda T: made(T, lambda x: 3), "A parametrization must return a tensor. Got int."),
    ("weight", lambda T: made(T, lambda x: x, lambda x: 3), "'right_inverse' must return a Tensor or a Sequence of"),
    ("weight", lambda T: made(T, lambda x: x, lambda x: [x, 3]), "Got element 1 of the sequence with type int."),
    ("weight", lambda T: made(T, lambda x: x.float(), lambda x: x.double()), "it may not change the dtype."),
]


@pytest.mark.parametrize(("name", "parametrization", "message"), REGISTER)
def test_what_cannot_be_registered(lib, P, layer, name, parametrization, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the message is looked at below
        P.register_parametrization(layer, name, parametrization(lib))
    assert message in str(error.value)


@pytest.mark.parametrize(("forward", "inverse", "message"), [
    (lambda x: x[0], None, "may not change the shape of the tensor, unless"),
    (lambda x: x, lambda x: x[0], "must have the same shape as"),
    (lambda x: x, lambda x: 3, "must return a tensor"),
])  # fmt: skip
def test_what_cannot_be_registered_as_second(lib, P, layer, forward, inverse, message):
    P.register_parametrization(layer, "weight", made(lib, lambda x: x))
    with pytest.raises(ValueError, match=message):
        P.register_parametrization(layer, "weight", made(lib, forward, inverse))
    assert len(layer.parametrizations.weight) == 1


def test_unsafe_means_unchecked(lib, P, layer):
    P.register_parametrization(layer, "weight", made(lib, lambda x: x.double()[:1]), unsafe=True)
    assert layer.weight.shape == (1, 2)


def test_what_cannot_be_assigned_or_removed(lib, P, layer):
    P.register_parametrization(layer, "weight", made(lib, lambda x: x))
    with pytest.raises(RuntimeError, match="parametrization Made does not implement right_inverse"):
        layer.weight = lib.ones(2, 2)
    with pytest.raises(ValueError, match="does not have a parametrization on bias"):
        P.remove_parametrizations(layer, "bias")
    P.register_parametrization(layer, "bias", made(lib, lambda x, y: x + y, lambda x: (x, x)), unsafe=True)
    with pytest.raises(ValueError, match="Cannot leave unparametrized"):
        P.remove_parametrizations(layer, "bias", leave_parametrized=False)


# ---- where gradwright does more than PyTorch ------------------------------------------------------------


@pytest.mark.parametrize("again", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])  # noqa: S301
def test_a_copy_is_on_its_own(again):
    layer = gw.nn.Linear(2, 2)
    gw.nn.utils.parametrize.register_parametrization(layer, "weight", gw.nn.ReLU())
    twin = again(layer)
    gw.nn.utils.parametrize.remove_parametrizations(twin, "weight")
    assert type(twin) is gw.nn.Linear
    assert layer.weight.tolist() == twin.weight.tolist()
    assert gw.nn.utils.parametrize.is_parametrized(layer, "weight")


def test_an_error_in_a_parametrization_is_told():
    layer = gw.nn.Linear(2, 2)
    broken = made(gw, lambda x: x.nowhere)
    gw.nn.utils.parametrize.register_parametrization(layer, "weight", broken, unsafe=True)
    with pytest.raises(AttributeError, match="nowhere"):
        layer.weight
