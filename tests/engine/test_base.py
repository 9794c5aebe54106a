"""What the engine knows of a tensor."""

import pickle  # noqa: TID251 - what is loaded here was made here
from contextlib import nullcontext

import numpy as np
import pytest

import gradwright
from gradwright.base.upward import slots
from gradwright.engine.base import TensorBase, wrap


def test_results_are_of_the_class_that_was_made_known():
    assert slots.tensor is gradwright.Tensor
    t = wrap(np.ones(2))
    assert type(t) is gradwright.Tensor
    assert isinstance(t, TensorBase)


def test_a_wrapped_array_is_shared_and_has_no_history():
    array = np.ones(2)
    t = wrap(array)
    assert t.array is array
    assert t.is_leaf
    assert not t.requires_grad
    assert t.grad is None
    assert t._version == 0


def test_wrapping_with_the_counter_of_another():
    x = gradwright.ones(2)
    alias = wrap(x.array, None, x._counter)
    x.add_(1)
    assert alias._version == x._version == 1


def test_the_base_has_no_operators():
    assert not hasattr(TensorBase, "__add__")
    assert not hasattr(TensorBase, "sum")


def test_tensors_take_attributes_and_weak_references():
    x = gradwright.ones(2)
    x.note = "mine"
    assert x.note == "mine"
    assert x.__weakref__ is None


def through_pickle(x):
    return pickle.loads(pickle.dumps(x))  # noqa: S301


def written(x):
    x.add_(1)
    return x


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("form", [lambda x: x, lambda x: x * 3, lambda x: (x * 1)[1:], lambda x: written(x * 1)])
def test_pickling_keeps_values_and_whether_they_need_a_gradient(T, form, grad):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=grad)
    t = form(x)
    loses = T is gradwright and not t.is_leaf
    with pytest.warns(gradwright.errors.GradientWarning, match="history") if loses else nullcontext():
        again = through_pickle(t)
    assert again.tolist() == t.tolist()
    assert (again.requires_grad, again.is_leaf) == (grad, True)
    assert again.grad is None
    if grad:
        (again * 2).sum().backward()
        assert again.grad.tolist() == [2] * len(t)
        assert x.grad is None


def test_what_was_lent_can_be_pickled():
    x = gradwright.ones(2)
    array = x.numpy()
    assert through_pickle(x).tolist() == array.tolist() == [1, 1]


def test_a_module_and_its_state_can_be_pickled(T):
    linear = T.nn.Linear(2, 1)
    again = through_pickle(linear)
    assert type(again.weight) is T.nn.Parameter
    assert again.weight.tolist() == linear.weight.tolist()
    assert again(T.ones(2)).requires_grad
    state = through_pickle(linear.state_dict())
    assert state["weight"].tolist() == linear.weight.tolist()
