"""Leaves that need no gradient for a while."""

import pytest


def test_a_frozen_leaf_gets_no_gradient_until_it_is_thawed(T, leaf):
    x = leaf([1.0, 2.0])
    y = (x * 3).sum()
    x.requires_grad_(False)
    assert x.is_leaf
    assert not x.requires_grad
    assert not (x * 2).requires_grad
    y.backward(retain_graph=True)
    assert x.grad is None
    x.requires_grad_()
    y.backward()
    assert x.grad.tolist() == [3, 3]


@pytest.mark.parametrize(
    "freeze", [lambda x: x.requires_grad_(False), lambda x: x.detach_(), lambda x: setattr(x, "requires_grad", False)]
)
def test_a_thawed_leaf_has_its_hooks_and_its_node(T, leaf, freeze):
    x = leaf([1.0, 2.0])
    seen = []
    x.register_hook(lambda g: g * 10)
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t is x))
    node = (x * 1).grad_fn.next_functions[0][0]
    freeze(x)
    assert x.is_leaf
    x.requires_grad_()
    assert (x * 1).grad_fn.next_functions[0][0] is node
    x.sum().backward()
    assert x.grad.tolist() == [10, 10]
    assert seen == [True]


def test_a_leaf_that_was_given_other_data_while_frozen(T, leaf):
    x = leaf([1.0, 2.0]).requires_grad_(False)
    x.data = T.ones(3, dtype=T.float64)
    x.requires_grad_()
    (x * x).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]
