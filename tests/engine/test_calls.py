"""`backward` with all its arguments, and the errors it shares with `grad` (test_public_grad.py)."""

import subprocess
import sys
from contextlib import nullcontext
from types import MappingProxyType

import numpy as np
import pytest

import gradwright
from tests.functions import functions

# ---- backward --------------------------------------------------------------------------------------------


def test_backward_of_a_scalar_needs_no_cotangent(leaf):
    x = leaf([1.0, 2.0])
    (x * x).sum().backward()
    assert x.grad.tolist() == [2, 4]


def test_one_element_counts_as_a_scalar(leaf):
    x = leaf([[3.0]])
    (x * x).backward()
    assert x.grad.tolist() == [[6]]


def test_backward_of_a_0_d_tensor(leaf):
    x = leaf(3.0)
    (x**3).backward()
    assert x.grad.item() == 27
    assert x.grad.shape == ()


def test_backward_with_a_cotangent(T, leaf):
    x = leaf([1.0, 2.0])
    (x * x).backward(T.tensor([10.0, 100.0], dtype=T.float64))
    assert x.grad.tolist() == [20, 400]


def test_gradients_accumulate(leaf):
    x = leaf([1.0, 2.0])
    (x * x).sum().backward()
    (x * 3).sum().backward()
    assert x.grad.tolist() == [5, 7]


def test_accumulation_writes_into_grad_in_place(leaf):
    x = leaf([1.0, 2.0])
    (x * 3).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    assert x.grad is first
    assert first.tolist() == [6, 6]
    assert first._version == 1


def test_recorded_accumulation_makes_a_new_grad(leaf):
    x = leaf([1.0, 2.0])
    (x * x).sum().backward()
    first = x.grad
    (x * x).sum().backward(create_graph=True)
    assert x.grad is not first
    assert first.tolist() == [2, 4]
    assert x.grad.tolist() == [4, 8]


def test_diamond(leaf):
    x = leaf(2.0)
    y = x * x
    a, b = y * 3, y.exp()
    (a + b + y).backward()
    assert x.grad.item() == pytest.approx(4 * (3 + 2.718281828459045**4 + 1), rel=1e-14)


def test_a_tensor_on_both_sides(leaf):
    x = leaf([1.0, 2.0])
    y = x + x
    (y * y).sum().backward()
    assert x.grad.tolist() == [8, 16]


def test_a_diamond_of_doublings_is_linear_work(leaf):
    x = leaf(1.0)
    y = x
    for _ in range(100):
        y = y + y
    y.backward()
    assert x.grad.item() == 2.0**100


def test_a_leaf_as_root(T, leaf):
    x = leaf([1.0, 2.0])
    x.backward(T.tensor([5.0, 6.0], dtype=T.float64))
    assert x.grad.tolist() == [5, 6]


def test_several_roots(T, leaf):
    x = leaf([1.0, 2.0])
    T.autograd.backward([x.sum(), x * x], [None, T.ones(2, dtype=T.float64)])
    assert x.grad.tolist() == [3, 5]


def test_the_same_root_twice(T, leaf):
    x = leaf(3.0)
    y = x * x
    T.autograd.backward([y, y])
    assert x.grad.item() == 12


def test_a_root_below_another(T, leaf):
    x = leaf(3.0)
    y = x * x
    z = y * y
    T.autograd.backward([z, y])
    assert x.grad.item() == 4 * 27 + 6


def test_inputs_restricts_what_is_accumulated(leaf):
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    z = x * 2
    (z * y).sum().backward(inputs=[x, z])
    assert x.grad.tolist() == [6, 8]
    assert z.grad.tolist() == [3, 4]
    assert y.grad is None


def test_inputs_may_be_one_tensor_and_accumulates(leaf):
    x = leaf(3.0)
    (x * x).backward(inputs=x)
    (x * x).backward(inputs=x)
    assert x.grad.item() == 12


def test_inputs_skips_what_does_not_lead_to_them(T, leaf):
    class Never(functions(T)):
        def forward(ctx, x):
            return x.clone()

        def backward(ctx, g):
            raise AssertionError("not asked for")

    x, y = leaf(3.0), leaf(4.0)
    (Never.apply(x) * y).backward(inputs=[y])
    assert y.grad.item() == 3


def test_inputs_must_not_be_empty(leaf):
    with pytest.raises(RuntimeError, match=r"`inputs` argument to `backward\(\)` cannot be empty"):
        (leaf(1.0) * 1).backward(inputs=[])


