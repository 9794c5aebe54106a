"""Saved-tensor hooks that fail, and values that change, on gradwright and on PyTorch where both do the same."""

import numpy as np
import pytest

import gradwright


def copied(t):
    return t.detach().clone()


def same(t):
    return t


def test_a_pack_hook_that_raises(T, leaf):
    x = leaf(2.0)

    def fail(t):
        raise KeyError("full")

    with T.autograd.graph.saved_tensors_hooks(fail, same), pytest.raises(KeyError, match="full"):
        x * x
    y = x * x
    y.backward()
    assert x.grad.item() == 4


def test_a_pack_hook_that_raises_for_an_operation_in_place(T, leaf):
    """Of an operation that saves what it overwrites, nothing has happened."""
    x = leaf([2.0, 3.0])
    y = x * 1

    def fail(t):
        raise KeyError("full")

    with T.autograd.graph.saved_tensors_hooks(fail, same), pytest.raises(KeyError, match="full"):
        y.mul_(x)
    assert (y.tolist(), y._version, type(y.grad_fn).__name__) == ([2.0, 3.0], 0, "MulBackward0")
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_an_unpack_hook_that_raises(T, leaf):
    x = leaf([2.0, 3.0])
    fails = [True]

    def unpack(t):
        if fails[0]:
            raise KeyError("lost")
        return t

    with T.autograd.graph.saved_tensors_hooks(copied, unpack):
        y = x.exp()
    z = (y * 2).sum()
    with pytest.raises(KeyError, match="lost"):
        z.backward(retain_graph=True)
    assert x.grad is None
    fails[0] = False
    z.backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.exp([2, 3]))


def test_an_unpack_hook_that_returns_no_tensor(T, leaf):
    x = leaf(2.0)
    with T.autograd.graph.saved_tensors_hooks(copied, lambda t: 3):
        y = x.exp()
    message = "Output of saved tensor unpack_hook expected to be a Tensor but got result of type int"
    with pytest.raises(TypeError, match=message):
        y.backward()
    with pytest.raises(TypeError, match=message):
        y.grad_fn._saved_result
    assert x.grad is None


@pytest.mark.parametrize("change", [lambda t: t.float(), lambda t: t[:1], lambda t: t.double().reshape(1, 2)])
def test_an_unpack_hook_that_returns_another_shape_or_dtype(change):
    """PyTorch computes on with it."""
    x = gradwright.tensor([1.0, 2.0], dtype=gradwright.float64, requires_grad=True)
    with gradwright.autograd.graph.saved_tensors_hooks(copied, change):
        y = x.exp()
    with pytest.raises(RuntimeError, match=r"unpack_hook returned a tensor of shape .* was packed had shape \[2\]"):
        y.sum().backward()


def test_a_pack_hook_that_changes_its_argument(T, leaf):
    x, c = leaf([2.0, 3.0]), T.tensor([1.0, 2.0], dtype=T.float64)
    with (
        T.autograd.graph.saved_tensors_hooks(lambda t: t.add_(1), same),
        pytest.raises(RuntimeError, match="A saved tensor pack hook is modifying its input in place"),
    ):
        x * c


def test_hooks_that_cannot_be_called(T):
    with pytest.raises(TypeError), T.autograd.graph.saved_tensors_hooks(3, same):
        raise AssertionError


def test_a_value_kept_in_its_own_memory_is_still_checked():
    """PyTorch computes with what is there now."""
    x = gradwright.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    with gradwright.autograd.graph.saved_tensors_hooks(same, same):
        z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation(.|\n)*y.add_\(1\)"):
        z.sum().backward()


def test_a_value_kept_in_other_memory_may_be_changed(T, leaf):
    x = leaf([1.0, 2.0])
    y = x * 2
    with T.autograd.graph.saved_tensors_hooks(copied, same):
        z = y * y
    y.add_(1)
    z.sum().backward()
    assert x.grad.tolist() == [8.0, 16.0]


def test_what_a_recorded_pass_saves_of_unpacked_values_is_checked(T, leaf):
    kept = []
    x = leaf([1.0, 2.0])
    with T.autograd.graph.saved_tensors_hooks(lambda t: kept.append(copied(t)) or kept[-1], same):
        y = (x**3).sum()
    (g,) = T.autograd.grad(y, x, create_graph=True)
    kept[0].add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        g.sum().backward()


def test_a_hook_that_uses_one_buffer_again(T, leaf):
    buffer, x = T.empty(2, dtype=T.float64), leaf([1.0, 2.0])
    for k in range(1, 3):
        with T.autograd.graph.saved_tensors_hooks(lambda t: buffer.copy_(t), lambda t: t):
            y = (x * k).exp()
        x.grad = None
        y.sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), k * np.exp([k, 2 * k]))
