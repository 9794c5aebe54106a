"""PyTorch's old name of a tensor, and what programs ask of its engine and of nodes by themselves."""

import pytest


def test_variable_is_a_tensor_over_the_same_memory(T):
    data = T.tensor([1.0, 2.0])
    v = T.autograd.Variable(data, requires_grad=True)
    assert type(v) is T.Tensor
    assert v.requires_grad
    assert not data.requires_grad
    data[0] = 5
    assert v.tolist() == [5, 2]


class Calls:
    """A Function that asks for a callback in its backward, and runs another pass inside."""

    def __init__(self, T, said, inner):
        class Called(T.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1

            @staticmethod
            def backward(ctx, g):
                T.autograd.Variable._execution_engine.queue_callback(lambda: said.append("after"))
                if inner is not None:
                    inner()
                said.append("backward")
                return g

        self.apply = Called.apply


def test_callbacks_run_after_the_pass_that_asks_for_them(T):
    said, x = [], T.ones(2, requires_grad=True)
    x.register_hook(lambda g: said.append("leaf"))
    (Calls(T, said, None).apply(x) * 2).sum().backward()
    assert said == ["backward", "leaf", "after"]
    said.clear()

    def inner():
        y = T.ones(1, requires_grad=True)
        with T.enable_grad():
            z = y * 2
        z.backward()
        said.append("inner")

    (Calls(T, said, inner).apply(x) * 2).sum().backward()
    assert said == ["inner", "backward", "leaf", "after"]


def test_a_pass_that_fails_takes_its_callbacks_with_it(T):
    said, x = [], T.ones(2, requires_grad=True)

    def fails(g):
        raise ValueError("no")

    x.register_hook(fails)
    with pytest.raises(ValueError, match="no"):
        Calls(T, said, None).apply(x).sum().backward()
    T.ones(1, requires_grad=True).sum().backward()
    assert said == ["backward"]


def test_there_is_no_callback_outside_of_a_pass(T):
    with pytest.raises(RuntimeError, match="Final callbacks can only be installed during backward pass"):
        T.autograd.Variable._execution_engine.queue_callback(print)


def test_nodes_have_numbers_that_can_be_others(T):
    x = T.ones(2, requires_grad=True)
    y = x * 2
    z = y + 1
    assert z.grad_fn._sequence_nr() > y.grad_fn._sequence_nr()
    y.grad_fn._set_sequence_nr(10**6)
    assert y.grad_fn._sequence_nr() == 10**6
    z.sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_run_backward_that_returns_gradients(T):
    x = T.tensor([2.0, 3.0], requires_grad=True)
    run = T.autograd.Variable._execution_engine.run_backward
    found = run(((x * x).sum(),), (T.tensor(1.0),), False, False, (x,), allow_unreachable=True, accumulate_grad=False)
    assert found[0].tolist() == [4.0, 6.0]
    assert x.grad is None
