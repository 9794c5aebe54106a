"""What the engine knows of a tensor."""

import numpy as np

import gradwright
from gradwright.autograd.base import TensorBase, made, version_of, wrap


def test_results_are_of_the_class_that_was_made_known():
    assert made.cls is gradwright.Tensor
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
    assert version_of(t) == 0


def test_wrapping_with_the_counter_of_another():
    x = gradwright.ones(2)
    alias = wrap(x.array, None, x._counter)
    x.add_(1)
    assert version_of(alias) == version_of(x) == 1


def test_the_base_has_no_operators():
    assert not hasattr(TensorBase, "__add__")
    assert not hasattr(TensorBase, "sum")


def test_tensors_take_attributes_and_weak_references():
    x = gradwright.ones(2)
    x.note = "mine"
    assert x.note == "mine"
    assert x.__weakref__ is None