def test_inputs_that_require_no_grad(T, leaf):
    with pytest.raises(RuntimeError, match=r"does not require grad|has requires_grad=False"):
        (leaf(1.0) * 2).backward(inputs=[T.tensor(1.0)])


# ---- the graph's life --------------------------------------------------------------------------------------

FREED = "Trying to backward through the graph a second time"


def test_a_second_backward_is_an_error(leaf):
    x = leaf([1.0, 2.0])
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match=FREED + r" \(or directly access saved tensors after they have already been"):
        y.backward()
    assert x.grad.tolist() == [2, 4]


def test_retain_graph_allows_it(leaf):
    x = leaf([1.0, 2.0])
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4, 8]


def test_nothing_saved_nothing_freed(leaf):
    x = leaf([1.0, 2.0])
    y = (x + 1).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [2, 2]


def test_create_graph_keeps_the_graph(T, leaf):
    x = leaf(2.0)
    y = x**3
    T.autograd.grad(y, x, create_graph=True)
    assert T.autograd.grad(y, x)[0].item() == 12


def test_create_graph_without_retain_graph(T, leaf):
    x = leaf(2.0)
    y = x**3
    T.autograd.grad(y, x, create_graph=True, retain_graph=False)
    with pytest.raises(RuntimeError, match=FREED):
        T.autograd.grad(y, x)


def test_what_other_paths_share_is_freed_too(leaf):
    x = leaf([1.0, 2.0])
    y = x * x
    y.sum().backward()
    with pytest.raises(RuntimeError, match=FREED):
        (y * 2).sum().backward()


def test_saved_values_are_gone_after_backward(leaf):
    y = leaf([1.0, 2.0]).exp()
    assert y.grad_fn._saved_result.tolist() == y.tolist()
    y.sum().backward()
    with pytest.raises(RuntimeError, match=FREED):
        _ = y.grad_fn._saved_result


# ---- errors ----------------------------------------------------------------------------------------------


def test_no_graph_at_all(T):
    message = "element 0 of tensors does not require grad and does not have a grad_fn"
    with pytest.raises(RuntimeError, match=message):
        T.ones(1).backward()
    with pytest.raises(RuntimeError, match=message):
        T.autograd.grad(T.ones(()), T.ones((), requires_grad=True))


def test_the_second_output_has_no_graph(T, leaf):
    with pytest.raises(RuntimeError, match="element 1 of tensors does not require grad"):
        T.autograd.backward([leaf(1.0), T.tensor(1.0)])


def test_what_cannot_begin_a_pass_says_what_to_do():
    x = gradwright.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"why_none\(t\) says what cut it off"):
        x.sum().detach().backward()
    with pytest.raises(RuntimeError, match=r"not for one of size \[2\]: take its sum or mean, or give gradient="):
        (x * 2).backward()


def test_a_cotangent_is_needed(leaf):
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        (leaf([1.0, 2.0]) * 2).backward()


def test_a_cotangent_of_another_shape(T, leaf):
    message = (
        r"Mismatch in shape: grad_output\[0\] has a shape of torch.Size\(\[3\]\) and output\[0\] has a shape of "
        r"torch.Size\(\[2\]\)."
    )
    with pytest.raises(RuntimeError, match=message):
        (leaf([1.0, 2.0]) * 2).backward(T.ones(3, dtype=T.float64))


def test_too_few_cotangents(T, leaf):
    x = leaf([1.0, 2.0])
    with pytest.raises(RuntimeError, match="got 2 tensors and 1 gradients"):
        T.autograd.grad([x * 2, x * 3], x, [T.ones(2)])


def test_a_cotangent_that_is_no_tensor(T, leaf):
    x = leaf([1.0, 2.0])
    with pytest.raises(TypeError, match=r"gradients can be either Tensors or None, but got (int|<class 'int'>)"):
        T.autograd.grad(x * 2, x, [1])


def test_a_number_for_all_cotangents():
    x = gradwright.ones(2, requires_grad=True)
    for call in (lambda: gradwright.autograd.grad(x * 2, x, 1.0), lambda: gradwright.autograd.backward(x * 2, 1.0)):
        with pytest.raises(TypeError, match="can be either Tensors or None, but got float: give one for each output"):
            call()


def test_an_input_that_requires_no_grad(T, leaf):
    with pytest.raises(RuntimeError, match="One of the differentiated Tensors does not require grad"):
        T.autograd.grad(leaf(1.0) * 2, T.tensor(1.0))


