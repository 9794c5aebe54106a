"""Parameter: a leaf over another tensor's memory."""

import copy

import pytest

import gradwright as gw


def test_repr(lib):
    p = lib.nn.Parameter(lib.tensor([1.0, 2.0]))
    assert repr(p) == "Parameter containing:\ntensor([1., 2.], requires_grad=True)"
    frozen = lib.nn.Parameter(lib.tensor([1.0]), requires_grad=False)
    assert repr(frozen) == "Parameter containing:\ntensor([1.])"
    assert repr(lib.nn.Parameter()) == "Parameter containing:\ntensor([], requires_grad=True)"


def test_is_a_leaf_that_requires_grad_even_of_a_result_and_under_no_grad(lib):
    result = lib.ones(2, requires_grad=True) * 2
    with lib.no_grad():
        p = lib.nn.Parameter(result)
    assert p.is_leaf
    assert p.requires_grad
    assert p.grad_fn is None
    assert p.grad is None


def test_shares_memory_and_version_with_its_data(lib):
    data = lib.zeros(2)
    p = lib.nn.Parameter(data)
    data.add_(1)
    assert p.tolist() == [1, 1]
    assert p._version == data._version == 1
    with lib.no_grad():
        p.mul_(3)
    assert data.tolist() == [3, 3]


def test_a_write_to_the_data_is_noticed_by_the_graph(lib):
    data = lib.ones(2)
    p = lib.nn.Parameter(data)
    out = (p * p).sum()
    data.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


def test_operations_give_plain_tensors_and_in_place_ones_the_parameter(lib):
    p = lib.nn.Parameter(lib.ones(2, 2))
    for result in (p * 2, 2 * p, p.t(), p[0], p.data, p.detach(), p.double(), p.clone()):
        assert type(result) is lib.Tensor
    with lib.no_grad():
        before = p
        p -= 0.5
    assert p is before
    assert type(p) is lib.nn.Parameter
    assert isinstance(p, lib.Tensor)


def test_gradients_accumulate_into_it(lib):
    p = lib.nn.Parameter(lib.tensor([1.0, 2.0]))
    (p * 3).sum().backward()
    (p * p).sum().backward()
    assert p.grad.tolist() == [5, 7]
    assert type(p.grad) is lib.Tensor


def test_the_graph_knows_a_dropped_parameter_as_one(lib):
    node = (lib.nn.Parameter(lib.ones(2)) * 2).grad_fn.next_functions[0][0]
    assert type(node.variable) is lib.nn.Parameter


def test_requires_grad_can_be_switched(lib):
    p = lib.nn.Parameter(lib.ones(1))
    assert p.requires_grad_(False) is p
    assert not (p * 2).requires_grad
    assert p.requires_grad_().requires_grad


def test_a_deep_copy_has_its_own_memory_and_gradient(lib):
    p = lib.nn.Parameter(lib.ones(2))
    (p * 2).sum().backward()
    q = copy.deepcopy(p)
    assert type(q) is lib.nn.Parameter
    assert q.grad is None
    (q * 5).sum().backward()
    assert (p.grad.tolist(), q.grad.tolist()) == ([2, 2], [5, 5])
    with lib.no_grad():
        q.zero_()
    assert p.tolist() == [1, 1]


def test_a_shallow_copy_shares_memory_but_not_the_gradient(lib):
    p = lib.nn.Parameter(lib.ones(2), requires_grad=True)
    q = copy.copy(p)
    (q * 5).sum().backward()
    assert p.grad is None
    assert q.grad.tolist() == [5, 5]
    with lib.no_grad():
        q.zero_()
    assert p.tolist() == [0, 0]


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy])
def test_copies_stay_frozen(lib, again):
    assert not again(lib.nn.Parameter(lib.ones(2), requires_grad=False)).requires_grad


def test_integers_cannot_require_grad(lib):
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype can require gradients"):
        lib.nn.Parameter(lib.tensor([1]))
    assert lib.nn.Parameter(lib.tensor([1]), requires_grad=False).dtype is lib.int64


def test_data_must_be_a_tensor():
    with pytest.raises(TypeError, match=r"Parameter\(\): argument 'data' must be Tensor or None, not list"):
        gw.nn.Parameter([1.0])
