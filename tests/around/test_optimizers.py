"""What optimisers take from PyTorch's private part: compared with that."""

import importlib

import pytest

import gradwright as gw
from gradwright.around import optimizers as ours


@pytest.fixture(scope="module")
def theirs():
    pytest.importorskip("torch")
    return importlib.import_module("torch.optim.optimizer")


def test_numbers_are_pytorchs(theirs):
    torch = importlib.import_module("torch")
    for name in ("_get_value", "_stack_if_compiling", "_to_scalar"):
        for value in (4.0, 2):
            assert getattr(ours, name)(value) == getattr(theirs, name)(value)
        assert float(getattr(ours, name)(gw.tensor(4.0))) == float(getattr(theirs, name)(torch.tensor(4.0)))
    assert str(ours._get_scalar_dtype()) == str(theirs._get_scalar_dtype())
    mine, other = gw.ones(1), torch.ones(1)
    assert ours._default_to_fused_or_foreach([mine], False) == theirs._default_to_fused_or_foreach([other], False)


def test_complex_parameters_as_real_ones():
    params, states = [gw.ones(2), gw.tensor([1 + 2j])], [gw.zeros(2), gw.tensor([3j])]
    ours._view_as_real(params, states)
    assert [x.tolist() for x in params] == [[1.0, 1.0], [[1.0, 2.0]]]
    assert [x.tolist() for x in states] == [[0.0, 0.0], [[0.0, 3.0]]]


def test_steps_are_recorded_if_the_optimiser_says_so():
    class Plain(gw.optim.Optimizer):
        @ours._use_grad_for_differentiable
        def step(self):
            return gw.is_grad_enabled()

    for differentiable in (False, True):
        assert Plain([gw.ones(1)], {"differentiable": differentiable}).step() is differentiable
    assert ours._disable_dynamo_if_unsupported(single_tensor_fn=None)(len) is len
