"""Lazy modules: the protocol."""

import copy

import pytest

import gradwright as gw


@pytest.fixture
def lazy(T):
    """A class of lazy modules; its instances multiply by ``w``, of the size of the last dim."""
    mixin = T.nn.LazyModuleMixin if T is gw else T.nn.modules.lazy.LazyModuleMixin

    class Scale(T.nn.Module):
        def forward(self, x):
            return x * self.w

    class LazyScale(mixin, Scale):
        cls_to_become = Scale

        def __init__(self):
            super().__init__()
            self.w = T.nn.parameter.UninitializedParameter()
            self.register_buffer("b", T.nn.parameter.UninitializedBuffer())

        def initialize_parameters(self, x):
            if self.has_uninitialized_params():
                with T.no_grad():
                    self.w.materialize(x.shape[-1:])
                    self.w.fill_(2.0)
                    if self.b is not None:
                        self.b.materialize((1,))

    return LazyScale


def test_the_first_call_makes_it_what_it_becomes(T, lazy):
    net = T.nn.Sequential(lazy())
    assert net[0].has_uninitialized_params()
    assert repr(net) == "Sequential(\n  (0): LazyScale()\n)"
    assert net(T.ones(1, 3)).tolist() == [[2, 2, 2]]
    assert type(net[0]) is lazy.cls_to_become
    assert type(net[0].w) is T.nn.Parameter
    assert net[0].w.requires_grad
    assert len(net[0]._forward_pre_hooks) == 0
    with pytest.raises(RuntimeError, match=r"size of tensor|shape"):
        net(T.ones(1, 4))


def test_a_state_dict_gives_the_shapes(T, lazy):
    one, two = lazy(), lazy()
    one(T.ones(3))
    two.load_state_dict(one.state_dict())
    assert two.w.tolist() == [2, 2, 2]
    assert not two.has_uninitialized_params()
    assert type(two) is lazy
    two(T.ones(3))
    assert type(two) is lazy.cls_to_become


def test_a_copy_is_initialised_on_its_own(T, lazy):
    one = lazy()
    one.b = None  # PyTorch cannot copy an uninitialized buffer
    two = copy.deepcopy(one)
    two(T.ones(3))
    assert one.has_uninitialized_params()
    one(T.ones(2))
    assert (one.w.shape, two.w.shape) == ((2,), (3,))
    assert len(two._forward_pre_hooks) == len(one._forward_pre_hooks) == 0


def test_the_dtype_can_be_chosen_before(T, lazy):
    m = lazy().double()
    assert m(T.ones(1, dtype=T.float64)).dtype is T.float64
    assert m.b.dtype is T.float64


def test_an_uninitialized_parameter_cannot_be_loaded_into_one_that_is_not(T, lazy):
    one, state = lazy(), lazy().state_dict()
    one(T.ones(3))
    with pytest.raises(RuntimeError):
        one.load_state_dict(state)
    assert one.w.tolist() == [2, 2, 2]


def test_uninitialized_ones_are_saved_as_they_are(T, lazy):
    assert repr(lazy().state_dict()["w"]) == "<UninitializedParameter>"
    assert repr(lazy().load_state_dict(lazy().state_dict())) == "<All keys matched successfully>"


@pytest.mark.parametrize(("initialize", "error", "message"), [
    (None, NotImplementedError, "initialize_parameters is not implemented for Half"),
    (lambda self, x: None, RuntimeError, "module Half has not been fully initialized"),
])  # fmt: skip
def test_initialize_parameters_has_to_do_it(T, lazy, initialize, error, message):
    class Half(lazy.__bases__[0], T.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = T.nn.parameter.UninitializedParameter()

        if initialize:
            initialize_parameters = initialize

    with pytest.raises(error, match=message):
        Half()(T.ones(1))