@pytest.mark.parametrize("call", [
    lambda x: gradwright.autograd.backward(1.0),
    lambda x: gradwright.autograd.grad(x, None),
    lambda x: gradwright.autograd.grad("x", x),
    lambda x: gradwright.autograd.grad(x, [x, 1.0]),
    lambda x: gradwright.autograd.backward([None]),
])  # fmt: skip
def test_what_is_no_tensor_is_named(call):
    with pytest.raises(TypeError, match=r"(grad|backward): (inputs|outputs|tensors)(\[\d\])? must be a Tensor.*, got "):
        call(gradwright.ones((), requires_grad=True))


def test_inputs_in_a_dictionary(T, leaf):
    x, y, z = leaf([1.0, 2.0]), leaf(3.0), leaf(1.0)
    found = T.autograd.grad((x * y).sum(), {"x": x, "y": y}, retain_graph=True)
    assert {name: g.tolist() for name, g in found.items()} == {"x": [3, 3], "y": 3}
    found = T.autograd.grad((x * y).sum(), {"z": z, "y": y}, allow_unused=True)
    assert list(found.items()) == [("z", None), ("y", found["y"])]
    with pytest.raises(RuntimeError, match="`inputs` argument to `grad\\(\\)` cannot be empty"):
        T.autograd.grad(x.sum(), {})
    with pytest.raises(TypeError, match="inputs"):
        T.autograd.grad(x.sum(), MappingProxyType({"x": x}))


# ---- batches of cotangents -------------------------------------------------------------------------------


def test_a_batch_of_cotangents_gives_a_batch_of_gradients(T, leaf):
    x, y, z = leaf([1.0, 2.0, 3.0]), leaf([[2.0], [5.0]]), leaf(1.0)
    out, total = x * y, (x * x).sum()
    vs = T.tensor(np.arange(12.0).reshape(2, 2, 3)), T.tensor([1.0, -1.0], dtype=T.float64)
    found = T.autograd.grad((out, total), (x, y, z), vs, is_grads_batched=True, retain_graph=True, allow_unused=True)
    for b in range(2):
        alone = T.autograd.grad((out, total), (x, y), (vs[0][b], vs[1][b]), retain_graph=True)
        assert [g[b].tolist() for g in found[:2]] == [g.tolist() for g in alone]
    assert found[2] is None
    assert not found[0].requires_grad


def test_a_batch_of_cotangents_is_differentiated_again(T, leaf):
    x, v = leaf([1.0, 2.0, 3.0]), leaf([[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]])
    y = x**3
    for mode in (T.enable_grad, T.no_grad):
        with mode():
            (found,) = T.autograd.grad(y, x, v, is_grads_batched=True, create_graph=True)
        dx, dv = T.autograd.grad((found * found).sum(), (x, v), retain_graph=True)
        X, V = x.detach().numpy(), v.detach().numpy()
        np.testing.assert_allclose(dx.numpy(), (2 * 3 * X**2 * V * 6 * X * V).sum(0))
        np.testing.assert_allclose(dv.numpy(), 2 * (3 * X**2) ** 2 * V)


def test_a_batch_frees_the_graph_unless_it_is_retained(T, leaf):
    x = leaf([1.0, 2.0])
    y = x * x
    ones = T.ones(3, 2, dtype=T.float64)
    T.autograd.grad(y, x, ones, is_grads_batched=True, retain_graph=True)
    T.autograd.grad(y, x, ones, is_grads_batched=True)
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        T.autograd.grad(y, x, ones, is_grads_batched=True)


def test_a_batch_for_an_edge(T, leaf):
    x = leaf([1.0, 2.0])
    edge = T.autograd.graph.get_gradient_edge(x * x)
    (found,) = T.autograd.grad(edge, x, T.ones(3, 2, dtype=T.float64), is_grads_batched=True)
    assert found.tolist() == [[2, 4]] * 3


@pytest.mark.parametrize(("cotangents", "error"), [
    (lambda T: T.ones(2), RuntimeError),
    (lambda T: T.ones(2, 4), RuntimeError),
    (lambda T: T.ones(()), IndexError),
    (lambda T: T.ones(0, 3), IndexError),
    (lambda T: (T.ones(2, 3), T.ones(3)), ValueError),
    (lambda T: (T.ones(2, 3), None), ValueError),
    (lambda T: (None, T.ones(3)), RuntimeError),
    (lambda T: (T.ones(2, 3), 1.0), TypeError),
    (lambda T: T.ones(2, 3), RuntimeError),
])  # fmt: skip
def test_a_wrong_batch_is_refused(T, leaf, cotangents, error):
    x = leaf([1.0, 2.0, 3.0])
    given = cotangents(T)
    outputs = (x * x, x.sum()) if isinstance(given, tuple) else x * x
    unused = leaf(1.0) if not isinstance(given, tuple) and tuple(given.shape) == (2, 3) else x
    with pytest.raises(error):
        T.autograd.grad(outputs, (x, unused), given, is_grads_batched=True)


