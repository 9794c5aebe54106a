"""Parameters as a vector."""

import pytest

import gradwright as gw

ours = gw.nn.utils


def test_there_and_back(lib):
    m = lib.nn.Linear(2, 1)
    m.weight.data.fill_(1.0)
    m.bias.data.fill_(2.0)
    vector = lib.nn.utils.parameters_to_vector(m.parameters())
    assert vector.tolist() == [1, 1, 2]
    (vector * vector).sum().backward()
    assert m.weight.grad.tolist() == [[2, 2]]
    new = lib.tensor([5.0, 6.0, 7.0])
    before = m.weight
    lib.nn.utils.vector_to_parameters(new, m.parameters())
    assert (m.weight.tolist(), m.bias.tolist()) == ([[5, 6]], [7])
    assert m.weight is before
    assert m.weight.requires_grad
    new[0] = 9
    assert m.weight.tolist() == [[9, 6]]  # the same memory


def test_only_a_tensor_will_do(lib):
    with pytest.raises(TypeError, match=r"^expected torch.Tensor, but got: "):
        lib.nn.utils.vector_to_parameters([1.0], [lib.ones(1)])


@pytest.mark.parametrize("size", [(2,), (4,), (3, 1)])
def test_the_sizes_must_agree(size):
    m = gw.nn.Linear(2, 1)
    before = m.weight.tolist()
    with pytest.raises(RuntimeError, match="expected a vector of 3 elements, as the parameters have, got shape"):
        ours.vector_to_parameters(gw.ones(size), m.parameters())
    assert m.weight.tolist() == before
