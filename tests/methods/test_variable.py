"""PyTorch's old name of a tensor."""


def test_variable_is_a_tensor_over_the_same_memory(T):
    data = T.tensor([1.0, 2.0])
    v = T.autograd.Variable(data, requires_grad=True)
    assert type(v) is T.Tensor
    assert v.requires_grad
    assert not data.requires_grad
    data[0] = 5
    assert v.tolist() == [5, 2]
