"""PyTorch's old name of a tensor."""

import numpy as np
import pytest


def test_variable_is_a_tensor_over_the_same_memory(T):
    data = T.tensor([1.0, 2.0])
    v = T.autograd.Variable(data, requires_grad=True)
    assert type(v) is T.Tensor
    assert v.requires_grad
    assert not data.requires_grad
    data[0] = 5
    assert v.tolist() == [5, 2]


def test_a_cotangent_of_another_dtype_is_converted():
    x = gradwright.ones(2, requires_grad=True)
    (x * 2).backward(gradwright.ones(2, dtype=gradwright.float64))
    assert x.grad.dtype == gradwright.float32


@pytest.mark.parametrize(
    "function",
    [
        lambda z, x: (z * z / (z + 2)).sum(),
        lambda z, x: (x * z.exp() + x).sum(),
        lambda z, x: (z * z.conj() * (2 - 1j)).sum(),
        lambda z, x: z.abs().sum() * (1 + 1j) + x.to(z.dtype).sum() * 1j,
        lambda z, x: (z.real * z.imag + z.angle()).sum() * (3 + 0j),
    ],
)
def test_complex_gradients_follow_pytorchs_convention(torch, function):
    def gradients(t):
        z = t.tensor([1 + 2j, -0.5 + 0.3j], dtype=t.complex128, requires_grad=True)
        x = t.tensor([1.5, -2.0], dtype=t.float64, requires_grad=True)
        first = t.autograd.grad(function(z, x), [z, x], t.tensor(0.7 - 0.2j, dtype=t.complex128), create_graph=True,
                                allow_unused=True, materialize_grads=True)  # fmt: skip
        total = (first[0] * (1 + 2j)).real.sum() + first[1].sum()
        second = t.autograd.grad(total, [z, x], allow_unused=True, materialize_grads=True)
        return [g.detach().numpy() for g in (*first, *second)]

    for ours, theirs in zip(gradients(gradwright), gradients(torch), strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def test_a_complex_result_needs_a_gradient():
    z = gradwright.tensor(1 + 2j, requires_grad=True)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for real scalar outputs"):
        (z * z).backward()


def test_materialized_zeros_are_zeros_even_at_infinity():
    unused = gradwright.tensor([1.0, float("inf")], requires_grad=True)
    used = gradwright.ones(2, requires_grad=True)
    (g,) = gradwright.autograd.grad((used * 1).sum(), unused, materialize_grads=True)
    assert g.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("create_graph", [False, True])
def test_backward_of_a_leaf(T, create_graph):
    """requires_grad_() on a loss that was cut off: PyTorch says nothing, and nothing is trained."""
    model = T.nn.Linear(2, 1)
    loss = model(T.ones(1, 2)).detach().sum().requires_grad_()
    expected = pytest.warns(gradwright.errors.GradientWarning, match=r"backward\(\) of a leaf")
    with expected if T is gradwright else nullcontext():
        loss.backward(create_graph=create_graph)
    assert loss.grad.item() == 1
    assert model.weight.grad is None


def test_passes_from_leaves_that_are_meant(T, leaf):
    """With a cotangent of their own, beside results, or as gradients asked for by name."""
    x, y = leaf(1.0), leaf(2.0)
    x.backward(T.ones(()))
    T.autograd.backward([x, x * y])
    assert T.autograd.grad(y, y)[0].item() == 1
    assert x.grad.item() == 1 + 1 + 2