def test_a_batch_over_another_library():
    x = gradwright.ones(3, device="array-api-strict:1", requires_grad=True)
    (found,) = gradwright.autograd.grad(x * x, x, gradwright.eye(3, device=x.device), is_grads_batched=True)
    assert found.device == x.device
    assert found.tolist() == (2 * np.eye(3)).tolist()


def test_an_unused_input_gets_as_many_zeros_as_the_batch_has():
    """PyTorch gives zeros of the input's own shape."""
    x, z = gradwright.ones(3, requires_grad=True), gradwright.ones(2, requires_grad=True)
    found = gradwright.autograd.grad(
        x * x, (x, z), gradwright.ones(4, 3), is_grads_batched=True, materialize_grads=True
    )
    assert [tuple(g.shape) for g in found] == [(4, 3), (4, 2)]
    assert not found[1].any()


def test_only_inputs_is_deprecated():
    x = gradwright.ones((), requires_grad=True)
    with pytest.raises(ValueError, match="only_inputs=False is deprecated"):
        gradwright.autograd.grad(x * 2, x, only_inputs=False)


# ---- cotangents ------------------------------------------------------------------------------------------


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


def test_batches_of_cotangents_in_a_program_that_uses_nothing_else():
    program = ("import gradwright as gw; x = gw.ones(2, requires_grad=True); "
               "print(gw.autograd.grad(x * 3, x, gw.eye(2), is_grads_batched=True)[0].tolist())")  # fmt: skip
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "[[3.0, 0.0], [0.0, 3.0]]\n"


def test_a_complex_cotangent_for_a_real_result_is_refused(T, leaf):
    x = leaf([1.0])
    for y, g in ((x * 2, T.tensor([1j])), (T.complex(x, x), T.tensor([1.0]))):
        with pytest.raises(RuntimeError, match="For complex Tensors, both grad_output and output are required to have"):
            y.backward(g)


class Asks(gradwright.autograd.Function):
    """A Function whose forward differentiates."""

    @staticmethod
    def forward(ctx, x):
        return gradwright.autograd.grad((x * x).sum(), x)[0]

    @staticmethod
    def backward(ctx, g):
        return 2 * g


UNRECORDED = {
    "no_grad": (gradwright.no_grad, r"no_grad\(\) .* within enable_grad\(\)"),
    "set_grad_enabled": (lambda: gradwright.set_grad_enabled(False), r"no_grad\(\) .* within enable_grad\(\)"),
    "inference_mode": (gradwright.inference_mode, r"inference_mode\(\): compute .* outside it"),
}


@pytest.mark.parametrize("ask", [lambda y, x: y.backward(), lambda y, x: gradwright.autograd.grad(y, x)])
@pytest.mark.parametrize("name", UNRECORDED)
def test_what_is_asked_where_nothing_is_recorded_names_the_mode(name, ask):
    mode, message = UNRECORDED[name]
    x = gradwright.ones(2, requires_grad=True)
    with mode(), pytest.raises(RuntimeError, match=f"does not require grad.* nothing is recorded .*{message}"):
        ask((x * x).sum(), x)


def test_so_does_what_is_asked_in_a_forward():
    with pytest.raises(RuntimeError, match=r"the forward of a Function, .* within enable_grad\(\)"):
        Asks.apply(gradwright.ones(2, requires_grad=True))


def test_a_constant_is_no_matter_of_the_mode():
    with pytest.raises(RuntimeError, match=r"does not have a grad_fn: gradwright.autograd.why_none"):
        gradwright.ones(()).backward()


def test_backward_from_a_leaf_and_an_edge(T, recwarn):
    x, leaf = T.tensor(2.0, requires_grad=True), T.tensor(1.0, requires_grad=True)
    T.autograd.backward([leaf, T.autograd.graph.get_gradient_edge(x * 3)])
    assert (x.grad, leaf.grad) == (3, 1)
    assert not recwarn.list
